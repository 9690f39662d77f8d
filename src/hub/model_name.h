/* model_name.h - what people write for a model, and file names that come from a network.
 *
 * hub/ keeps models at hand: model_name.h reads names, store.h knows where models lie (our own store and the Hugging
 * Face cache), repo_info.h reads what a hub says of a repository, http.h and fetch.h bring files over, download.h
 * brings a whole model. The command line is the caller, from one thread; download.h starts threads of its own.
 */
#ifndef MX_HUB_MODEL_NAME_H
#define MX_HUB_MODEL_NAME_H

#include "base/arena.h"
#include "base/error.h"

#define MX_DEFAULT_OWNER    "mlx-community"
#define MX_DEFAULT_REVISION "main"

typedef struct mx_model_name {
    const char *path;     /* where the name is a path; the rest is then NULL */
    const char *owner;    /* "mlx-community" */
    const char *name;     /* "Qwen3-0.6B-4bit" */
    const char *revision; /* "main", a tag, or the 40 digits of a commit */
    bool has_revision;    /* false: the revision is the default one */
} mx_model_name;

/* Reads `text`: what exists as a path, or is written as only a path can be, is one; else owner/name, a bare name, each
 * with @revision behind it or without. Strings of the result live in the arena.
 *
 * MX_INVALID  none of these (the sentence shows the three forms), or a GGUF file (it says what to do with one)
 * MX_NO_MEMORY
 */
mx_status mx_model_name_parse(mx_arena *arena, const char *text, mx_model_name *out, mx_error *err) MX_NODISCARD;

/* Whether a name that came from outside may be a file's or folder's name on every system: UTF-8 without control
 * characters and without any of \ / : * ? " < > |, at most 200 bytes, not "." or "..", not ending in a dot or space,
 * and no device of Windows (CON, NUL.txt, COM1, ...). */
bool mx_file_name_is_safe(mx_str name);

/* True for 40 hexadecimal digits. */
bool mx_is_commit(mx_str revision);

#endif
