/* http.c - libcurl's easy interface, with headers read into mx_http_response. */
#include "hub/http.h"

#include <curl/curl.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/mem.h"
#include "platform/env.h"
#include "platform/file.h"
#include "platform/thread.h"

#define MAX_REDIRECTS 10L
#define RECEIVE_BYTES (512L << 10) /* a call of the sink; large, so that the hash runs over long stretches */
#define MAX_URL_BYTES ((size_t)1 << 16)

struct mx_http {
    const mx_http_settings *settings;
    CURL *curl;                 /* owned */
    struct curl_slist *headers; /* owned; NULL without a token */
    const char *unproxied;      /* in the arena: hosts that a token reaches without a proxy; NULL without a token */
    mx_arena arena;             /* owned */
    const char *ca_file;        /* in the arena; NULL: what libcurl takes by itself */
    char reason[CURL_ERROR_SIZE];
};

/* What the callbacks of one request share. */
typedef struct request {
    mx_http *http;
    const mx_http_sink *sink;
    mx_http_response *response;
    mx_status sink_status;
    mx_error sink_err;
    bool has_begun;
    bool was_stopped;
} request;

static mx_once start_once;
static CURLcode start_code;

static void start(void)
{
    start_code = curl_global_init(CURL_GLOBAL_DEFAULT);
}

mx_status mx_http_start(mx_error *err)
{
    mx_once_run(&start_once, start);
    return start_code == CURLE_OK
               ? MX_OK
               : mx_fail(err, MX_IO, "the network cannot be used: %s", curl_easy_strerror(start_code));
}

/* The file of trusted certificates: what the user says, else where Linux distributions and macOS keep theirs. Windows
 * has a store of its own that libcurl asks. */
static const char *find_ca_file(mx_arena *arena)
{
    static const char *const variables[] = {"SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE"};
    static const char *const places[] = {
        "/etc/ssl/certs/ca-certificates.crt",                /* Debian, Ubuntu, Arch, Gentoo */
        "/etc/pki/tls/certs/ca-bundle.crt",                  /* Fedora, RHEL */
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", /* RHEL */
        "/etc/ssl/ca-bundle.pem",                            /* openSUSE */
        "/etc/ssl/cert.pem",                                 /* Alpine, macOS */
        "/var/lib/ca-certificates/ca-bundle.pem",            /* openSUSE */
    };
    for (size_t i = 0; i < MX_COUNTOF(variables); i++) {
        const char *path = mx_env_get(arena, variables[i]);
        if (path && path[0]) {
            return path;
        }
    }
    for (size_t i = 0; i < MX_COUNTOF(places); i++) {
        if (mx_file_kind_at(places[i]) == MX_FILE_REGULAR) {
            return places[i];
        }
    }
    return NULL;
}

/* What no_proxy says, and this machine. NULL when out of memory. */
static const char *name_unproxied(mx_arena *arena)
{
    const char *lower = mx_env_get(arena, "no_proxy");
    const char *said = lower ? lower : mx_env_get(arena, "NO_PROXY");
    return said && strcmp(said, "*") == 0
               ? said
               : mx_arena_printf(arena, "localhost,127.0.0.1,::1%s%s", said ? "," : "", said ? said : "");
}

mx_status mx_http_open(const mx_http_settings *settings, mx_http **out, mx_error *err)
{
    *out = NULL;
    mx_http *http = (mx_http *)mx_calloc(1, sizeof *http);
    if (!http) {
        return mx_fail(err, MX_NO_MEMORY, "no memory for a connection");
    }
    http->settings = settings;
    mx_arena_init(&http->arena, MAX_URL_BYTES);
    http->ca_file = find_ca_file(&http->arena);
    http->curl = curl_easy_init();
    if (!http->curl) {
        mx_http_close(http);
        return mx_fail(err, MX_NO_MEMORY, "no memory for a connection");
    }
    if (settings->token) {
        const char *line = mx_arena_printf(&http->arena, "Authorization: Bearer %s", settings->token);
        http->headers = line ? curl_slist_append(NULL, line) : NULL;
        http->unproxied = name_unproxied(&http->arena);
        if (!http->headers || !http->unproxied) {
            mx_http_close(http);
            return mx_fail(err, MX_NO_MEMORY, "no memory for a connection");
        }
    }
    *out = http;
    return MX_OK;
}

