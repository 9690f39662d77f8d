/* html_entities.h - the table of html_entities.c, which tools/html_entities.py makes. */
#ifndef MX_TEXT_TEMPLATE_HTML_ENTITIES_H
#define MX_TEXT_TEMPLATE_HTML_ENTITIES_H

#include <stddef.h>

typedef struct mx_tpl_entity {
    const char *name; /* without '&'; with ';' except for the old ones that do without */
    const char *text; /* UTF-8 */
} mx_tpl_entity;

/* In the order of strcmp. */
extern const mx_tpl_entity mx_tpl_entities[];
extern const size_t mx_tpl_n_entities;

#endif
