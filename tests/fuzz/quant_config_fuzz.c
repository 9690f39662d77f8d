/* quant_config_fuzz.c - any bytes as config.json: every quantisation that is accepted is one that exists. */
#include <stdlib.h>

#include "tests/fuzz/fuzz.h"
#include "weights/quant.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    mx_error err;
    mx_json json;
    mx_quant_config config;
    if (mx_json_parse((mx_str){(const char *)data, n_bytes}, "config.json", &json, &err) != MX_OK) {
        return 0;
    }
    if (mx_quant_config_parse(json.root, "config.json", &config, &err) == MX_OK) {
        for (size_t i = 0; i < config.n_layers; i++) {
            if (!mx_quant_is_valid(config.layers[i])) {
                abort();
            }
        }
        if (!mx_quant_is_valid(mx_quant_config_find(&config, MX_STR("model.layers.0")))) {
            abort();
        }
    }
    mx_quant_config_close(&config);
    mx_json_close(&json);
    return 0;
}
