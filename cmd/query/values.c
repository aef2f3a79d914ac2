/* Values of options of `pmodel query`: caches, hit ratios, ranges of sizes. */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/query/private.h"

/* ---- caches ---------------------------------------------------------------------------------- */

enum { MOST_WAYS = 1 << 20 };
#define MOST_BYTES 0x1p60 /* an exact number of bytes in a double, and more than there is */

/* K, KB, KiB; M …; nothing; "blocks".  0: no such unit. */
static double unit_bytes(const char *unit, bool *in_blocks) {
    static const char letters[] = "KMGT";
    const char *letter;
    *in_blocks = strcmp(unit, "blocks") == 0;
    if (*in_blocks || *unit == '\0')
        return 1;
    letter = strchr(letters, *unit == 'k' ? 'K' : *unit);
    bool known =
        letter && (unit[1] == '\0' || strcmp(unit + 1, "B") == 0 || strcmp(unit + 1, "iB") == 0);
    return known ? ldexp(1, 10 * (int)(letter - letters + 1)) : 0;
}

static bool read_cache(const char *text, struct pm_query_cache_size *size) {
    char *end;
    double amount = strtod(text, &end);
    double unit = unit_bytes(end, &size->in_blocks);
    size->amount = amount * unit;
    return end != text && unit > 0 && size->amount >= 1 && size->amount <= MOST_BYTES &&
           size->amount == floor(size->amount);
}

/* "8", "fifo" or "physical". */
static bool read_organisation(const char *word, struct pm_query_cache_size *size) {
    char *end;
    size_t length = strlen(word);
    if (pm_replacement_of(word, length, &size->replacement) ||
        pm_indexing_of(word, length, &size->indexed))
        return true;
    unsigned long value = strtoul(word, &end, 10);
    size->ways = (uint32_t)value;
    return *word >= '1' && *word <= '9' && !*end && value <= MOST_WAYS;
}

/* Cuts "/8/fifo" off the end of ITEM, if it is there. */
static bool cut_organisation(char *item, struct pm_query_cache_size *size) {
    char *rest = strchr(item, '/');
    if (rest)
        *rest++ = '\0';
    while (rest) {
        char *word = rest;
        rest = strchr(rest, '/');
        if (rest)
            *rest++ = '\0';
        if (!read_organisation(word, size))
            return false;
    }
    return true;
}

/* False with a sentence where it can be told what is wrong. */
static bool add_cache_item(struct pm_query_request *request, char *item, struct pm_error *why) {
    char *colon = strchr(item, ':');
    struct pm_query_cache_size low = {0}, high;
    if (!cut_organisation(item, &low))
        return false;
    if (colon)
        *colon = '\0';
    if (!read_cache(item, &low))
        return false;
    high = low;
    if (colon && (!read_cache(colon + 1, &high) || high.in_blocks != low.in_blocks))
        return false;
    if (high.amount < low.amount)
        return pm_fail(why, "the range descends: write the smaller size first");
    for (; low.amount <= high.amount; low.amount *= 2)
        *PM_PUSH(request, caches) = low;
    return true;
}

bool pm_add_query_caches(void *to, char *item, struct pm_error *err) {
    char *shown = pm_strdup(item); /* it is cut into pieces */
    struct pm_error why = {0};
    bool ok = add_cache_item(to, item, &why);
    if (!ok && why.kind)
        pm_fail(err, "--cache %.100s: %s", shown, why.text);
    else if (!ok)
        pm_fail(err,
                "--cache takes sizes as in 32K,512K, 32K/8 (8 ways), 32K/8/fifo (lru, "
                "plru, fifo, random; physical), 64blocks or 16K:4M (doubling), not \"%.100s\"",
                shown);
    free(shown);
    return ok;
}

/* ---- hit ratios ------------------------------------------------------------------------------ */

bool pm_add_hit_ratio(void *to, char *item, struct pm_error *err) {
    struct pm_query_request *request = to;
    char *end;
    double ratio = strtod(item, &end);
    bool is_number = end != item;
    if (*end == '%') {
        ratio /= 100;
        end++;
    }
    if (!is_number || *end || !(ratio > 0 && ratio <= 1))
        return pm_fail(err, "--hit-ratio takes ratios as in 0.99 or 99%%, not \"%.100s\"", item);
    *PM_PUSH(request, ratios) = ratio;
    return true;
}

/* ---- ranges ---------------------------------------------------------------------------------- */

#define MOST_SIZES 0x1p52 /* indices and values stay exact */

static bool read_value(char **at, double *value) {
    char *end;
    *value = strtod(*at, &end);
    bool read = end != *at && isfinite(*value) && *value > 0;
    *at = end;
    return read;
}

/* "LOW:HIGH" or "LOW:HIGH:STEP"; false with a sentence where it can be told what is wrong. */
static bool read_steps(char *at, struct pm_query_range *range, struct pm_error *why) {
    double high;
    range->step = 1;
    if (!read_value(&at, &range->low) || *at++ != ':' || !read_value(&at, &high))
        return false;
    if (*at == ':' && (at++, !read_value(&at, &range->step)))
        return false;
    if (high < range->low)
        return pm_fail(why, "the range descends: write the smaller value first");
    double n = floor((high - range->low) / range->step * (1 + 1e-12)) + 1;
    if (*at || n > MOST_SIZES)
        return false;
    range->n = (uint64_t)n;
    return true;
}

static bool read_values(char *at, struct pm_query_range *range) {
    struct {
        PM_ARRAY(double, values);
    } list = {0};
    bool ok = true;
    for (bool more = true; ok && more;) {
        double value;
        ok = read_value(&at, &value) && (*at == ',' || *at == '\0');
        *PM_PUSH(&list, values) = value;
        more = ok && *at++ == ',';
    }
    if (!ok) {
        free(list.values);
        return false;
    }
    qsort(list.values, list.n_values, sizeof *list.values, pm_compare_doubles);
    size_t n = 1;
    for (size_t i = 1; i < list.n_values; i++)
        if (list.values[i] > list.values[n - 1])
            list.values[n++] = list.values[i];
    range->values = list.values;
    range->n = n;
    return true;
}

bool pm_set_query_range(void *to, char *text, struct pm_error *err) {
    struct pm_query_request *request = to;
    char *equals = strchr(text, '='), *name = pm_sprintf("%.*s", (int)strcspn(text, "="), text);
    struct pm_parameters probe = {0}; /* checks the name */
    free(request->range_of);
    free(request->range.values);
    request->range_of = name;
    request->range = (struct pm_query_range){0};
    if (equals && !pm_parameters_set(&probe, name, 0, err))
        return pm_fail_in(err, "--range %.100s", text);
    struct pm_error why = {0};
    if (equals && (strchr(equals, ':') ? read_steps(equals + 1, &request->range, &why)
                                       : read_values(equals + 1, &request->range)))
        return true;
    if (why.kind)
        return pm_fail(err, "--range %.100s: %s", text, why.text);
    return pm_fail(err,
                   "--range takes NAME=LOW:HIGH, NAME=LOW:HIGH:STEP or NAME=VALUES, sizes above 0, "
                   "not \"%.100s\"",
                   text);
}
