/* `pmodel doctor`: what works here and what does not.

   JSON: {"format": "pmodel-doctor", "version": 1, "checks": [{name, state, found, mend}]}; CSV: a
   line for each. */
#include "report/report.h"
#include "report/writers/writers.h"

static const char *state_word(uint8_t state) {
    static const char *const words[] = {
        [PM_HEALTH_FINE] = "fine", [PM_HEALTH_LIMITED] = "limited", [PM_HEALTH_BROKEN] = "broken"};
    return words[state];
}

PM_GETTER(state_value, struct pm_health_check, pm_text(state_word(row->state)))

static const struct pm_field fields[] = {
    {"name", PM_TEXT, PM_MEMBER(struct pm_health_check, name), .header = "WHAT"},
    {"state", PM_TEXT, .get = state_value, .header = "STATE"},
    {"found", PM_NAME, PM_MEMBER(struct pm_health_check, found), .header = "FOUND"},
    {"mend", PM_TEXT, PM_MEMBER(struct pm_health_check, mend)},
};

static void write_table(FILE *out, const struct pm_health_check *checks, size_t n,
                        const struct pm_report_options *options) {
    pm_fields_table(out, pm_fields_named(PM_FIELDS(fields), "name state found"), checks, n,
                    sizeof *checks, options);
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        if (!checks[i].mend)
            continue;
        fputs(any ? "" : "what to do:\n", out);
        pm_print_note(out, options, "%s: %s", checks[i].name, checks[i].mend);
        any = true;
    }
}

void pm_report_health(FILE *out, const struct pm_health_check *checks, size_t n,
                      const struct pm_report_options *options) {
    if (options->format == PM_REPORT_TABLE) {
        write_table(out, checks, n, options);
    } else if (options->format == PM_REPORT_CSV) {
        pm_fields_csv(out, PM_FIELDS(fields), "name state found mend", checks, n, sizeof *checks);
    } else {
        json_t *document = pm_json_document("doctor");
        json_object_set_new(document, "checks",
                            pm_fields_array(PM_FIELDS(fields), checks, n, sizeof *checks));
        pm_json_print(out, document);
    }
}
