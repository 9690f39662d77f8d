/* matcher.c - sets of places, numbered; moves between them and the tokens that they allow, found once.
 *
 * A place is a state and where its rule returns to, so places form stacks that share their bottoms. A set holds the
 * places that read a byte; forks, calls and returns are followed when a set is made.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "text/grammar/automaton.h"
#include "text/grammar/grammar.h"
#include "text/grammar/grammar_private.h"

enum {
    MAX_PLACES = 1 << 18, /* that one text has been in */
    MAX_SETS = 4096,      /* kept; then all but the present one are forgotten */
    MAX_SET_PLACES = 4096,
    MAX_MASKS = 128,
    NO_PARENT = -1,
    NO_SET = -1,  /* the byte does not fit */
    UNKNOWN = -2, /* the move has not been looked at */
};

typedef struct place {
    int32_t state;
    int32_t parent; /* a place to go on from when the rule returns; NO_PARENT: the text is whole */
} place;

typedef struct place_set {
    uint32_t offset; /* into items */
    int32_t n;
    bool can_end;
    uint32_t *allowed; /* owned; NULL: not known */
} place_set;

/* Numbers by the hash of what they stand for. */
typedef struct hash_index {
    int32_t *slots; /* owned [n_slots], a power of two; -1 free */
    uint32_t n_slots;
} hash_index;

struct mx_matcher {
    const mx_automaton *automaton; /* borrowed */
    const mx_token_table *table;   /* borrowed */
    place *places;                 /* owned, like all below */
    size_t cap_places;
    int32_t n_places;
    hash_index place_index;
    uint32_t *marks; /* [cap_marks]: the closure that last came by a place */
    size_t cap_marks;
    uint32_t mark;
    int32_t *work; /* of a closure */
    size_t cap_work;
    int32_t *found; /* of a closure: places that read a byte */
    size_t cap_found;
    int32_t *items; /* places of all sets */
    size_t cap_items;
    size_t n_items;
    place_set *sets;
    size_t cap_sets;
    int32_t n_sets;
    hash_index set_index;
    int32_t *moves; /* [n_sets, 256] */
    size_t cap_moves;
    int32_t n_masks;
    int32_t *depths; /* [longest token + 1]: sets along the token being looked at */
    int32_t present; /* the set that the text has come to */
    bool is_at_start;
};

/* ---- numbers ---- */

static uint32_t hash_words(const int32_t *words, size_t n)
{
    return (uint32_t)mx_str_hash((mx_str){(const char *)words, n * sizeof *words});
}

/* Room for one more number among n. Numbers are put in again by their hashes. */
static mx_status grow_index(hash_index *index, int32_t n, uint32_t (*hash_of)(const mx_matcher *m, int32_t i),
                            const mx_matcher *m, mx_error *err)
{
    if ((uint32_t)n * 2 < index->n_slots) {
        return MX_OK;
    }
    const uint32_t n_slots = index->n_slots > 0 ? index->n_slots * 2 : 256;
    int32_t *slots = (int32_t *)mx_malloc(n_slots * sizeof *slots);
    if (!slots) {
        return mx_fail_no_memory(err, n_slots * sizeof *slots, "the places of a grammar");
    }
    for (uint32_t i = 0; i < n_slots; i++) {
        slots[i] = -1;
    }
    for (int32_t i = 0; i < n; i++) {
        uint32_t at = hash_of(m, i) & (n_slots - 1);
        while (slots[at] >= 0) {
            at = (at + 1) & (n_slots - 1);
        }
        slots[at] = i;
    }
    mx_free(index->slots);
    *index = (hash_index){slots, n_slots};
    return MX_OK;
}

static uint32_t hash_place(const mx_matcher *m, int32_t i)
{
    return hash_words((const int32_t[]){m->places[i].state, m->places[i].parent}, 2);
}

