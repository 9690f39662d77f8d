/* added_tokens.h - tokens that are found in the text before the model sees it.
 *
 * Two searches: for tokens in the text as given, and for those marked "normalized" in the normalized text between them.
 * Where tokens overlap the leftmost counts, of those the longest. */
#ifndef MX_TEXT_TOKENIZER_ADDED_TOKENS_H
#define MX_TEXT_TOKENIZER_ADDED_TOKENS_H

#include "base/arena.h"
#include "base/json.h"
#include "base/strmap.h"
#include "text/tokenizer/tokenizer.h"
#include "text/tokenizer/trie.h"
#include "text/tokenizer/unicode.h"
#include "text/tokenizer/vocab.h"

/* A token found: token i_token at ptr[start..start + len). */
typedef struct mx_added_hit {
    uint32_t start, i_token;
} mx_added_hit;

/* The search for one of the two kinds. The trie holds the strings backwards: going through the text from its end, the
 * longest string that ends at a place (backwards) is the longest that starts there. So the time is linear in the text
 * whatever the tokens are; a search that goes forward would have to take back the steps of long near misses. */
typedef struct mx_added_set {
    mx_trie trie;
    const mx_str *patterns; /* borrowed; [n_tokens] what is searched for */
} mx_added_set;

typedef struct mx_added_tokens {
    mx_arena arena;
    mx_added_token *tokens; /* in arena; by rising id */
    mx_str *patterns;       /* in arena; the content, or its normalized form */
    size_t n_tokens;
    size_t n_new;         /* tokens that the vocabulary lacks */
    mx_strmap by_content; /* content -> id */
    mx_added_set plain, normalized;
    mx_str *contents;     /* in arena; [n_tokens] of the tokens */
    mx_added_set spelled; /* the contents of special tokens that are normalized */
} mx_added_tokens;

/* Normalizes a token's content for the search: appends to out. */
typedef mx_status (*mx_added_normalize)(void *ctx, mx_str content, mx_buf *out, mx_error *err);

/* Reads "added_tokens"; list NULL: none. Tokens that the vocabulary has keep its id, others get new ids behind it; the
 * ids in the file are not asked. MX_FORMAT, MX_NO_MEMORY. */
mx_status mx_added_init(mx_added_tokens *added, yyjson_val *list, const mx_vocab *vocab, mx_added_normalize normalize,
                        void *ctx, mx_error *err) MX_NODISCARD;
void mx_added_deinit(mx_added_tokens *added);

/* The place of the token with this id in tokens, or MX_STR_NPOS. */
size_t mx_added_find(const mx_added_tokens *added, int32_t id);

/* A part of a text: an added token (id 0 or more), or text between two (id -1). */
typedef struct mx_added_part {
    size_t start, end;
    int32_t id;
} mx_added_part;

/* The end of a token in a text. */
typedef struct mx_added_end {
    size_t end;
    uint32_t i_token;
} mx_added_end;

/* A walk over the parts of a text in order. */
typedef struct mx_added_walk {
    const mx_added_tokens *added;
    const mx_added_set *set;
    const mx_unicode *unicode;
    mx_str text;
    bool with_special;
    const size_t *plain_at; /* [n_plain] rising: where no special token begins; borrowed */
    size_t n_plain;
    size_t text_at;              /* where the text begins in the one whose bytes plain_at counts */
    bool must_be_spelled;        /* special tokens count only where `spelled` says that one ends */
    const mx_added_end *spelled; /* [n_spelled] rising; borrowed */
    size_t n_spelled;
    const mx_added_hit *hits;    /* by falling start */
    size_t n_hits;               /* left */
    size_t matched;              /* the search's place: hits before it are over */
    size_t done;                 /* text before it has been given out */
    size_t space_from, space_to; /* the last run of white space that strips_right measured */
    bool has_token;              /* `token` waits until the text before it is out */
    mx_added_part token;
} mx_added_walk;

/* Finds all tokens of a set in the text; the hits live in *hits (an array of *cap, owned by the caller). MX_NO_MEMORY.
 */
mx_status mx_added_begin(mx_added_walk *walk, mx_added_hit **hits, size_t *cap, mx_error *err) MX_NODISCARD;

/* The next token that the text spells where it is not plain, instead of parts; false at the end. */
bool mx_added_next_spelled(mx_added_walk *walk, mx_added_end *out);

/* The next part; false at the end. Parts are not empty. */
bool mx_added_next(mx_added_walk *walk, mx_added_part *part);

#endif
