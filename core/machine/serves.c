/* What a shared level still serves, `serves = {"1MiB: 1 (1 to 1)", "4MiB: 0.8 (0.7 to 0.9)"}`:
   read, checked, and as text. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/machine/private.h"

static const struct pm_machine_field distance_field = {
    .name = "serves", .type = PM_FIELD_BYTES, .low = 1, .high = 1125899906842624.0};
static const struct pm_machine_field share_field = {
    .name = "serves", .type = PM_FIELD_REAL, .low = 0, .high = 1};

/* ---- from text ------------------------------------------------------------------------------- */

/* "4MiB: 0.8 (0.7 to 0.9)" */
static bool parse_point(const char *text, struct pm_response_point *point) {
    const char *colon = strchr(text, ':');
    struct pm_machine_value distance, share;
    struct pm_error why;
    if (!colon)
        return false;
    char *before = pm_sprintf("%.*s", (int)(colon - text), text);
    const char *behind = colon + 1 + strspn(colon + 1, " ");
    bool ok = pm_value_parse(&distance_field, before, &distance, &why) &&
              pm_value_parse(&share_field, behind, &share, &why) && !distance.has_interval &&
              !(share.has_interval && (share.low < 0 || share.high > 1));
    free(before);
    if (ok)
        *point = (struct pm_response_point){distance.number, share.number,
                                            share.has_interval ? share.low : share.number,
                                            share.has_interval ? share.high : share.number};
    return ok;
}

static bool falls(const struct pm_response_point *before, const struct pm_response_point *point) {
    return point->distance_bytes > before->distance_bytes && point->share <= before->share &&
           point->low <= before->low && point->high <= before->high;
}

int pm_take_serves(cfg_t *section, int line, struct pm_level *level) {
    unsigned n = cfg_size(section, "serves");
    struct pm_response *serves = &level->serves;
    if (n > PM_MOST_RESPONSE_POINTS)
        return pm_machine_refuse(line, "`serves` has more than %d points", PM_MOST_RESPONSE_POINTS);
    for (unsigned i = 0; i < n; i++) {
        const char *text = cfg_getnstr(section, "serves", i);
        struct pm_response_point *point = &serves->points[i];
        if (!parse_point(text, point))
            return pm_machine_refuse(line,
                                     "`%s` is no point of `serves`: a distance in bytes and the "
                                     "share of the reuses there that are served, \"4MiB: 0.8\" or "
                                     "\"4MiB: 0.8 (0.7 to 0.9)\"",
                                     text);
        if (i && !falls(point - 1, point))
            return pm_machine_refuse(line,
                                     "`%s` of `serves` stands behind `%s`: distances ascend, and "
                                     "shares and both ends of their intervals never do",
                                     text, cfg_getnstr(section, "serves", i - 1));
    }
    if (n) {
        serves->n_points = n;
        level->serves_size_bytes = level->size_bytes;
    }
    return 0;
}

void pm_renew_serves(struct pm_level *level) {
    if (level->serves_size_bytes)
        pm_response_scale(&level->serves,
                          (double)level->size_bytes / (double)level->serves_size_bytes);
    level->serves_size_bytes = level->size_bytes;
}

/* ---- to text --------------------------------------------------------------------------------- */

char *pm_response_text(const struct pm_response *response) {
    char *text = pm_strdup("{");
    for (size_t i = 0; i < response->n_points; i++) {
        const struct pm_response_point *point = &response->points[i];
        const struct pm_machine_field whole = {.type = PM_FIELD_BYTES};
        const uint64_t bytes = (uint64_t)llround(point->distance_bytes);
        char *distance = pm_value_text(&whole, &bytes),
             *share = pm_value_text(&share_field, &point->share),
             *low = pm_value_text(&share_field, &point->low),
             *high = pm_value_text(&share_field, &point->high);
        pm_append(&text, "%s\"%s: %s (%s to %s)\"", i ? ", " : "", distance, share, low, high);
        char *const owned[] = {distance, share, low, high};
        for (size_t k = 0; k < sizeof owned / sizeof owned[0]; k++)
            free(owned[k]);
    }
    pm_append(&text, "}");
    return text;
}

/* "6.25 MiB" */
static char *bytes_text(double bytes) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    for (; unit + 1 < sizeof units / sizeof units[0] && bytes >= 1024; unit++)
        bytes /= 1024;
    return pm_sprintf("%.3g %s", bytes, units[unit]);
}

char *pm_level_serves_text(const struct pm_level *level) {
    const struct pm_response *serves = &level->serves;
    if (!serves->n_points)
        return NULL;
    const double half = 0.5, first = serves->points[0].share,
                 last = serves->points[serves->n_points - 1].share;
    char *size = bytes_text((double)level->size_bytes),
         *distance = bytes_text(pm_response_half_bytes(serves)),
         *text = pm_sprintf("%s, of %s, is shared: it serves ", level->name, size);
    if (first < half)
        pm_append(&text, "%.2g%% of the reuses at most.", 100 * first);
    else if (last > half)
        pm_append(&text, "%.2g%% of the reuses at %s and more.", 100 * last, distance);
    else
        pm_append(&text, "half of the reuses at %s.", distance);
    free(size);
    free(distance);
    return text;
}
