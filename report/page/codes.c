/* A figure as the table writes it, in three bytes: its digits, and which of at most 255 styles.  So
   what the page shows is what pmodel wrote, to the last digit, and no rule for writing numbers
   exists twice. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "report/page/private.h"

enum { MOST_STYLES = 256, MOST_DIGITS = 5, MOST_DECIMALS = 4, MOST_TEXTS = 1 << 16 };

/* Cuts CELL; false: it is not a figure of this form. */
static bool cut(const char *cell, struct pm_page_style *style, uint32_t *digits) {
    const char *c = cell;
    size_t n_digits = 0;
    bool point = false;
    *style = (struct pm_page_style){0};
    *digits = 0;
    if (*c == '<' || *c == '>' || *c == '~')
        style->mark[0] = *c++;
    if (!isdigit((unsigned char)*c) || (c[0] == '0' && isdigit((unsigned char)c[1])))
        return false;
    for (; isdigit((unsigned char)*c) || (*c == '.' && !point); c++) {
        if (*c == '.') {
            point = true;
            continue;
        }
        *digits = 10 * *digits + (uint32_t)(*c - '0');
        n_digits += *digits > 0;
        style->decimals += point;
        if (n_digits > MOST_DIGITS || style->decimals > MOST_DECIMALS)
            return false;
    }
    if (point != (style->decimals > 0) || strlen(c) >= sizeof style->suffix || *digits > UINT16_MAX)
        return false;
    strcpy(style->suffix, c);
    return true;
}

static uint32_t text_code(struct pm_page_codes *codes, const char *cell) {
    for (size_t i = 0; i < codes->n_texts; i++)
        if (strcmp(codes->texts[i], cell) == 0)
            return (uint32_t)i;
    if (codes->n_texts == MOST_TEXTS)
        return 0;
    *PM_PUSH(codes, texts) = pm_strdup(cell);
    return (uint32_t)codes->n_texts - 1;
}

uint32_t pm_page_code(struct pm_page_codes *codes, const char *cell) {
    struct pm_page_style style;
    uint32_t digits;
    if (codes->n_texts == 0) {
        *PM_PUSH(codes, texts) = pm_strdup("");
        (void)PM_PUSH(codes, styles);
    }
    if (!cell || !*cell)
        return 0;
    if (!cut(cell, &style, &digits))
        return text_code(codes, cell);
    size_t i = 1;
    while (i < codes->n_styles && memcmp(&codes->styles[i], &style, sizeof style) != 0)
        i++;
    if (i == MOST_STYLES)
        return text_code(codes, cell);
    if (i == codes->n_styles)
        *PM_PUSH(codes, styles) = style;
    return (uint32_t)i << 16 | digits;
}

/* {"styles": [[mark, decimals, suffix]], "texts": […]} */
json_t *pm_page_codes_json(const struct pm_page_codes *codes) {
    json_t *object = json_object(), *styles = json_array(), *texts = json_array();
    for (size_t i = 0; i < codes->n_styles; i++)
        json_array_append_new(styles,
                              json_pack("[sis]", codes->styles[i].mark, codes->styles[i].decimals,
                                        codes->styles[i].suffix));
    for (size_t i = 0; i < codes->n_texts; i++)
        json_array_append_new(texts, pm_json_text(codes->texts[i]));
    json_object_set_new(object, "styles", styles);
    json_object_set_new(object, "texts", texts);
    return object;
}

void pm_page_codes_free(struct pm_page_codes *codes) {
    for (size_t i = 0; i < codes->n_texts; i++)
        free(codes->texts[i]);
    free(codes->texts);
    free(codes->styles);
}
