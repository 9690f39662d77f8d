/* hub_env.h - the hub as the user's environment names it: endpoint, token, off line. The variables are those of the
 * Python package huggingface_hub, so that one setting serves both. */
#ifndef MX_HUB_HUB_ENV_H
#define MX_HUB_HUB_ENV_H

#include "base/arena.h"
#include "base/error.h"

typedef struct mx_hub_env {
    const char *endpoint; /* HF_ENDPOINT, else https://huggingface.co; without a slash at its end */
    const char *token;    /* HF_TOKEN, else the file HF_TOKEN_PATH, HF_HOME/token or ~/.cache/huggingface/token; NULL */
    bool is_offline;      /* HF_HUB_OFFLINE says so */
    int32_t timeout_s;    /* HF_HUB_DOWNLOAD_TIMEOUT, else 30 */
} mx_hub_env;

/* Strings live in the arena. MX_INVALID for an endpoint that is no address or a token that is none, MX_NO_MEMORY. */
mx_status mx_hub_env_read(mx_arena *arena, mx_hub_env *out, mx_error *err) MX_NODISCARD;

#endif
