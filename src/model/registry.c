/* registry.c - the families. Adding one is a row in families/families.def, its file in families/, and golden logits
 * (docs/adding-a-family.md).
 */
#include "model/family.h"

#include <string.h>

#include "model/families/families.h"

static const mx_family *const families[] = {
#define MX_FAMILY(name) &mx_family_##name,
#include "model/families/families.def"
#undef MX_FAMILY
};

static const mx_family_proof proofs[] = {
#define MX_PROOF(model_type, n_float, n_quantised, n_tokens) {model_type, n_float, n_quantised, n_tokens},
#include "model/proofs.def"
#undef MX_PROOF
};

const mx_family *mx_family_at(size_t i)
{
    return i < MX_COUNTOF(families) ? families[i] : NULL;
}

mx_family_proof mx_family_find_proof(const char *model_type)
{
    for (size_t i = 0; i < MX_COUNTOF(proofs); i++) {
        if (strcmp(proofs[i].model_type, model_type) == 0) {
            return proofs[i];
        }
    }
    return (mx_family_proof){.model_type = model_type};
}

/* The i-th of all model types, over all families; NULL past the last. */
static const char *type_at(size_t i, const mx_family **family)
{
    for (size_t j = 0; j < MX_COUNTOF(families); j++) {
        for (size_t k = 0; k < MX_FAMILY_MAX_TYPES && families[j]->model_types[k]; k++) {
            if (i-- == 0) {
                *family = families[j];
                return families[j]->model_types[k];
            }
        }
    }
    return NULL;
}

const mx_family *mx_family_find(mx_str model_type)
{
    const mx_family *family = NULL;
    const char *type = NULL;
    for (size_t i = 0; (type = type_at(i, &family)) != NULL; i++) {
        if (mx_str_eq_cstr(model_type, type)) {
            return family;
        }
    }
    return NULL;
}

mx_status mx_family_fail_unknown(mx_str model_type, mx_error *err)
{
    const mx_family *family = NULL;
    const char *type = NULL;
    const char *nearest = "llama"; /* of a name too long to measure, the one that most models are */
    size_t best = SIZE_MAX;
    for (size_t i = 0; (type = type_at(i, &family)) != NULL; i++) {
        const size_t distance = mx_str_distance(model_type, mx_str_from(type));
        if (distance < best) {
            best = distance;
            nearest = type;
        }
    }
    return mx_fail(
        err, MX_UNSUPPORTED,
        "model_type \"%.*s\" is not supported; the nearest that is is \"%s\" (all are listed by: mlxcel arch)",
        model_type.len > 64 ? 64 : (int)model_type.len, model_type.ptr, nearest);
}
