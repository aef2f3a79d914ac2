/* Before everything else that is printed, in each of the three formats: what of the runs it is
   about, where that is not all, and warnings. */
#include "core/warnings.h"

#include "report/writers/writers.h"

void pm_print_warnings(FILE *out, const struct pm_report_options *options) {
    const struct pm_warnings *warnings = options->warnings;
    bool in_table = options->format == PM_REPORT_TABLE;
    if (options->format == PM_REPORT_JSON)
        return;
    if (options->selection)
        pm_print_wrapped(in_table ? out : stderr, in_table ? "of " : "pmodel: of ", "  ",
                         options->selection, in_table ? options->width : 0);
    for (size_t i = 0; warnings && i < warnings->n_list; i++)
        pm_print_wrapped(in_table ? out : stderr,
                         in_table ? "warning: " : "pmodel: warning: ", "  ", warnings->list[i].text,
                         in_table ? options->width : 0);
}

void pm_json_set_warnings(json_t *document, const struct pm_report_options *options) {
    const struct pm_warnings *warnings = options->warnings;
    json_t *array = json_array();
    if (options->selection)
        json_object_set_new(document, "selection", pm_json_text(options->selection));
    for (size_t i = 0; warnings && i < warnings->n_list; i++) {
        const struct pm_warning *warning = &warnings->list[i];
        json_t *object = json_object();
        json_object_set_new(object, "kind", json_string(pm_warning_word(warning->kind)));
        json_object_set_new(object, "share", pm_json_number(warning->share));
        json_object_set_new(object, "text", pm_json_text(warning->text));
        json_array_append_new(array, object);
    }
    json_object_set_new(document, "warnings", array);
}
