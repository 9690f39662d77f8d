/* cmd_arch.c - mlxcel arch: the families of models that run, and what is proven of each. docs/models.md comes from it.
 */
#include "base/json.h"
#include "cli/text_io.h"
#include "model/family.h"

#define MAX_REPORT ((size_t)1 << 20)

static const char *title_of(const mx_family *family)
{
    return family->title ? family->title : family->model_types[0];
}

static mx_status print_lines(mx_buf *out, mx_error *err)
{
    const mx_family *family;
    for (size_t i = 0; (family = mx_family_at(i)) != NULL; i++) {
        for (size_t j = 0; j < MX_FAMILY_MAX_TYPES && family->model_types[j]; j++) {
            const mx_family_proof proof = mx_family_find_proof(family->model_types[j]);
            MX_TRY(mx_buf_printf(out, err, "%-22s %s%s%s%s\n", family->model_types[j], title_of(family),
                                 proof.n_float + proof.n_quantised > 0 ? "" : "; no golden logits",
                                 family->limits ? "; " : "", family->limits ? family->limits : ""));
        }
    }
    return MX_OK;
}

static mx_status append_member(mx_buf *out, const char *key, const char *value, mx_error *err)
{
    MX_TRY(mx_buf_printf(out, err, ", \"%s\": ", key));
    return mx_json_append_str(out, mx_str_from(value), err);
}

static mx_status print_json(mx_buf *out, mx_error *err)
{
    const mx_family *family;
    const char *between = "";
    MX_TRY(mx_buf_printf(out, err, "["));
    for (size_t i = 0; (family = mx_family_at(i)) != NULL; i++) {
        for (size_t j = 0; j < MX_FAMILY_MAX_TYPES && family->model_types[j]; j++) {
            const mx_family_proof proof = mx_family_find_proof(family->model_types[j]);
            MX_TRY(mx_buf_printf(out, err, "%s\n{\"model_type\": ", between));
            MX_TRY(mx_json_append_str(out, mx_str_from(family->model_types[j]), err));
            MX_TRY(append_member(out, "family", title_of(family), err));
            MX_TRY(append_member(out, "source", family->source, err));
            MX_TRY(append_member(out, "limits", family->limits ? family->limits : "", err));
            MX_TRY(mx_buf_printf(out, err, ", \"goldens\": {\"float\": %d, \"quantised\": %d, \"tokens\": %d}}",
                                 (int)proof.n_float, (int)proof.n_quantised, (int)proof.n_tokens));
            between = ",";
        }
    }
    return mx_buf_printf(out, err, "\n]\n");
}

int mx_cmd_arch(const mx_cli_options *options)
{
    mx_error err;
    mx_buf report = {.max = MAX_REPORT};
    const mx_status st = options->as_json ? print_json(&report, &err) : print_lines(&report, &err);
    const int code = st == MX_OK ? mx_cli_print(mx_buf_view(&report)) : mx_cli_fail(&err);
    mx_buf_deinit(&report);
    return code;
}
