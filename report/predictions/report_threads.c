/* A table of threads and their misses; see report.h. */
#include "report/report.h"

#include <inttypes.h>
#include <stdlib.h>

#include "report/labels/labels.h"
#include "report/writers/writers.h"

static char *stream_label(const struct pm_stream *stream, bool several_processes) {
    char *process =
        several_processes ? pm_sprintf(" of process %" PRIu32, stream->process) : pm_strdup("");
    char *label = stream->kind == PM_STREAM_THREAD
                      ? pm_sprintf("thread %" PRIu32 "%s", stream->thread, process)
                  : stream->kind == PM_STREAM_SHARED ? pm_sprintf("all interleaved%s", process)
                                                     : pm_strdup("all threads added up");
    free(process);
    return label;
}

void pm_report_threads(FILE *out, const struct pm_machine *machine,
                       const struct pm_thread_misses *threads, size_t n,
                       const struct pm_report_options *options) {
    struct pm_text_table *table = pm_text_table_new();
    bool several = false;
    for (size_t i = 0; i < n; i++)
        several = several || threads[i].stream.process > 0;
    pm_text_table_column(table, "THREAD", PM_COLUMN_TEXT);
    pm_text_table_column(table, "ACCESSES", PM_COLUMN_NUMBER);
    for (size_t l = 0; l < machine->n_levels; l++) {
        char *title = pm_sprintf("%s MISSES", machine->levels[l].name);
        pm_text_table_column(table, title, PM_COLUMN_NUMBER);
        free(title);
    }
    for (size_t i = 0; i < n; i++) {
        if (threads[i].accesses == 0)
            continue;
        char *label = stream_label(&threads[i].stream, several);
        pm_text_table_cell(table, label);
        pm_text_table_cell(table, pm_count_text(threads[i].accesses).text);
        for (size_t l = 0; l < machine->n_levels; l++)
            pm_text_table_cell(table, pm_count_text(threads[i].misses[l]).text);
        free(label);
    }
    fprintf(out, "\nthreads, each with caches of its own, on %s\n", machine->title);
    pm_text_table_print(out, table, options);
    pm_text_table_free(table);
}
