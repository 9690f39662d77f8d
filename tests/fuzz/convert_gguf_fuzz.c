/* convert_gguf_fuzz.c - any bytes as a GGUF file to convert: what is called a model can be opened, and of what is
 * refused nothing is left. */
#include "hub/convert.h"
#include "tests/fuzz/fuzz.h"
#include "tests/tmpdir.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    const mx_convert_options options = {0};
    mx_error err;
    mx_tmpdir dir;
    mx_tmpdir_open(&dir);
    const char *from = mx_tmpdir_write(&dir, "a.gguf", (mx_str){(const char *)data, n_bytes});
    const char *out = mx_tmpdir_path(&dir, "out");
    const mx_status st = mx_convert_gguf(from, out, &options, &err);
    const mx_file_kind wanted = st == MX_OK ? MX_FILE_DIR : MX_FILE_MISSING;
    if (mx_file_kind_at(out) != wanted || mx_file_kind_at(mx_tmpdir_path(&dir, "out.part")) != MX_FILE_MISSING) {
        abort();
    }
    mx_tmpdir_close(&dir);
    return 0;
}