void mx_http_close(mx_http *http)
{
    if (http) {
        curl_slist_free_all(http->headers);
        curl_easy_cleanup(http->curl);
        mx_arena_deinit(&http->arena);
        mx_free(http);
    }
}

static bool is_transient_status(int32_t status)
{
    return status == 408 || status == 425 || status == 429 || status == 500 || status == 502 || status == 503 ||
           status == 504 || (status >= 520 && status < 530); /* the last are a large content network's own */
}

/* The value of header `name` (lower case), trimmed; ptr NULL for another header. */
static mx_str match_header(mx_str line, const char *name)
{
    const size_t n = strlen(name);
    if (line.len <= n || line.ptr[n] != ':') {
        return (mx_str){0};
    }
    for (size_t i = 0; i < n; i++) {
        const char c = line.ptr[i] >= 'A' && line.ptr[i] <= 'Z' ? (char)(line.ptr[i] + ('a' - 'A')) : line.ptr[i];
        if (c != name[i]) {
            return (mx_str){0};
        }
    }
    mx_str value = mx_str_slice(line, n + 1, line.len);
    while (value.len > 0 && (value.ptr[0] == ' ' || value.ptr[0] == '\t')) {
        value = mx_str_slice(value, 1, value.len);
    }
    while (value.len > 0 && strchr(" \t\r\n", value.ptr[value.len - 1])) {
        value.len--;
    }
    return value;
}

/* Digits as a number; -1 where there are none or too many. *rest becomes what is behind them. */
static int64_t read_number(mx_str s, mx_str *rest)
{
    int64_t value = 0;
    size_t i = 0;
    for (; i < s.len && s.ptr[i] >= '0' && s.ptr[i] <= '9' && i < 18; i++) {
        value = value * 10 + (s.ptr[i] - '0');
    }
    *rest = mx_str_slice(s, i, s.len);
    return i > 0 ? value : -1;
}

/* "bytes 5-9/10" of a 206, "bytes * /10" of a 416. */
static void read_content_range(mx_str value, mx_http_response *r)
{
    mx_str rest = value;
    if (!mx_str_starts_with(value, MX_STR("bytes "))) {
        return;
    }
    r->range_start = read_number(mx_str_slice(value, 6, value.len), &rest);
    const char *slash = memchr(value.ptr, '/', value.len);
    if (slash) {
        const size_t at = (size_t)(slash - value.ptr) + 1;
        r->range_total = read_number(mx_str_slice(value, at, value.len), &rest);
    }
}

static void copy_text(char *out, size_t cap, mx_str value)
{
    const size_t n = value.len < cap ? value.len : 0; /* what does not fit is not what we look for */
    if (n > 0) {
        memcpy(out, value.ptr, n);
    }
    out[n] = '\0';
}

/* One line of the headers of any answer, those of redirects too. */
static size_t on_header(char *bytes, size_t size, size_t n_items, void *arg)
{
    mx_http_response *r = ((request *)arg)->response;
    const mx_str line = {bytes, size * n_items};
    mx_str value;
    if (mx_str_starts_with(line, MX_STR("HTTP/"))) {
        r->range_start = r->range_total = -1;
        r->is_html = false;
        r->error_code[0] = '\0';
    } else if ((value = match_header(line, "content-range")).ptr) {
        read_content_range(value, r);
    } else if ((value = match_header(line, "content-type")).ptr) {
        r->is_html = mx_str_starts_with(value, MX_STR("text/html"));
    } else if ((value = match_header(line, "x-error-code")).ptr) {
        copy_text(r->error_code, sizeof r->error_code, value);
    } else if ((value = match_header(line, "x-linked-etag")).ptr) {
        const bool is_quoted = value.len >= 2 && value.ptr[0] == '"';
        copy_text(r->linked_etag, sizeof r->linked_etag, is_quoted ? mx_str_slice(value, 1, value.len - 1) : value);
    }
    return line.len;
}

