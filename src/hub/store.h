/* store.h - where models lie on this machine.
 *
 *     <cache>/models/<owner>/<name>/<commit>/        a whole model; the folder has this name only once it is whole
 *     <cache>/models/<owner>/<name>/<commit>.part/   one that is being downloaded, or was interrupted
 *     <cache>/models/<owner>/<name>/refs/<revision>  the commit that "main" or a tag stood for when it was downloaded
 *     <cache>/locks/<owner>--<name>                  held by the process that downloads or removes
 *
 * and, read only, the snapshots of the Hugging Face cache. Folders are named by commit, so revisions never mix. Whether
 * a model is whole is judged from its files alone, without a network.
 */
#ifndef MX_HUB_STORE_H
#define MX_HUB_STORE_H

#include "base/arena.h"
#include "hub/model_name.h"

#define MX_MANIFEST_NAME ".mlxcel.json" /* beside the files: where they come from, their sizes and hashes */

typedef struct mx_store {
    mx_arena arena;     /* owned; the paths live in it */
    const char *models; /* folder; may not exist yet */
    const char *locks;  /* folder; may not exist yet */
    const char *hf_hub; /* the Hugging Face cache; NULL where the user has none */
} mx_store;

/* Finds the folders: MLXCEL_CACHE_DIR or the user's cache folder, and HF_HUB_CACHE, HF_HOME/hub, XDG_CACHE_HOME or
 * ~/.cache/huggingface/hub. MX_NOT_FOUND where the user has no home and no variable says where to. */
mx_status mx_store_open(mx_store *out, mx_error *err) MX_NODISCARD;

/* A zeroed object is fine. */
void mx_store_close(mx_store *store);

/* Whether a folder holds a whole model: config.json, a tokenizer, every weight file that the index or the names ask
 * for, with headers that fit their sizes, and no file of the manifest missing or of another size. MX_NOT_FOUND,
 * MX_FORMAT and others: the sentence names the file, and the tensor. */
mx_status mx_model_dir_check(const char *dir, mx_error *err) MX_NODISCARD;

/* The folder of a whole model with this name (not a path), in our store or else in the Hugging Face cache. *out lives
 * in the arena. MX_NOT_FOUND where there is none: not at all, or only an incomplete one, and then why. */
mx_status mx_store_find(mx_store *store, mx_arena *arena, const mx_model_name *name, const char **out,
                        mx_error *err) MX_NODISCARD;

/* Notes that the model in `dir` was used now, if it is one of our store. */
void mx_store_note_use(const char *dir);

typedef struct mx_store_entry {
    const char *owner;
    const char *name;
    const char *commit;
    const char *revision; /* name that stands for the commit, "main"; NULL where none does */
    const char *dir;
    int64_t n_bytes;
    int64_t used_s; /* last use, seconds since 1970; 0 where unknown */
    bool is_complete;
    bool is_partial;       /* a download that was interrupted: a .part folder */
    bool is_in_hf_cache;   /* else in our store */
    const char *complaint; /* what is missing or damaged; NULL where it is complete */
} mx_store_entry;

typedef struct mx_store_list {
    mx_store_entry *items;
    size_t n;
} mx_store_list;

/* Every model of both places, in the order of their names, our own first. In the arena. */
mx_status mx_store_list_models(mx_store *store, mx_arena *arena, mx_store_list *out, mx_error *err) MX_NODISCARD;

/* The name among the list that is nearest to `text` and near enough to be meant; NULL for none. In the arena. */
const char *mx_store_suggest(mx_arena *arena, const mx_store_list *list, const char *text);

/* Removes one entry of our store. MX_BUSY while it is being downloaded, MX_INVALID for what is not ours. */
mx_status mx_store_remove(mx_store *store, const mx_store_entry *entry, mx_error *err) MX_NODISCARD;

/* Paths of a model in our store; NULL when out of memory. */
const char *mx_store_repo_dir(mx_store *store, mx_arena *arena, const char *owner, const char *name);
const char *mx_store_lock_path(mx_store *store, mx_arena *arena, const char *owner, const char *name);

/* refs/<revision> in a repository's folder, with "/" of the revision as "%2F". NULL when out of memory. */
const char *mx_store_ref_path(mx_arena *arena, const char *repo_dir, const char *revision);

#endif
