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
 * engine is what running it takes: threads, the key-value cache and buffers, all taken when it is opened. A job is a
 * request that an engine works on: many at once, each as if it were alone.
 *
 * Text is UTF-8 with its length in bytes; file names are UTF-8 and end with a zero byte, on Windows too. Output objects
 * are initialised by the call, whatever its result, and freed by the caller. A status says what to do, the optional
 * mlxcel_error says why in one sentence. Models and engines may be used by any number of threads at once, a job by one.
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
    MLXCEL_DEVICE = 9,      /* the compute device failed */
    MLXCEL_TOO_LONG = 10    /* the prompt leaves no room for an answer in the context */
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
    int32_t text_only;       /* not 0: only tokenizer and chat template; config.json and weights may be missing */
    const char *adapter_dir; /* NULL, or a LoRA or DoRA adapter as mlx-lm writes it, applied beside the weights */
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
    int32_t n_seqs;     /* texts that are worked on at once; further ones wait. 0: 1 */
    int32_t max_queue;  /* texts that may wait; further ones are refused. 0: 256 */
    int32_t n_cache_tokens;  /* tokens of all texts in work, and of prefixes kept for later ones; at least n_ctx. 0:
                                n_ctx  for each of n_seqs, or what memory allows where that is less */
    int32_t n_step_tokens;   /* most tokens of one step: larger reads prompts faster, smaller lets others wait less.
                                0: 128 on a CPU and 512 on a GPU, or more where n_seqs needs it */
    int32_t n_draft;         /* tokens guessed from the text itself and checked in one step, at most 16: what repeats
                                itself comes faster, and nothing else changes. 0: none */
    int32_t no_prefix_reuse; /* not 0: compute every prompt from its first token */
} mlxcel_engine_options;

/* Takes the memory and starts the threads. options NULL: all defaults. The model must stay open.
 * INVALID (more context than the model takes, no such device), NO_MEMORY (with what is needed and what is there),
 * UNSUPPORTED, DEVICE (a GPU was asked for by name and cannot be used: what is missing, and what to do). */
mlxcel_status mlxcel_engine_open(const mlxcel_model *model, const mlxcel_engine_options *options, mlxcel_engine **out,
                                 mlxcel_error *err);

/* Ends what is in work; all jobs must be closed. NULL is fine. */
void mlxcel_engine_close(mlxcel_engine *engine);

/* The device that the engine runs on, "cpu" or "cuda". *why, unless why is NULL, becomes the sentence that says why
 * "auto" took the CPU although there is an NVIDIA driver; "" otherwise. Both borrowed from the engine. */
const char *mlxcel_engine_get_device(const mlxcel_engine *engine, const char **why);

/* How an engine stands. The counts are sums since it was opened and never fall. */
typedef struct mlxcel_engine_stats {
    size_t n_struct_bytes;
    int32_t n_ctx; /* as opened: tokens of the longest text */
    int32_t n_seqs;
    int32_t max_queue;
    int32_t n_running; /* texts in work */
    int32_t n_waiting;
    int32_t n_page_tokens;  /* tokens of one page of the cache */
    int32_t n_pages;        /* in all */
    int32_t n_free_pages;   /* held by nobody */
    int32_t n_prefix_pages; /* kept for later texts, given up as soon as they are needed, or shared by texts in work */
    int64_t stalled_ms; /* since the engine last finished a step although there is work; 0 when there is none. A large
                           value means that it hangs */
    int64_t n_steps;
    int64_t n_failed_steps; /* steps that the device failed */
    int64_t n_jobs_over;    /* texts that ended; failed and cancelled ones are among them */
    int64_t n_jobs_failed;
    int64_t n_jobs_cancelled;
    int64_t n_prompt_tokens; /* computed */
    int64_t n_reused_tokens; /* of prompts, found in the cache */
    int64_t n_new_tokens;    /* drawn */
    int64_t n_draft_tokens;  /* guessed */
    int64_t n_right_tokens;  /* guessed rightly */
    int64_t n_preemptions;   /* texts that had to give their pages to others, and were computed again later */
} mlxcel_engine_stats;

