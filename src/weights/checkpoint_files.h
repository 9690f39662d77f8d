/* checkpoint_files.h - which files of a folder make up the checkpoint. Private to weights/. */
#ifndef MX_WEIGHTS_CHECKPOINT_FILES_H
#define MX_WEIGHTS_CHECKPOINT_FILES_H

#include "base/arena.h"
#include "base/error.h"

/* The names of the files to open, in bytewise order, as mx_checkpoint_open describes. In the arena. */
mx_status mx_checkpoint_list_files(mx_arena *arena, const char *dir, const mx_str **names, size_t *n_names,
                                   mx_error *err) MX_NODISCARD;

#endif
