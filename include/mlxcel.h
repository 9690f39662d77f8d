/* mlxcel.h - run MLX-format language models from C or C++.
 *
 *     mlxcel_model *model = NULL;
 *     mlxcel_engine *engine = NULL;
 *     mlxcel_tokens prompt = {0};
 *     mlxcel_error err;
 *     const mlxcel_message message = {"user", "Why is the sky blue?", 20};
 *     if (mlxcel_model_open("SmolLM2-135M-Instruct-4bit", NULL, &model, &err) == MLXCEL_OK &&
 *         mlxcel_engine_open(model, NULL, &engine, &err) == MLXCEL_OK &&
 *         mlxcel_tokenize_chat(model, &message, 1, &prompt, &err) == MLXCEL_OK) {
 *         mlxcel_request request = {0};
 *         request.n_struct_bytes = sizeof request;
 *         request.prompt = prompt.ids;
 *         request.n_prompt = prompt.n_ids;
 *         request.on_text = print_text;
 *         mlxcel_generate(engine, &request, NULL, &err);
 *     }
 *     mlxcel_tokens_free(&prompt);
 *     mlxcel_engine_close(engine);
 *     mlxcel_model_close(model);
 *
 * A model is what a directory holds: configuration, mapped weights, tokenizer and chat template; it costs little. An
 * engine is what running it takes: threads, the key-value cache and buffers, all taken when it is opened.
 *
 * Text is UTF-8 with its length in bytes; file names are UTF-8 and end with a zero byte, on Windows too. Output objects
 * are initialised by the call, whatever its result, and freed by the caller. A status says what to do, the optional
 * mlxcel_error says why in one sentence. A model may be used by any number of threads at once, an engine by one.
 *
 * Stability: functions keep their meaning, fields keep their places and enumerators their numbers. Structs that may
 * grow begin with n_struct_bytes, set by the caller to sizeof; in them, zero always means the default, so fields that a
 * caller does not know have their defaults. MLXCEL_ABI_VERSION changes only when that promise must be broken.
 */
#ifndef MLXCEL_H
#define MLXCEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MLXCEL_ABI_VERSION 1

/* The version of the library ("0.1.0"), and the ABI version that it was built with. */
const char *mlxcel_version(void);
int32_t mlxcel_abi_version(void);

/* ---- errors ---- */

typedef enum mlxcel_status {
    MLXCEL_OK = 0,
    MLXCEL_INVALID = 1,     /* what the caller asked for is not valid */
    MLXCEL_NOT_FOUND = 2,   /* no such file, tensor or template */
    MLXCEL_NO_MEMORY = 3,   /* not enough memory; nothing was changed */
    MLXCEL_FORMAT = 4,      /* a file is not what it claims to be */
    MLXCEL_BUSY = 5,        /* all places are taken */
    MLXCEL_CANCELLED = 6,   /* the work was cancelled */
    MLXCEL_IO = 7,          /* reading or writing failed */
    MLXCEL_UNSUPPORTED = 8, /* a model, format or feature that this version does not have */
    MLXCEL_DEVICE = 9       /* the compute device failed */
} mlxcel_status;

typedef struct mlxcel_error {
    mlxcel_status status;
    int32_t reserved;
    int64_t native;    /* errno, GetLastError() or a driver's code; 0 where there is none */
    char message[480]; /* one sentence, always terminated */
} mlxcel_error;

/* "OK", "NOT_FOUND", ... Static. */
const char *mlxcel_status_name(mlxcel_status status);

/* ---- models ---- */

typedef struct mlxcel_model mlxcel_model;

typedef struct mlxcel_model_options {
    size_t n_struct_bytes;
    int32_t text_only; /* not 0: only tokenizer and chat template; config.json and weights may be missing */
} mlxcel_model_options;

/* Opens the model directory `dir` (config.json, *.safetensors, tokenizer.json and what lies beside them). Weights are
 * mapped, not read. options NULL: all defaults.
 * NOT_FOUND, FORMAT, UNSUPPORTED (an unknown family, with the nearest known), IO, NO_MEMORY. */
mlxcel_status mlxcel_model_open(const char *dir, const mlxcel_model_options *options, mlxcel_model **out,
                                mlxcel_error *err);

