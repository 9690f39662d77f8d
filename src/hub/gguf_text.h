/* gguf_text.h - the tokenizer and the chat template of a GGUF file as the files of a Hugging Face model. Private to
 * hub/. */
#ifndef MX_HUB_GGUF_TEXT_H
#define MX_HUB_GGUF_TEXT_H

#include "weights/gguf.h"

/* Writes tokenizer.json and tokenizer_config.json into a folder. *kind becomes the name of a kind of tokenizer that is
 * not taken over (tokenizer.json is then not written), else "". MX_FORMAT, MX_IO, MX_NO_MEMORY. */
mx_status mx_gguf_text_write(const mx_gguf *gguf, const char *dir, const char **kind, mx_error *err) MX_NODISCARD;

#endif