static int32_t read_status(CURL *curl)
{
    long status = 0;
    return curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK ? (int32_t)status : 0;
}

static mx_status pass_on(request *q, mx_str bytes)
{
    if (!q->has_begun) {
        q->has_begun = true;
        q->response->status = read_status(q->http->curl);
        curl_off_t n = -1;
        if (curl_easy_getinfo(q->http->curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &n) == CURLE_OK) {
            q->response->n_content = (int64_t)n;
        }
        if (q->response->status < 300) {
            MX_TRY(q->sink->begin(q->sink->arg, q->response, &q->sink_err));
        }
    }
    /* The body of an error is not what was asked for. */
    return q->response->status < 300 && bytes.len > 0 ? q->sink->write(q->sink->arg, bytes, &q->sink_err) : MX_OK;
}

static size_t on_body(char *bytes, size_t size, size_t n_items, void *arg)
{
    request *q = (request *)arg;
    q->sink_status = pass_on(q, (mx_str){bytes, size * n_items});
    return q->sink_status == MX_OK ? size * n_items : CURL_WRITEFUNC_ERROR;
}

static int on_progress(void *arg, curl_off_t n_down, curl_off_t now_down, curl_off_t n_up, curl_off_t now_up)
{
    request *q = (request *)arg;
    const mx_http_settings *s = q->http->settings;
    (void)n_down, (void)now_down, (void)n_up, (void)now_up;
    q->was_stopped = s->should_stop && s->should_stop(s->arg);
    return q->was_stopped;
}

typedef enum token_way { TOKEN_STAYS, TOKEN_GOES, TOKEN_GOES_WITHOUT_PROXY } token_way;

/* A token over plain http could be read on the way; to this machine, by no proxy, there is no way. The address is taken
 * apart as libcurl itself does it. */
static token_way find_token_way(const char *address)
{
    static const char *const own_hosts[] = {"localhost", "127.0.0.1", "[::1]", "::1"};
    token_way way = TOKEN_STAYS;
    char *scheme = NULL;
    char *host = NULL;
    CURLU *url = curl_url();
    if (url && curl_url_set(url, CURLUPART_URL, address, 0) == CURLUE_OK &&
        curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
        curl_url_get(url, CURLUPART_HOST, &host, 0) == CURLUE_OK) {
        for (size_t i = 0; i < MX_COUNTOF(own_hosts); i++) {
            way = strcmp(host, own_hosts[i]) == 0 ? TOKEN_GOES_WITHOUT_PROXY : way;
        }
        way = strcmp(scheme, "https") == 0 ? TOKEN_GOES : way;
    }
    curl_free(scheme);
    curl_free(host);
    curl_url_cleanup(url);
    return way;
}

static CURLcode set_options(request *q, const char *url, int64_t from)
{
    CURL *curl = q->http->curl;
    const mx_http_settings *s = q->http->settings;
    const long timeout = (long)s->timeout_s;
    CURLcode code = CURLE_OK;
    curl_easy_reset(curl); /* connections stay */
#define SET(option, value) (code = code == CURLE_OK ? curl_easy_setopt(curl, option, value) : code)
    SET(CURLOPT_URL, url);
    SET(CURLOPT_ERRORBUFFER, q->http->reason);
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_USERAGENT, "mlxcel");
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_REDIR_PROTOCOLS_STR, strncmp(url, "https", 5) == 0 ? "https" : "http,https");
    SET(CURLOPT_FOLLOWLOCATION, 1L);
    SET(CURLOPT_MAXREDIRS, MAX_REDIRECTS);
    SET(CURLOPT_CONNECTTIMEOUT, timeout);
    SET(CURLOPT_LOW_SPEED_LIMIT, 1L);
    SET(CURLOPT_LOW_SPEED_TIME, timeout);
    SET(CURLOPT_BUFFERSIZE, RECEIVE_BYTES);
    SET(CURLOPT_HEADERFUNCTION, on_header);
    SET(CURLOPT_HEADERDATA, (void *)q);
    SET(CURLOPT_WRITEFUNCTION, on_body);
    SET(CURLOPT_WRITEDATA, (void *)q);
    SET(CURLOPT_XFERINFOFUNCTION, on_progress);
    SET(CURLOPT_XFERINFODATA, (void *)q);
    SET(CURLOPT_NOPROGRESS, 0L);
    const token_way way = q->http->headers ? find_token_way(url) : TOKEN_STAYS;
    if (way != TOKEN_STAYS) {
        SET(CURLOPT_HTTPHEADER, q->http->headers); /* libcurl leaves it out after a redirect to another host */
    }
    if (way == TOKEN_GOES_WITHOUT_PROXY) {
        SET(CURLOPT_NOPROXY, q->http->unproxied);
    }
    if (q->http->ca_file) {
        SET(CURLOPT_CAINFO, q->http->ca_file);
    }
    if (from > 0) {
        char range[24]; /* libcurl copies it; its own option for resuming refuses a server that sends the whole */
        (void)snprintf(range, sizeof range, "%" PRId64 "-", from);
        SET(CURLOPT_RANGE, range);
    }