/* The engines on it must be closed. NULL is fine. */
void mlxcel_model_close(mlxcel_model *model);

typedef struct mlxcel_model_info {
    size_t n_struct_bytes;
    const char *family; /* config.json's model_type; borrowed from the model */
    int32_t n_layers;
    int32_t n_ctx; /* tokens that the model was made for, prompt and answer together */
    int32_t n_vocab;
    int32_t has_chat_template; /* 0 or 1 */
    int64_t n_weight_bytes;
    int64_t n_kv_bytes; /* key-value cache of one token, in an engine's default format */
} mlxcel_model_info;

/* Fills *info, as much of it as info->n_struct_bytes covers. Of a model opened for its text alone only n_vocab and
 * has_chat_template are known; the rest is 0. */
void mlxcel_model_get_info(const mlxcel_model *model, mlxcel_model_info *info);

/* ---- text ---- */

typedef struct mlxcel_tokens {
    int32_t *ids;
    int32_t n_ids;
} mlxcel_tokens;

typedef struct mlxcel_text {
    char *bytes; /* followed by a zero byte */
    size_t n_bytes;
} mlxcel_text;

/* Frees and empties. An empty object is fine. */
void mlxcel_tokens_free(mlxcel_tokens *tokens);
void mlxcel_text_free(mlxcel_text *text);

/* Flags of mlxcel_tokenize and mlxcel_detokenize. */
#define MLXCEL_TEXT_ADD_SPECIAL   1u /* add the tokens that the tokenizer puts around a text, such as a bos token */
#define MLXCEL_TEXT_PARSE_SPECIAL 2u /* special tokens spelled in the text count as such; else they are plain text */
#define MLXCEL_TEXT_SKIP_SPECIAL  4u /* detokenize: leave special tokens out */

/* Tokens of a text; bytes that are no UTF-8 count as U+FFFD. text may be NULL when n_bytes is 0. INVALID (a text too
 * long), FORMAT (a character that the tokenizer has no token for), NO_MEMORY. */
mlxcel_status mlxcel_tokenize(const mlxcel_model *model, const char *text, size_t n_bytes, uint32_t flags,
                              mlxcel_tokens *out, mlxcel_error *err);

/* Text of tokens; bytes that are no UTF-8 become U+FFFD. INVALID (an id that the vocabulary does not have),
 * NO_MEMORY. */
mlxcel_status mlxcel_detokenize(const mlxcel_model *model, const int32_t *ids, int32_t n_ids, uint32_t flags,
                                mlxcel_text *out, mlxcel_error *err);

typedef struct mlxcel_message {
    const char *role; /* "system", "user", "assistant", ...; zero-terminated */
    const char *content;
    size_t n_content_bytes;
} mlxcel_message;

/* The prompt of a conversation by the model's chat template, ending where the assistant's answer begins; as text for
 * reading, and as tokens for mlxcel_generate. Special tokens are the template's alone: whatever the messages spell is
 * plain text. NOT_FOUND (the model has no template), INVALID (the template refuses the conversation, in its own
 * words; a content that is not UTF-8), NO_MEMORY. */
mlxcel_status mlxcel_apply_template(const mlxcel_model *model, const mlxcel_message *messages, int32_t n_messages,
                                    mlxcel_text *out, mlxcel_error *err);
mlxcel_status mlxcel_tokenize_chat(const mlxcel_model *model, const mlxcel_message *messages, int32_t n_messages,
                                   mlxcel_tokens *out, mlxcel_error *err);

/* ---- generation ---- */

typedef struct mlxcel_engine mlxcel_engine;

typedef struct mlxcel_engine_options {
    size_t n_struct_bytes;
    int32_t n_ctx;      /* tokens of the longest text, prompt and answer together; 0: 4096, or what the model was made
                           for where that is less */
    int32_t n_threads;  /* 0: as many as the machine, its affinity mask and its quota give */
    const char *device; /* "cpu"; "cuda", the first NVIDIA GPU that can be used; "cuda:N", that one; "auto" or NULL: a
                           GPU where one can be used, else the CPU */
} mlxcel_engine_options;

