/* cmd_fuse.c - mlxcel fuse: a model and an adapter become one model. */
#include "cli/prompt.h"
#include "cli/text_io.h"
#include "model/fuse.h"

int mx_cmd_fuse(const mx_cli_options *options)
{
    mx_error err;
    int32_t n_fused = 0;
    mx_status st = mx_cli_need_model(options, &err);
    if (st == MX_OK && (!options->adapter || !options->output)) {
        st = mx_fail(&err, MX_INVALID, "fuse needs --adapter and --output");
    }
    if (st == MX_OK) {
        st = mx_fuse(options->model, options->adapter, options->output, &n_fused, &err);
    }
    if (st != MX_OK) {
        return mx_cli_fail(&err);
    }
    mx_cli_note("%d weights merged into %s\n", (int)n_fused, options->output);
    return MX_EXIT_OK;
}