/* Fills *stats, as much of it as stats->n_struct_bytes covers. Never waits for a step. */
void mlxcel_engine_get_stats(mlxcel_engine *engine, mlxcel_engine_stats *stats);

typedef struct mlxcel_logit_bias {
    int32_t token_id;
    float bias; /* added to the token's logit: 100 all but forces it, -100 all but bans it, -INFINITY bans it */
} mlxcel_logit_bias;

/* The steps that choose the next token, in their usual order, which is llama.cpp's. Biases come before them. */
typedef enum mlxcel_sampler {
    MLXCEL_SAMPLER_PENALTIES = 0, /* repetition, presence, frequency */
    MLXCEL_SAMPLER_DRY = 1,
    MLXCEL_SAMPLER_TOP_N_SIGMA = 2,
    MLXCEL_SAMPLER_TOP_K = 3,
    MLXCEL_SAMPLER_TYPICAL = 4,
    MLXCEL_SAMPLER_TOP_P = 5,
    MLXCEL_SAMPLER_MIN_P = 6,
    MLXCEL_SAMPLER_XTC = 7,
    MLXCEL_SAMPLER_TEMPERATURE = 8
} mlxcel_sampler;

/* By llama.cpp's names: "penalties", "dry", "top_n_sigma", "top_k", "typ_p", "top_p", "min_p", "xtc", "temperature".
 * INVALID for another name. */
mlxcel_status mlxcel_sampler_find(const char *name, mlxcel_sampler *out, mlxcel_error *err);

/* How the next token is drawn: penalties change logits, filters each drop some tokens, the temperature flattens or
 * sharpens the rest. */
typedef struct mlxcel_sampling {
    size_t n_struct_bytes;
    float temperature;          /* 0: always the most probable token */
    int32_t top_k;              /* keep the k most probable; 0: all */
    float top_p;                /* keep the fewest whose probabilities reach top_p; 1: all */
    float min_p;                /* keep those with at least min_p times the probability of the best; 0: all */
    float repeat_penalty;       /* 1: none; above 1 makes recent tokens less probable */
    int32_t repeat_last_n;      /* tokens that count as recent, the prompt's too; 0: none, -1: all */
    uint64_t seed;              /* the same request with the same seed gives the same text */
    float presence_penalty;     /* taken once from the logit of each token that the answer has; 0: none */
    float frequency_penalty;    /* taken as often as the answer has the token; 0: none */
    float typical_p;            /* keep the fewest of about the expected surprise that reach it; 0: all */
    float top_n_sigma;          /* keep logits within n standard deviations of the best; 0: all */
    float xtc_probability;      /* of dropping all but the last of the tokens above xtc_threshold; 0: never */
    float xtc_threshold;        /* at most 0.5 */
    float dynatemp_range;       /* moves the temperature this much up and down with the entropy; 0: not at all */
    float dynatemp_exponent;    /* 0: 1 */
    float dry_multiplier;       /* weight of the penalty for lengthening a repetition; 0: off */
    float dry_base;             /* its growth with each token; 0: 1.75 */
    int32_t dry_allowed_length; /* repetitions shorter than this are free; 0: 2 */
    int32_t dry_last_n;         /* tokens that are searched; 0: all */
    int32_t mirostat;           /* 0: off; 1 or 2: the version. It takes the place of the filters */
    float mirostat_tau;         /* 0: 5 */
    float mirostat_eta;         /* 0: 0.1 */
    int32_t n_biases;
    int32_t n_order;
    int32_t n_dry_breakers;
    const mlxcel_logit_bias *biases; /* [n_biases] */
    const mlxcel_sampler *order;     /* [n_order] the steps to take, in this order; none: all, in the usual order */
    const char *const *dry_breakers; /* [n_dry_breakers] tokens with one of these texts in them end a repetition; none:
                                        line break, colon, quotation mark and star */
} mlxcel_sampling;