#undef SET
    return code;
}

/* The sentence for a request that failed below HTTP. */
static mx_status fail_code(const request *q, const char *url, CURLcode code, mx_error *err)
{
    const char *reason = q->http->reason[0] ? q->http->reason : curl_easy_strerror(code);
    const char *advice = "";
    if (code == CURLE_SSL_CACERT_BADFILE || (code == CURLE_PEER_FAILED_VERIFICATION && !q->http->ca_file)) {
        advice = "; install the system's certificates (ca-certificates), or name them with SSL_CERT_FILE";
    }
    return mx_fail_native(err, code == CURLE_OUT_OF_MEMORY ? MX_NO_MEMORY : MX_IO, code, "%s: %s%s", url, reason,
                          advice);
}

static bool is_transient_code(CURLcode code)
{
    static const CURLcode codes[] = {
        CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY,
        CURLE_COULDNT_CONNECT,      CURLE_PARTIAL_FILE,
        CURLE_OPERATION_TIMEDOUT,   CURLE_SSL_CONNECT_ERROR,
        CURLE_GOT_NOTHING,          CURLE_SEND_ERROR,
        CURLE_RECV_ERROR,           CURLE_AGAIN,
        CURLE_WEIRD_SERVER_REPLY,
    };
    for (size_t i = 0; i < MX_COUNTOF(codes); i++) {
        if (code == codes[i]) {
            return true;
        }
    }
    return false;
}

mx_status mx_http_get(mx_http *http, const char *url, int64_t from, const mx_http_sink *sink,
                      mx_http_response *response, mx_error *err)
{
    *response = (mx_http_response){.n_content = -1, .range_start = -1, .range_total = -1};
    request q = {.http = http, .sink = sink, .response = response};
    http->reason[0] = '\0';
    CURLcode code = set_options(&q, url, from);
    code = code == CURLE_OK ? curl_easy_perform(http->curl) : code;
    response->status = read_status(http->curl);
    if (code == CURLE_OK && !q.has_begun) { /* an empty body, which has no callback */
        q.sink_status = pass_on(&q, (mx_str){0});
    }
    if (q.sink_status != MX_OK) {
        return mx_fail_native(err, q.sink_err.status, q.sink_err.native, "%s", q.sink_err.message);
    }
    if (q.was_stopped) {
        return mx_fail(err, MX_CANCELLED, "the download was interrupted; the same command goes on with it");
    }
    if (code == CURLE_OK && response->status >= 200 && response->status < 300) {
        return MX_OK;
    }
    curl_off_t wait = 0;
    if (curl_easy_getinfo(http->curl, CURLINFO_RETRY_AFTER, &wait) == CURLE_OK) {
        response->retry_after_s = (int32_t)MX_MIN(wait, 86400);
    }
    response->is_transient = code == CURLE_OK ? is_transient_status(response->status) : is_transient_code(code);
    if (code != CURLE_OK) {
        return fail_code(&q, url, code, err);
    }
    return mx_fail_native(err, MX_IO, response->status, "%s: the server answered %d", url, (int)response->status);
}
