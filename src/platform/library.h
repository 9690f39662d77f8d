/* library.h - dynamic libraries opened at run time, such as a GPU's driver. */
#ifndef MX_PLATFORM_LIBRARY_H
#define MX_PLATFORM_LIBRARY_H

#include "base/error.h"

typedef struct mx_library {
    void *handle; /* owned */
} mx_library;

/* Opens by name ("libcuda.so.1", "nvcuda.dll") in the system's places only, or by full path. MX_NOT_FOUND with the
 * system's reason. */
mx_status mx_library_open(const char *name, mx_library *out, mx_error *err) MX_NODISCARD;

/* A zeroed object is fine. */
void mx_library_close(mx_library *library);

typedef void (*mx_library_function)(void);

/* A function, to be cast to its type; NULL where the library has none of this name. */
mx_library_function mx_library_symbol(const mx_library *library, const char *name);

#endif