/* Takes the memory and starts the threads for one text at a time. options NULL: all defaults. The model must stay open.
 * INVALID (more context than the model takes, no such device), NO_MEMORY (with what is needed and what is there),
 * UNSUPPORTED, DEVICE (a GPU was asked for by name and cannot be used: what is missing, and what to do). */
mlxcel_status mlxcel_engine_open(const mlxcel_model *model, const mlxcel_engine_options *options, mlxcel_engine **out,
                                 mlxcel_error *err);

/* NULL is fine. */
void mlxcel_engine_close(mlxcel_engine *engine);

/* The device that the engine runs on, "cpu" or "cuda". *why, unless why is NULL, becomes the sentence that says why
 * "auto" took the CPU although there is an NVIDIA driver; "" otherwise. Both borrowed from the engine. */
const char *mlxcel_engine_get_device(const mlxcel_engine *engine, const char **why);

/* How the next token is drawn: the penalty changes logits; top_k, top_p and min_p each drop what is improbable; the
 * temperature flattens or sharpens the rest. */
typedef struct mlxcel_sampling {
    float temperature;     /* 0: always the most probable token */
    int32_t top_k;         /* keep the k most probable; 0: all */
    float top_p;           /* keep the fewest whose probabilities reach top_p; 1: all */
    float min_p;           /* keep those with at least min_p times the probability of the best; 0: all */
    float repeat_penalty;  /* 1: none; above 1 makes recent tokens less probable */
    int32_t repeat_last_n; /* tokens that count as recent; 0: none, -1: all */
    uint64_t seed;         /* the same request with the same seed gives the same text */
} mlxcel_sampling;

/* What the model's generation_config.json recommends; where it says nothing: temperature 0.8, top_k 40, top_p 0.95,
 * min_p 0.05, no penalty, the last 64 tokens; seed 0. A place to start from. */
void mlxcel_model_get_sampling(const mlxcel_model *model, mlxcel_sampling *out);

typedef enum mlxcel_finish {
    MLXCEL_FINISH_NONE = 0,     /* an error came first */
    MLXCEL_FINISH_END = 1,      /* the model ended its text */
    MLXCEL_FINISH_STOP = 2,     /* a stop string */
    MLXCEL_FINISH_LENGTH = 3,   /* max_new_tokens */
    MLXCEL_FINISH_CONTEXT = 4,  /* the engine's context is full */
    MLXCEL_FINISH_CANCELLED = 5 /* a callback said so */
} mlxcel_finish;

typedef struct mlxcel_request {
    size_t n_struct_bytes;
    const int32_t *prompt; /* at least one token */
    int32_t n_prompt;
    int32_t max_new_tokens;          /* 0: until the model ends its text or the context is full */
    const mlxcel_sampling *sampling; /* NULL: mlxcel_model_get_sampling */
    const char *const *stops;        /* [n_stops] zero-terminated; the text ends before the first that it completes */
    int32_t n_stops;                 /* at most 64 */
    int32_t reserved;
    /* Gives the text piece by piece, each of whole characters; the pieces joined are the text. Not 0: stop. May be
     * NULL. */
    int (*on_text)(void *arg, const char *text, size_t n_bytes);
    /* Asked before each step (of at most 128 tokens of prompt, or one of answer). Not 0: stop. May be NULL. */
    int (*should_stop)(void *arg);
    void *arg;
} mlxcel_request;

typedef struct mlxcel_result {
    size_t n_struct_bytes;
    mlxcel_finish finish;
    int32_t n_prompt_tokens; /* computed so far */
    int32_t n_new_tokens;    /* drawn, an end-of-text token included */
    int32_t reserved;
    double prompt_s;   /* seconds from the call to the first new token */
    double generate_s; /* seconds for the other n_new_tokens - 1 */
} mlxcel_result;

/* Continues a prompt, in the calling thread, until it is finished. *result (may be NULL; set its n_struct_bytes) is
 * filled after failures too. Whatever the finish, a text that came to a stop has the status OK.
 * INVALID (a setting out of range, a prompt that does not fit, with both numbers), NO_MEMORY, DEVICE. */
mlxcel_status mlxcel_generate(mlxcel_engine *engine, const mlxcel_request *request, mlxcel_result *result,
                              mlxcel_error *err);

#ifdef __cplusplus
}
#endif

#endif
