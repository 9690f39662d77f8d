/* postprocessor.h - the tokens that are put around an encoded text. */
#ifndef MX_TEXT_TOKENIZER_POSTPROCESSOR_H
#define MX_TEXT_TOKENIZER_POSTPROCESSOR_H

#include "base/json.h"
#include "text/tokenizer/tokenizer.h"

#define MX_POSTPROCESSOR_TEXT (-1) /* in items: the ids of the text */

typedef struct mx_postprocessor {
    mx_ids items; /* ids, and MX_POSTPROCESSOR_TEXT; empty: the text alone */
} mx_postprocessor;

/* Reads "post_processor"; val NULL or null: none. What a template does with a pair of texts is not read: texts are
 * encoded one at a time. MX_FORMAT, MX_UNSUPPORTED, MX_NO_MEMORY. */
mx_status mx_postprocessor_init(mx_postprocessor *post, yyjson_val *val, mx_error *err) MX_NODISCARD;
void mx_postprocessor_deinit(mx_postprocessor *post);

#endif
