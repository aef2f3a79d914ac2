/* `pmodel bound STORE...`: builds of a program side by side, the best time against the best lower
   bound (Fursin, O'Boyle, Temam & Watts 2004, section 5.5).

   JSON: {"format": "pmodel-bound-builds", "version": 1, "best_seconds", "best_bound_seconds",
   "builds": [a build each]}. */
#include <math.h>
#include <stdlib.h>

#include "report/report.h"
#include "report/writers/writers.h"

#define BUILD(member_) PM_MEMBER(struct pm_bound_build, member_)

PM_GETTER(speed_up_value, struct pm_bound_build, pm_number(row->seconds / row->bound_seconds))

static const struct pm_field fields[] = {
    {"store", PM_NAME, BUILD(name), .header = "BUILD"},
    {"parameters", PM_TEXT, BUILD(parameters), .header = "SIZE", .dispensable = 1},
    {"seconds", PM_SECONDS, BUILD(seconds), .header = "TIME"},
    {"bound_seconds", PM_SECONDS, BUILD(bound_seconds), .header = "LOWER BOUND"},
    {"speed_up", PM_RATE, .get = speed_up_value, .header = "SPEED-UP"},
    {"bounded_share", PM_PERCENT, BUILD(bounded_share), .header = "% BOUNDED"},
};

static int by_seconds(const void *left, const void *right) {
    const struct pm_bound_build *a = left, *b = right;
    return PM_COMPARE(a->seconds, b->seconds);
}

static const struct pm_bound_build *lowest_bound(const struct pm_bound_build *builds, size_t n) {
    const struct pm_bound_build *best = &builds[0];
    for (size_t i = 1; i < n; i++)
        if (builds[i].bound_seconds < best->bound_seconds)
            best = &builds[i];
    return best;
}

static void write_json(FILE *out, const struct pm_bound_build *builds, size_t n) {
    json_t *document = pm_json_document("bound-builds");
    json_object_set_new(document, "best_seconds", pm_json_number(builds[0].seconds));
    json_object_set_new(document, "best_bound_seconds",
                        pm_json_number(lowest_bound(builds, n)->bound_seconds));
    json_object_set_new(document, "builds",
                        pm_fields_array(PM_FIELDS(fields), builds, n, sizeof *builds));
    pm_json_print(out, document);
}

static void write_table(FILE *out, const struct pm_bound_build *builds, size_t n,
                        const struct pm_report_options *options) {
    const struct pm_bound_build *lowest = lowest_bound(builds, n);
    pm_fields_table(out, PM_FIELDS(fields), builds, n, sizeof *builds, options);
    pm_print_line(out, options,
                  "best time %s (%s), best lower bound %s (%s): whatever else is done for the "
                  "memory of these builds makes the best of them at most %.2f times as fast",
                  pm_seconds_text(builds[0].seconds).text, builds[0].name,
                  pm_seconds_text(lowest->bound_seconds).text, lowest->name,
                  builds[0].seconds / lowest->bound_seconds);
}

void pm_report_bound_builds(FILE *out, struct pm_bound_build *builds, size_t n,
                            const struct pm_report_options *options) {
    PM_SORT(builds, n, by_seconds);
    if (options->format == PM_REPORT_JSON)
        write_json(out, builds, n);
    else if (options->format == PM_REPORT_CSV)
        pm_fields_csv(out, PM_FIELDS(fields),
                      "store parameters seconds bound_seconds speed_up bounded_share", builds, n,
                      sizeof *builds);
    else
        write_table(out, builds, n, options);
}
