/* mlxcel_private.h - what the opaque handles of mlxcel.h hold, and the two kinds of error side by side.
 *
 * mlxcel_model.c, mlxcel_text.c, mlxcel_engine.c, mlxcel_job.c and mlxcel_generate.c put the public interface on the
 * layers below. Public names begin
 * with mlxcel_, so that a program's linker can tell the stable interface from the rest.
 */
#ifndef MX_ENGINE_MLXCEL_PRIVATE_H
#define MX_ENGINE_MLXCEL_PRIVATE_H

#include "base/arena.h"
#include "base/error.h"
#include "engine/engine_loop.h"
#include "mlxcel.h"
#include "model/model.h"
#include "text/chat.h"
#include "text/tokenizer/tokenizer.h"

#define MX_MAX_END_IDS (MX_MAX_EOS_IDS + 2) /* the tokenizer's eos token and the template's end of turn come on top */

struct mlxcel_model {
    mx_arena arena;          /* owned */
    const char *dir;         /* as given; in the arena */
    mx_tokenizer *tokenizer; /* owned */
    mx_chat *chat;           /* owned; NULL where the directory has no template */
    mx_model *model;         /* owned; NULL when opened for text only */
    int32_t end_ids[MX_MAX_END_IDS];
    int32_t n_end_ids;
    mx_sampling sampling; /* the defaults */
};

struct mlxcel_engine {
    const mlxcel_model *model; /* borrowed */
    mx_plan plan;              /* owned, like all below */
    mx_executor *executor;
    mx_engine engine;
    mx_scheduler scheduler;
    mx_engine_loop loop; /* its thread alone uses the four above, but for what never changes */
    int32_t n_draft;
    mx_mutex table_lock;    /* for the making of the next */
    mx_token_table *table;  /* NULL until a request has a grammar */
    uint32_t *dry_breakers; /* bit set of the vocabulary, for requests that name none */
    char why_no_gpu[480];
};

/* Copies *from to the caller's object, where there is one, and returns the public status. */
mlxcel_status mx_api_result(mx_status status, const mx_error *from, mlxcel_error *to);

/* Reads a caller's struct that begins with n_struct_bytes: *to becomes zero, then what the caller's version has. NULL
 * gives the zeros. */
void mx_api_read_struct(void *to, size_t n_to, const void *from);

/* Fills a caller's struct: as many bytes as its n_struct_bytes says it has, which stays. */
void mx_api_write_struct(void *to, const void *from, size_t n_from);

/* Bytes of the key-value cache of one token. */
int64_t mx_api_kv_bytes(const mx_program *program);

/* Adds the special tokens that end a text, from wherever a model directory names them. */
mx_status mx_api_find_end_ids(mlxcel_model *model, mx_str tokenizer_config_json, mx_error *err) MX_NODISCARD;

/* Renders messages by the chat template; see mlxcel_apply_template. */
mx_status mx_api_render(const mlxcel_model *model, const mx_chat_message *messages, size_t n_messages,
                        bool add_generation_prompt, mx_buf *out, mx_error *err) MX_NODISCARD;

/* Settings in their own form. Arrays go to the arena. Of a request that names no DRY breakers dry_breakers is NULL.
 * INVALID, NO_MEMORY. */
mx_status mx_api_read_sampling(const mlxcel_model *model, const mlxcel_sampling *from, mx_arena *arena, mx_sampling *to,
                               mx_error *err) MX_NODISCARD;

/* Sets bit i of set, [n_vocab / 32 rounded up], where token i has one of the texts in it. MX_NO_MEMORY. */
mx_status mx_api_find_breakers(const mx_tokenizer *tokenizer, const char *const *texts, int32_t n_texts,
                               int32_t n_vocab, uint32_t *set, mx_error *err) MX_NODISCARD;

/* The table of tokens for grammars, made when it is first asked for. Any thread. MX_UNSUPPORTED, MX_NO_MEMORY. */
mx_status mx_api_get_token_table(mlxcel_engine *engine, const mx_token_table **out, mx_error *err) MX_NODISCARD;

#endif
