/* checkpoint.c - mapping a folder's files and finding tensors by name. */
#include "weights/checkpoint.h"

#include "base/mem.h"
#include "base/strmap.h"
#include "platform/map.h"
#include "platform/path.h"
#include "weights/checkpoint_files.h"
#include "weights/foreign.h"

#define MAX_TABLE   ((size_t)4 << 30) /* names and tables of all headers */
#define MAX_TENSORS ((size_t)INT32_MAX)

struct mx_checkpoint {
    mx_arena arena; /* owned; all that follows but the maps and the table of names lives in it */
    const char *dir;
    mx_map *maps; /* [n_files] owned */
    mx_tensors *files;
    size_t n_files;
    mx_tensor *tensors; /* [n_tensors] */
    size_t n_tensors;
    mx_strmap by_name; /* owned; name -> place in tensors */
    mx_block made;     /* owned; tensors that are not as the files have them */
};

static mx_status open_file(mx_checkpoint *c, mx_str name, mx_error *err)
{
    const char *path = mx_path_join(&c->arena, c->dir, name);
    if (!path) {
        return mx_fail_no_memory(err, name.len, "a path");
    }
    mx_map *map = &c->maps[c->n_files];
    MX_TRY(mx_map_open(path, map, err));
    c->n_files++; /* from here on closing the checkpoint unmaps it */
    return mx_safetensors_parse(&c->arena, map->data, map->n_bytes, path, &c->files[c->n_files - 1], err);
}

/* Fills the table of names from the table of tensors. */
static mx_status index_tensors(mx_checkpoint *c, mx_error *err)
{
    MX_TRY(mx_strmap_reserve(&c->by_name, c->n_tensors, err));
    for (size_t i = 0; i < c->n_tensors; i++) {
        const mx_tensor *t = &c->tensors[i];
        int32_t other;
        if (mx_strmap_get(&c->by_name, t->name, &other)) {
            return mx_fail(err, MX_FORMAT, "%s: tensor \"%.*s\" is in %s as well", t->path, MX_STR_ARG(t->name),
                           c->tensors[other].path);
        }
        MX_TRY(mx_strmap_put(&c->by_name, t->name, (int32_t)i, NULL, err));
    }
    return MX_OK;
}

/* One table of all files' tensors. */
static mx_status join_files(mx_checkpoint *c, mx_error *err)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n_files; i++) {
        n += c->files[i].n;
    }
    c->tensors = n <= MAX_TENSORS ? mx_arena_array(&c->arena, mx_tensor, n) : NULL;
    if (!c->tensors) {
        return mx_fail_no_memory(err, n, "the table of tensors");
    }
    for (size_t i = 0; i < c->n_files; i++) {
        for (size_t k = 0; k < c->files[i].n; k++) {
            c->tensors[c->n_tensors++] = c->files[i].items[k];
        }
    }
    return index_tensors(c, err);
}

mx_status mx_checkpoint_open(const char *dir, mx_checkpoint **out, mx_error *err)
{
    mx_status st = MX_OK;
    const mx_str *names = NULL;
    size_t n_names = 0;

    *out = NULL;
    mx_checkpoint *c = mx_calloc(1, sizeof *c);
    if (!c) {
        return mx_fail_no_memory(err, sizeof *c, "a checkpoint");
    }
    mx_arena_init(&c->arena, MAX_TABLE);
    c->dir = mx_arena_copy_str(&c->arena, mx_str_from(dir)).ptr;
    if (!c->dir) {
        st = mx_fail_no_memory(err, strlen(dir), "a path");
        goto done;
    }
    MX_TRY_OR(done, st, mx_checkpoint_list_files(&c->arena, dir, &names, &n_names, err));
    c->maps = mx_arena_array(&c->arena, mx_map, n_names);
    c->files = mx_arena_array(&c->arena, mx_tensors, n_names);
    if (!c->maps || !c->files) {
        st = mx_fail_no_memory(err, n_names * sizeof *c->maps, "a list of files");
        goto done;
    }
    for (size_t i = 0; i < n_names; i++) {
        MX_TRY_OR(done, st, open_file(c, names[i], err));
    }
    MX_TRY_OR(done, st, join_files(c, err));
    *out = c;
    c = NULL;
done:
    mx_checkpoint_close(c);
    return st;
}

mx_status mx_checkpoint_import(mx_checkpoint *checkpoint, const mx_quant_config *config, mx_error *err)
{
    mx_tensors translated = {0};
    mx_quant_config found = *config; /* its lists stay the caller's */
    if (found.foreign == MX_FOREIGN_NONE && mx_foreign_has_ternary(checkpoint)) {
        found.foreign = MX_FOREIGN_BITNET;
    }
    if (found.foreign == MX_FOREIGN_NONE) {
        return MX_OK;
    }
    MX_TRY(mx_foreign_translate(checkpoint, &found, &checkpoint->arena, &checkpoint->made, &translated, err));
    mx_strmap_deinit(&checkpoint->by_name);
    checkpoint->tensors = translated.items;
    checkpoint->n_tensors = translated.n;
    return index_tensors(checkpoint, err);
}

void mx_checkpoint_close(mx_checkpoint *checkpoint)
{
    if (!checkpoint) {
        return;
    }
    for (size_t i = 0; i < checkpoint->n_files; i++) {
        mx_map_close(&checkpoint->maps[i]);
    }
    mx_block_free(&checkpoint->made);
    mx_strmap_deinit(&checkpoint->by_name);
    mx_arena_deinit(&checkpoint->arena);
    mx_free(checkpoint);
}

const char *mx_checkpoint_dir(const mx_checkpoint *checkpoint)
{
    return checkpoint->dir;
}

const mx_tensor *mx_checkpoint_find(const mx_checkpoint *checkpoint, mx_str name)
{
    int32_t i;
    return mx_strmap_get(&checkpoint->by_name, name, &i) ? &checkpoint->tensors[i] : NULL;
}

size_t mx_checkpoint_n_tensors(const mx_checkpoint *checkpoint)
{
    return checkpoint->n_tensors;
}

const mx_tensor *mx_checkpoint_at(const mx_checkpoint *checkpoint, size_t i_tensor)
{
    return &checkpoint->tensors[i_tensor];
}
