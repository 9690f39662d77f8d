/* library.c - dlopen. */
#include "platform/library.h"

#include <dlfcn.h>
#include <string.h>

mx_status mx_library_open(const char *name, mx_library *out, mx_error *err)
{
    *out = (mx_library){.handle = dlopen(name, RTLD_NOW | RTLD_LOCAL)};
    if (!out->handle) {
        const char *why = dlerror();
        return mx_fail(err, MX_NOT_FOUND, "cannot open the library %s: %s", name, why ? why : "unknown reason");
    }
    return MX_OK;
}

void mx_library_close(mx_library *library)
{
    if (library->handle) {
        dlclose(library->handle);
    }
    *library = (mx_library){0};
}

mx_library_function mx_library_symbol(const mx_library *library, const char *name)
{
    void *address = dlsym(library->handle, name);
    mx_library_function function; /* ISO C has no cast between the two kinds of pointers; POSIX says they are alike */
    memcpy(&function, &address, sizeof function);
    return function;
}
