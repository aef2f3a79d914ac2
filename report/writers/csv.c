/* Comma-separated values as RFC 4180 defines them; see writers.h. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/parameters.h"
#include "report/writers/writers.h"

static void begin_field(struct pm_csv *csv) {
    if (csv->inside_line)
        fputc(',', csv->out);
    csv->inside_line = true;
}

void pm_csv_text(struct pm_csv *csv, const char *text) {
    begin_field(csv);
    if (!text)
        return;
    if (!text[strcspn(text, ",\"\r\n")]) {
        fputs(text, csv->out);
        return;
    }
    fputc('"', csv->out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', csv->out);
        fputc(*text, csv->out);
    }
    fputc('"', csv->out);
}

void pm_csv_number(struct pm_csv *csv, double value) {
    if (!isfinite(value)) {
        pm_csv_text(csv, NULL);
        return;
    }
    char text[64];
    pm_format_value(value, text, sizeof text);
    pm_csv_text(csv, text);
}

void pm_csv_integer(struct pm_csv *csv, uint64_t value) {
    begin_field(csv);
    fprintf(csv->out, "%" PRIu64, value);
}

void pm_csv_hex(struct pm_csv *csv, uint64_t value) {
    begin_field(csv);
    fprintf(csv->out, "0x%" PRIx64, value);
}

void pm_csv_end_line(struct pm_csv *csv) {
    fputs("\r\n", csv->out);
    csv->inside_line = false;
}
