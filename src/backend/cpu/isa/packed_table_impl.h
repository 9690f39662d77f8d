/* packed_table_impl.h - one function for each code, and the choice of the variant that fits a call.
 *
 * The including file defines, all to be inlined with their integer arguments constant,
 *     dot(w, code, n_parts, n_quads, tile, x, y)     n_parts: bytes of an activation; n_quads: of a block, 4 or 8
 *     expand(w, code, n_quads, src, n_groups, panel)
 *     panel_product(w, n_tokens, n_parts, panel, first_group, n_groups, x, y)
 *     dense_product(w, code, n_tokens, tile, x, y)
 * and the macro MX_PACKED_MAX_TOKENS: 2, 4 or 8. fill_table then fills the rows of a table.
 */

static MX_FORCE_INLINE void dot_any(const mx_packed *w, mx_pack_code code, const uint8_t *tile, const mx_acts *x,
                                    float *y)
{
    const bool is_wide = x->form != MX_ACT_INT8;
    if (code == MX_CODE_E2M1 && w->group == 16) {
        is_wide ? dot(w, code, 2, 4, tile, x, y) : dot(w, code, 1, 4, tile, x, y);
    } else {
        is_wide ? dot(w, code, 2, 8, tile, x, y) : dot(w, code, 1, 8, tile, x, y);
    }
}

static MX_FORCE_INLINE void expand_any(const mx_packed *w, mx_pack_code code, const uint8_t *src, int64_t n_groups,
                                       uint8_t *panel)
{
    if (code == MX_CODE_E2M1 && w->group == 16) {
        expand(w, code, 4, src, n_groups, panel);
    } else {
        expand(w, code, 8, src, n_groups, panel);
    }
}

static void panel_any(const mx_packed *w, const uint8_t *panel, int64_t first_group, int64_t n_groups, const mx_acts *x,
                      float *y)
{
    const bool is_wide = x->form != MX_ACT_INT8;
    switch (x->n_tokens) {
#if MX_PACKED_MAX_TOKENS >= 8
    case 8:
        is_wide ? panel_product(w, 8, 2, panel, first_group, n_groups, x, y)
                : panel_product(w, 8, 1, panel, first_group, n_groups, x, y);
        break;
#endif
#if MX_PACKED_MAX_TOKENS >= 4
    case 4:
        is_wide ? panel_product(w, 4, 2, panel, first_group, n_groups, x, y)
                : panel_product(w, 4, 1, panel, first_group, n_groups, x, y);
        break;
#endif
    case 2:
        is_wide ? panel_product(w, 2, 2, panel, first_group, n_groups, x, y)
                : panel_product(w, 2, 1, panel, first_group, n_groups, x, y);
        break;
    default:
        is_wide ? panel_product(w, 1, 2, panel, first_group, n_groups, x, y)
                : panel_product(w, 1, 1, panel, first_group, n_groups, x, y);
        break;
    }
}

static MX_FORCE_INLINE void dense_any(const mx_packed *w, mx_pack_code code, const uint8_t *tile, const mx_acts *x,
                                      float *y)
{
    switch (x->n_tokens) {
#if MX_PACKED_MAX_TOKENS >= 8
    case 8: dense_product(w, code, 8, tile, x, y); break;
#endif
#if MX_PACKED_MAX_TOKENS >= 4
    case 4: dense_product(w, code, 4, tile, x, y); break;
#endif
    case 2: dense_product(w, code, 2, tile, x, y); break;
    default: dense_product(w, code, 1, tile, x, y); break;
    }
}

#define MX_CODED_LIST(X) X(U2) X(U3) X(U4) X(U5) X(U6) X(U8) X(E2M1)
#define MX_DENSE_LIST(X) X(E4M3) X(F16) X(BF16) X(F32)

#define X(name)                                                                                         \
    static void dot_##name(const mx_packed *w, const uint8_t *tile, const mx_acts *x, float *y)         \
    {                                                                                                   \
        dot_any(w, MX_CODE_##name, tile, x, y);                                                         \
    }                                                                                                   \
    static void expand_##name(const mx_packed *w, const uint8_t *src, int64_t n_groups, uint8_t *panel) \
    {                                                                                                   \
        expand_any(w, MX_CODE_##name, src, n_groups, panel);                                            \
    }
MX_CODED_LIST(X)
#undef X

#define X(name)                                                                                   \
    static void dense_##name(const mx_packed *w, const uint8_t *tile, const mx_acts *x, float *y) \
    {                                                                                             \
        dense_any(w, MX_CODE_##name, tile, x, y);                                                 \
    }
MX_DENSE_LIST(X)
#undef X

static void fill_table(mx_cpu_kernels *k)
{
    k->max_block_tokens = MX_PACKED_MAX_TOKENS;
    k->panel = panel_any;
#define X(name)                          \
    k->dot[MX_CODE_##name] = dot_##name; \
    k->expand[MX_CODE_##name] = expand_##name;
    MX_CODED_LIST(X)
#undef X
#define X(name) k->dense[MX_CODE_##name] = dense_##name;
    MX_DENSE_LIST(X)
#undef X
}