static uint32_t hash_set(const mx_matcher *m, int32_t i)
{
    return hash_words(m->items + m->sets[i].offset, (size_t)m->sets[i].n) + m->sets[i].can_end;
}

static mx_status find_place(mx_matcher *m, int32_t state, int32_t parent, int32_t *out, mx_error *err)
{
    MX_TRY(grow_index(&m->place_index, m->n_places, hash_place, m, err));
    const uint32_t mask = m->place_index.n_slots - 1;
    uint32_t at = hash_words((const int32_t[]){state, parent}, 2) & mask;
    for (; m->place_index.slots[at] >= 0; at = (at + 1) & mask) {
        const place *p = &m->places[m->place_index.slots[at]];
        if (p->state == state && p->parent == parent) {
            *out = m->place_index.slots[at];
            return MX_OK;
        }
    }
    place *places =
        (place *)mx_array_grow(m->places, &m->cap_places, (size_t)m->n_places + 1, sizeof *places, MAX_PLACES);
    m->places = places ? places : m->places;
    uint32_t *marks =
        places ? (uint32_t *)mx_array_grow(m->marks, &m->cap_marks, (size_t)m->n_places + 1, sizeof *marks, MAX_PLACES)
               : NULL;
    m->marks = marks ? marks : m->marks;
    if (!marks) {
        return mx_fail(err, MX_INVALID, "the grammar is in too many places at once (a rule that begins with itself?)");
    }
    m->places[m->n_places] = (place){state, parent};
    m->marks[m->n_places] = 0;
    m->place_index.slots[at] = m->n_places;
    *out = m->n_places++;
    return MX_OK;
}

/* ---- sets ---- */

static mx_status push(int32_t **list, size_t *cap, size_t *n, int32_t value, mx_error *err)
{
    int32_t *grown = (int32_t *)mx_array_grow(*list, cap, *n + 1, sizeof *grown, (size_t)1 << 28);
    if (!grown) {
        return mx_fail_no_memory(err, *n * sizeof *grown, "the places of a grammar");
    }
    *list = grown;
    grown[(*n)++] = value;
    return MX_OK;
}

/* Follows everything that reads no byte. The places that do are added to m->found. */
static mx_status close_over(mx_matcher *m, int32_t state, int32_t parent, size_t *n_found, bool *can_end, mx_error *err)
{
    size_t n_work = 0;
    int32_t i;
    MX_TRY(find_place(m, state, parent, &i, err));
    MX_TRY(push(&m->work, &m->cap_work, &n_work, i, err));
    while (n_work > 0) {
        i = m->work[--n_work];
        if (m->marks[i] == m->mark) {
            continue;
        }
        m->marks[i] = m->mark;
        const place p = m->places[i];
        const mx_gstate s = m->automaton->states[p.state];
        int32_t to = -1;
        if (s.kind == MX_GSTATE_BYTE) {
            if (*n_found == MAX_SET_PLACES) {
                return mx_fail(err, MX_INVALID, "the grammar is in more than %d places at once", MAX_SET_PLACES);
            }
            MX_TRY(push(&m->found, &m->cap_found, n_found, i, err));
        } else if (s.kind == MX_GSTATE_FORK) {
            MX_TRY(find_place(m, s.next, p.parent, &to, err));
            MX_TRY(push(&m->work, &m->cap_work, &n_work, to, err));
            MX_TRY(find_place(m, s.other, p.parent, &to, err));
            MX_TRY(push(&m->work, &m->cap_work, &n_work, to, err));
        } else if (s.kind == MX_GSTATE_CALL) {
            int32_t back = p.parent; /* a call at a rule's end needs no place to come back to */
            if (m->automaton->states[s.next].kind != MX_GSTATE_RETURN) {
                MX_TRY(find_place(m, s.next, p.parent, &back, err));
            }
            MX_TRY(find_place(m, s.other, back, &to, err));
            MX_TRY(push(&m->work, &m->cap_work, &n_work, to, err));
        } else if (p.parent == NO_PARENT) {
            *can_end = true;
        } else {
            MX_TRY(push(&m->work, &m->cap_work, &n_work, p.parent, err));
        }
    }
    return MX_OK;
}