/* What the model's generation_config.json recommends; where it says nothing: temperature 0.8, top_k 40, top_p 0.95,
 * min_p 0.05, no penalty, the last 64 tokens; seed 0. A place to start from. Set out->n_struct_bytes. */
void mlxcel_model_get_sampling(const mlxcel_model *model, mlxcel_sampling *out);

typedef enum mlxcel_finish {
    MLXCEL_FINISH_NONE = 0,     /* an error came first */
    MLXCEL_FINISH_END = 1,      /* the model ended its text */
    MLXCEL_FINISH_STOP = 2,     /* a stop string */
    MLXCEL_FINISH_LENGTH = 3,   /* max_new_tokens */
    MLXCEL_FINISH_CONTEXT = 4,  /* the engine's context is full */
    MLXCEL_FINISH_CANCELLED = 5 /* a callback or mlxcel_job_cancel said so */
} mlxcel_finish;

/* How a grammar is written. */
typedef enum mlxcel_grammar_kind {
    MLXCEL_GRAMMAR_NONE = 0,
    MLXCEL_GRAMMAR_GBNF = 1,       /* llama.cpp's notation; rule "root" is the whole text */
    MLXCEL_GRAMMAR_REGEX = 2,      /* an expression that the whole text matches */
    MLXCEL_GRAMMAR_JSON_SCHEMA = 3 /* a JSON schema, of which the text is a value; {"type": "object"}: any object */
} mlxcel_grammar_kind;

/* The arrays are copied by the call; only `arg` stays the caller's. */
typedef struct mlxcel_request {
    size_t n_struct_bytes;
    const int32_t *prompt; /* at least one token */
    int32_t n_prompt;
    int32_t max_new_tokens;          /* 0: until the model ends its text or the context is full */
    const mlxcel_sampling *sampling; /* NULL: mlxcel_model_get_sampling */
    const char *const *stops;        /* [n_stops] zero-terminated; the text ends before the first that it completes */
    int32_t n_stops;                 /* at most 64 */
    int32_t n_choices;               /* texts for the prompt, at most 128; the i-th has the seed plus i. 0: 1 */
    /* mlxcel_generate only. Gives the text piece by piece, each of whole characters; the pieces joined are the text.
     * Not 0: stop. May be NULL. */
    int (*on_text)(void *arg, const char *text, size_t n_bytes);
    /* mlxcel_generate only. Asked between steps (each of at most n_step_tokens of prompt, or one of answer). Not 0:
     * stop. May be NULL. */
    int (*should_stop)(void *arg);
    void *arg;
    /* mlxcel_submit only. Told from the engine's thread that mlxcel_job_next has something again, once until that is
     * called next; call that until it gives no more. It wakes the job's thread and returns at once; it calls nothing
     * of this library. Not called any more when mlxcel_job_close has returned. May be NULL. */
    void (*on_ready)(void *arg);
    uint64_t client;        /* who asks: clients get equal shares of the engine, however many requests they make */
    uint64_t prefix_key;    /* texts with different keys never share parts of the cache */
    int32_t priority;       /* higher goes first */
    int32_t ignore_end;     /* not 0: the tokens that end a text are never drawn */
    int32_t show_special;   /* not 0: special tokens are part of the text */
    int32_t wants_logprobs; /* not 0: tokens come with their log-probabilities, before penalties, temperature and
                               filters; and */
    int32_t n_top_logprobs; /* with those of the most probable tokens, at most 32 */
    mlxcel_grammar_kind grammar_kind;
    int32_t reserved;
    const char *grammar; /* [n_grammar_bytes] what the text must be; a schema or expression that asks for what
                            cannot be held is refused (UNSUPPORTED), never relaxed */
    size_t n_grammar_bytes;
    const char *grammar_after; /* zero-terminated: the grammar begins behind this text, "</think>" for one, and all
                                  before is free; NULL: at the beginning */
} mlxcel_request;

