/* http.h - one request over HTTP or HTTPS: what came back, and whether trying again makes sense.
 *
 * A thin layer over libcurl. Redirects are followed; a token is sent to the host that it is for and to no other. The
 * certificates that count are the system's. Proxies are those of http_proxy, https_proxy, all_proxy and no_proxy.
 */
#ifndef MX_HUB_HTTP_H
#define MX_HUB_HTTP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

typedef struct mx_http_settings {
    const char
        *token; /* for "Authorization: Bearer"; NULL for none. Sent over https, and to this machine without a proxy */
    int32_t timeout_s;              /* to connect, and for which a transfer may stand still */
    bool (*should_stop)(void *arg); /* asked several times a second; may be NULL */
    void *arg;
} mx_http_settings;

typedef struct mx_http_response {
    int32_t status;        /* 200, 404, ...; 0 where no answer came */
    bool is_transient;     /* a failure that may be gone the next time: network, 408, 429, 5xx */
    bool is_html;          /* a web page */
    int32_t retry_after_s; /* as the server asks; 0 where it says nothing */
    int64_t n_content;     /* bytes that the body has, by its header; -1 where unknown */
    int64_t range_start;   /* of a 206; -1 where there is none */
    int64_t range_total;   /* bytes of the whole file by a 206 or 416; -1 where unknown */
    char linked_etag[72];  /* the hub's hash of a large file: 64 digits, or "" */
    char error_code[32];   /* the hub's word for a failure: "GatedRepo", "RepoNotFound", ... or "" */
} mx_http_response;

/* Receives a body. begin comes once, when the final answer's headers are read and its status is 200 or 206. Either one
 * ends the request by failing, and its error is the request's. */
typedef struct mx_http_sink {
    mx_status (*begin)(void *arg, const mx_http_response *response, mx_error *err);
    mx_status (*write)(void *arg, mx_str bytes, mx_error *err);
    void *arg;
} mx_http_sink;

typedef struct mx_http mx_http; /* a client and its connections; one thread at a time */

/* To be called once before other threads use HTTP; again does nothing. MX_NO_MEMORY, MX_IO. */
mx_status mx_http_start(mx_error *err) MX_NODISCARD;

/* The settings are borrowed until the client is closed. MX_NO_MEMORY. */
mx_status mx_http_open(const mx_http_settings *settings, mx_http **out, mx_error *err) MX_NODISCARD;
void mx_http_close(mx_http *http);

/* Fetches url from byte `from` on (0: the whole). *response is filled after failures too.
 * MX_CANCELLED (should_stop), MX_IO (network, or an HTTP status of 400 and more), MX_NO_MEMORY, and what the sink
 * fails with. */
mx_status mx_http_get(mx_http *http, const char *url, int64_t from, const mx_http_sink *sink,
                      mx_http_response *response, mx_error *err) MX_NODISCARD;

#endif