static int compare_ints(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a;
    const int32_t y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* The number of the set that m->found holds. */
static mx_status find_set(mx_matcher *m, size_t n, bool can_end, int32_t *out, mx_error *err)
{
    if (n > 1) {
        qsort(m->found, n, sizeof *m->found, compare_ints);
    }
    MX_TRY(grow_index(&m->set_index, m->n_sets, hash_set, m, err));
    const uint32_t mask = m->set_index.n_slots - 1;
    uint32_t at = (hash_words(m->found, n) + can_end) & mask;
    for (; m->set_index.slots[at] >= 0; at = (at + 1) & mask) {
        const place_set *s = &m->sets[m->set_index.slots[at]];
        if ((size_t)s->n == n && s->can_end == can_end &&
            (n == 0 || memcmp(m->items + s->offset, m->found, n * sizeof *m->found) == 0)) {
            *out = m->set_index.slots[at];
            return MX_OK;
        }
    }
    if (m->n_sets == MAX_SETS) {
        return MX_BUSY; /* the caller forgets some and comes again */
    }
    const place_set set = {.offset = (uint32_t)m->n_items, .n = (int32_t)n, .can_end = can_end};
    for (size_t i = 0; i < n; i++) {
        MX_TRY(push(&m->items, &m->cap_items, &m->n_items, m->found[i], err));
    }
    place_set *sets = (place_set *)mx_array_grow(m->sets, &m->cap_sets, (size_t)m->n_sets + 1, sizeof *sets, MAX_SETS);
    m->sets = sets ? sets : m->sets;
    int32_t *moves = (int32_t *)mx_array_grow(m->moves, &m->cap_moves, ((size_t)m->n_sets + 1) * 256, sizeof *moves,
                                              (size_t)MAX_SETS * 256);
    m->moves = moves ? moves : m->moves;
    if (!sets || !moves) {
        return mx_fail_no_memory(err, (size_t)m->n_sets * 256 * sizeof *moves, "the places of a grammar");
    }
    for (int32_t i = 0; i < 256; i++) {
        m->moves[(size_t)m->n_sets * 256 + (size_t)i] = UNKNOWN;
    }
    m->sets[m->n_sets] = set;
    m->set_index.slots[at] = m->n_sets;
    *out = m->n_sets++;
    return MX_OK;
}

static void begin_closure(mx_matcher *m)
{
    if (++m->mark == 0) {
        memset(m->marks, 0, m->cap_marks * sizeof *m->marks);
        m->mark = 1;
    }
}

static mx_status find_start(mx_matcher *m, int32_t *out, mx_error *err)
{
    size_t n_found = 0;
    bool can_end = false;
    begin_closure(m);
    MX_TRY(close_over(m, m->automaton->start, NO_PARENT, &n_found, &can_end, err));
    return find_set(m, n_found, can_end, out, err);
}

/* The set behind a byte; NO_SET where it does not fit. */
static mx_status move(mx_matcher *m, int32_t i_set, uint8_t byte, int32_t *out, mx_error *err)
{
    *out = m->moves[(size_t)i_set * 256 + byte];
    if (*out != UNKNOWN) {
        return MX_OK;
    }
    size_t n_found = 0;
    bool can_end = false;
    begin_closure(m);
    const place_set set = m->sets[i_set];
    for (int32_t i = 0; i < set.n; i++) {
        const place p = m->places[m->items[set.offset + (uint32_t)i]];
        const mx_gstate *s = &m->automaton->states[p.state];
        if (byte >= s->lo && byte <= s->hi) {
            MX_TRY(close_over(m, s->next, p.parent, &n_found, &can_end, err));
        }
    }
    int32_t to = NO_SET;
    if (n_found > 0 || can_end) {
        MX_TRY(find_set(m, n_found, can_end, &to, err));
    }
    m->moves[(size_t)i_set * 256 + byte] = to;
    *out = to;
    return MX_OK;
}

/* Forgets all sets but the present one, which gets another number. */
static mx_status forget_sets(mx_matcher *m, mx_error *err)
{
    const place_set present = m->sets[m->present];
    size_t n = 0;
    for (int32_t i = 0; i < present.n; i++) {
        MX_TRY(push(&m->found, &m->cap_found, &n, m->items[present.offset + (uint32_t)i], err));
    }
    for (int32_t i = 0; i < m->n_sets; i++) {
        mx_free(m->sets[i].allowed);
    }
    m->n_sets = m->n_masks = 0;
    m->n_items = 0;
    for (uint32_t i = 0; i < m->set_index.n_slots; i++) {
        m->set_index.slots[i] = -1;
    }
    return find_set(m, n, present.can_end, &m->present, err);
}

/* The same text or mask fills the table of sets twice over. */
static mx_status fail_full(mx_error *err)
{
    return mx_fail(err, MX_INVALID, "the grammar has too many places to be in");
}

/* ---- matchers ---- */

mx_status mx_matcher_new(const mx_grammar *grammar, const mx_token_table *table, mx_matcher **out, mx_error *err)
{
    mx_status st;
    mx_matcher *m = (mx_matcher *)mx_calloc(1, sizeof *m);
    *out = NULL;
    if (!m) {
        return mx_fail_no_memory(err, sizeof *m, "a grammar's matcher");
    }
    m->automaton = &grammar->automaton;
    m->table = table;
    m->is_at_start = true;
    m->depths = (int32_t *)mx_calloc((size_t)table->n_longest + 2, sizeof(int32_t));
    if (!m->depths) {
        st = mx_fail_no_memory(err, (size_t)table->n_longest * sizeof(int32_t), "a grammar's matcher");
        goto failed;
    }
    MX_TRY_OR(failed, st, find_start(m, &m->present, err));
    if (m->sets[m->present].n == 0 && !m->sets[m->present].can_end) {
        st = mx_fail(err, MX_INVALID, "the grammar allows no text");
        goto failed;
    }
    *out = m;
    return MX_OK;
failed:
    mx_matcher_free(m);
    return st;
}

void mx_matcher_free(mx_matcher *m)
{
    if (m) {
        for (int32_t i = 0; i < m->n_sets; i++) {
            mx_free(m->sets[i].allowed);
        }
        mx_free(m->places);
        mx_free(m->place_index.slots);
        mx_free(m->marks);
        mx_free(m->work);
        mx_free(m->found);
        mx_free(m->items);
        mx_free(m->sets);
        mx_free(m->set_index.slots);
        mx_free(m->moves);
        mx_free(m->depths);
        mx_free(m);
    }
}

bool mx_matcher_can_end(const mx_matcher *m)
{
    return m->sets[m->present].can_end;
}

bool mx_matcher_must_end(const mx_matcher *m)
{
    return m->sets[m->present].can_end && m->sets[m->present].n == 0;
}

/* From one set through bytes. */
static mx_status move_through(mx_matcher *m, mx_str bytes, int32_t *i_set, mx_error *err)
{
    for (size_t i = 0; i < bytes.len && *i_set != NO_SET; i++) {
        MX_TRY(move(m, *i_set, (uint8_t)bytes.ptr[i], i_set, err));
    }
    return MX_OK;
}

/* What a token adds to the text here. */
static mx_str text_of(const mx_matcher *m, int32_t token_id)
{
    const mx_str bytes = mx_token_table_view(m->table, token_id);
    const bool strips = m->is_at_start && m->table->strips_first && bytes.len > 0 && bytes.ptr[0] == ' ';
    return strips ? mx_str_slice(bytes, 1, bytes.len) : bytes;
}

mx_status mx_matcher_accept_bytes(mx_matcher *m, mx_str bytes, mx_error *err)
{
    int32_t to = m->present;
    mx_status st = move_through(m, bytes, &to, err);
    if (st == MX_BUSY) {
        MX_TRY(forget_sets(m, err));
        to = m->present;
        st = move_through(m, bytes, &to, err);
    }
    if (st != MX_OK) {
        return st != MX_BUSY ? st : fail_full(err);
    }
    if (to == NO_SET) {
        return mx_fail(err, MX_INVALID, "the grammar does not allow this text");
    }
    m->present = to;
    m->is_at_start = m->is_at_start && bytes.len == 0;
    return MX_OK;
}

mx_status mx_matcher_accept(mx_matcher *m, int32_t token_id, mx_error *err)
{
    return mx_matcher_accept_bytes(m, text_of(m, token_id), err);
}

/* Walks the sorted tokens. A token goes on from where the one before it was when they still were alike; when a byte did
 * not fit, all tokens that share it are passed over. */
static mx_status find_allowed(mx_matcher *m, uint32_t *allowed, mx_error *err)
{
    const mx_token_table *t = m->table;
    int32_t n_dead = INT32_MAX; /* tokens that share more than this with the one before do not fit */
    m->depths[0] = m->present;
    for (int32_t i = 0; i < t->n_tokens; i++) {
        if (t->n_shared[i] > n_dead) {
            continue;
        }
        const mx_str bytes = mx_token_table_view(t, t->ids[i]);
        n_dead = INT32_MAX;
        for (int32_t d = t->n_shared[i]; d < (int32_t)bytes.len; d++) {
            MX_TRY(move(m, m->depths[d], (uint8_t)bytes.ptr[d], &m->depths[d + 1], err));
            if (m->depths[d + 1] == NO_SET) {
                n_dead = d;
                break;
            }
        }
        if (n_dead == INT32_MAX) {
            allowed[t->ids[i] / 32] |= 1u << (t->ids[i] % 32);
        }
    }
    return MX_OK;
}

/* The same, token by token, where the first space does not count. */
static mx_status find_allowed_first(mx_matcher *m, uint32_t *allowed, mx_error *err)
{
    for (int32_t i = 0; i < m->table->n_tokens; i++) {
        const int32_t id = m->table->ids[i];
        int32_t to = m->present;
        const mx_str text = text_of(m, id);
        MX_TRY(move_through(m, text, &to, err));
        if (to != NO_SET && text.len > 0) {
            allowed[id / 32] |= 1u << (id % 32);
        }
    }
    return MX_OK;
}

static mx_status find_mask(mx_matcher *m, uint32_t *allowed, mx_error *err)
{
    memset(allowed, 0, ((size_t)m->table->n_vocab / 32 + 1) * sizeof *allowed);
    return m->is_at_start && m->table->strips_first ? find_allowed_first(m, allowed, err)
                                                    : find_allowed(m, allowed, err);
}

mx_status mx_matcher_get_allowed(mx_matcher *m, const uint32_t **allowed, mx_error *err)
{
    if (!m->sets[m->present].allowed) {
        if (m->n_masks == MAX_MASKS) {
            MX_TRY(forget_sets(m, err));
        }
        uint32_t *mask = (uint32_t *)mx_calloc((size_t)m->table->n_vocab / 32 + 1, sizeof *mask);
        if (!mask) {
            return mx_fail_no_memory(err, (size_t)m->table->n_vocab / 8, "the tokens that a grammar allows");
        }
        mx_status st = find_mask(m, mask, err);
        if (st == MX_BUSY) {
            st = forget_sets(m, err);
            st = st == MX_OK ? find_mask(m, mask, err) : st;
        }
        if (st != MX_OK) {
            mx_free(mask);
            return st != MX_BUSY ? st : fail_full(err);
        }
        m->sets[m->present].allowed = mask;
        m->n_masks++;
    }
    *allowed = m->sets[m->present].allowed;
    return MX_OK;
}