typedef struct mlxcel_result {
    size_t n_struct_bytes;
    mlxcel_finish finish;
    int32_t n_prompt_tokens; /* computed or reused so far */
    int32_t n_new_tokens;    /* drawn, an end-of-text token included */
    int32_t n_reused_tokens; /* of the prompt, found in the cache */
    double prompt_s;         /* seconds from the beginning of the work to the first new token */
    double generate_s;       /* seconds for the other n_new_tokens - 1 */
    double queue_s;          /* seconds that it waited before */
    int32_t i_stop;          /* the stop string that ended the text; -1: none */
    int32_t n_preemptions;
} mlxcel_result;

/* Continues a prompt and returns when it is finished; the callbacks are called in the calling thread. *result (may be
 * NULL; set its n_struct_bytes) is filled after failures too. Whatever the finish, a text that came to a stop has the
 * status OK.
 * TOO_LONG (a prompt that does not fit, with both numbers), INVALID (a setting out of range), BUSY (too many wait),
 * NO_MEMORY, DEVICE, CANCELLED (the engine is being closed). */
mlxcel_status mlxcel_generate(mlxcel_engine *engine, const mlxcel_request *request, mlxcel_result *result,
                              mlxcel_error *err);

/* ---- many requests at once ----
 *
 *     mlxcel_job *job = NULL;
 *     mlxcel_event event;
 *     event.n_struct_bytes = sizeof event;
 *     if (mlxcel_submit(engine, &request, &job, &err) == MLXCEL_OK) {
 *         while (mlxcel_job_next(job, -1, &event) > 0) {
 *             fwrite(event.text, 1, event.n_text_bytes, stdout);
 *         }
 *     }
 *     mlxcel_job_close(job);
 */

typedef struct mlxcel_job mlxcel_job;

/* Hands a request to the engine's thread and returns at once. What is wrong with it is told here; the statuses are
 * those of mlxcel_generate but for DEVICE. */
mlxcel_status mlxcel_submit(mlxcel_engine *engine, const mlxcel_request *request, mlxcel_job **out, mlxcel_error *err);

typedef struct mlxcel_logprob {
    int32_t token_id;
    float logprob; /* natural logarithm; at least -9999, which stands for minus infinity */
} mlxcel_logprob;

/* A token of an answer. */
typedef struct mlxcel_token {
    int32_t token_id;
    int32_t n_text_bytes; /* of the answer's text: those of all tokens follow one another. A token whose characters are
                             completed by a later one has none. */
    float logprob;        /* 0 unless wanted */
    int32_t n_top;
    const mlxcel_logprob *top; /* [n_top] the most probable, in order */
} mlxcel_token;

/* News of one choice, all of it since the last event of this choice. Everything is borrowed until the next call. */
typedef struct mlxcel_event {
    size_t n_struct_bytes;
    int32_t i_choice;
    int32_t is_over;  /* not 0: the last event of this choice */
    const char *text; /* whole characters, so that pieces joined are the text; may be empty */
    size_t n_text_bytes;
    const mlxcel_token *tokens; /* a token comes with the last byte of its text, or after it */
    int32_t n_tokens;
    mlxcel_status status;        /* with is_over: OK, or why there is no more */
    const char *message;         /* "", or the sentence for it */
    const mlxcel_result *result; /* as far as it has come; of its times, those of what is over */
} mlxcel_event;

/* Waits up to timeout_ms (0: not at all; negative: as long as it takes) for news and fills *event. Returns 1, 0 when
 * there is nothing yet, and -1 when all choices are over and told. Set event->n_struct_bytes. */
int32_t mlxcel_job_next(mlxcel_job *job, int64_t timeout_ms, mlxcel_event *event);

/* Ends the texts that are not over, within a step; their last events tell. Any thread may call it. */
void mlxcel_job_cancel(mlxcel_job *job);

/* Cancels what is not over, and frees. Waits for nothing. NULL is fine. */
void mlxcel_job_close(mlxcel_job *job);

#ifdef __cplusplus
}
#endif

#endif
