/* bench_tokenizer.c - opening a tokenizer and encoding a text, timed.
 *
 *     bench_tokenizer TOKENIZER_JSON TEXT_FILE [rounds=7]
 *
 * Prints one line of JSON: milliseconds to open (the file is in memory), of the first encode by a new encoder ("cold")
 * and the median of the later ones ("warm": the words of the text are in its cache as far as they fit), of decoding all
 * ids, and the ids' number and checksum (FNV-1a), by which bench_tokenizer.py sees that the peer gives the same.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "platform/clock.h"
#include "platform/file.h"
#include "text/tokenizer/tokenizer.h"

#define MAX_ROUNDS 99

typedef struct timing {
    double open_ms, cold_ms, warm_ms, decode_ms;
} timing;

static double ms_since(int64_t start_ns)
{
    return (double)(mx_clock_ns() - start_ns) / 1e6;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static mx_status measure(mx_str json, const char *name, mx_str text, int n_rounds, timing *t, mx_ids *ids,
                         mx_error *err)
{
    mx_tokenizer *tok = NULL;
    mx_encoder *enc = NULL;
    mx_buf decoded = {.max = SIZE_MAX / 2};
    double warm[MAX_ROUNDS];
    double opened[3];
    mx_status st = MX_OK;
    for (int i = 0; i < 3; i++) {
        mx_tokenizer_close(tok);
        const int64_t start_ns = mx_clock_ns();
        MX_TRY_OR(done, st, mx_tokenizer_open(json, name, &tok, err));
        opened[i] = ms_since(start_ns);
    }
    qsort(opened, 3, sizeof *opened, compare);
    t->open_ms = opened[1];
    MX_TRY_OR(done, st, mx_encoder_new(tok, &enc, err));
    for (int i = 0; i <= n_rounds; i++) {
        ids->len = 0;
        const int64_t start_ns = mx_clock_ns();
        MX_TRY_OR(done, st, mx_encode(enc, text, MX_ENCODE_SPECIAL | MX_ENCODE_TEMPLATE, ids, err));
        *(i ? &warm[i - 1] : &t->cold_ms) = ms_since(start_ns);
    }
    qsort(warm, (size_t)n_rounds, sizeof *warm, compare);
    t->warm_ms = warm[n_rounds / 2];
    const int64_t start_ns = mx_clock_ns();
    MX_TRY_OR(done, st, mx_decode(tok, ids->data, ids->len, true, &decoded, err));
    t->decode_ms = ms_since(start_ns);
done:
    mx_buf_deinit(&decoded);
    mx_encoder_free(enc);
    mx_tokenizer_close(tok);
    return st;
}

int main(int argc, char **argv)
{
    mx_error err;
    mx_buf json = {0};
    mx_buf text = {0};
    mx_ids ids = {.max = (size_t)1 << 30};
    timing t = {0};
    if (argc < 3) {
        fprintf(stderr, "usage: bench_tokenizer TOKENIZER_JSON TEXT_FILE [rounds]\n");
        return 2;
    }
    const long wanted = argc > 3 ? strtol(argv[3], NULL, 10) : 7;
    const int n_rounds = wanted < 1 ? 1 : wanted > MAX_ROUNDS ? MAX_ROUNDS : (int)wanted;
    mx_status st = mx_file_read(argv[1], (size_t)1 << 30, &json, &err);
    st = st == MX_OK ? mx_file_read(argv[2], (size_t)1 << 30, &text, &err) : st;
    st = st == MX_OK ? measure(mx_buf_view(&json), argv[1], mx_buf_view(&text), n_rounds, &t, &ids, &err) : st;
    if (st == MX_OK) {
        uint64_t sum = UINT64_C(0xcbf29ce484222325);
        for (size_t i = 0; i < ids.len; i++) {
            sum = (sum ^ (uint32_t)ids.data[i]) * UINT64_C(0x100000001b3);
        }
        printf("{\"open_ms\":%.2f,\"cold_ms\":%.3f,\"warm_ms\":%.3f,\"decode_ms\":%.3f,\"n_ids\":%zu,\"checksum\":\"%"
               "016" PRIx64 "\"}\n",
               t.open_ms, t.cold_ms, t.warm_ms, t.decode_ms, ids.len, sum);
    } else {
        fprintf(stderr, "bench_tokenizer: %s\n", err.message);
    }
    mx_buf_deinit(&json);
    mx_buf_deinit(&text);
    mx_ids_deinit(&ids);
    return st == MX_OK ? 0 : 1;
}
