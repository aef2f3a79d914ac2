/* Work in code that was not measured, of which the models say nothing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit/private.h"
#include "fit/warnings/private.h"

/* Of the time: less in code that is not measured is start-up and output. */
static const double outside_share = 0.05;
/* Of the time: files with less are not named. */
static const double outside_listed = 0.01;
/* Files that may have the time, at most. */
enum { outside_named = 3 };
/* Samples of a program's time: fewer tell nothing of a share. */
enum { outside_samples = 20 };

static const char *name_of(const struct pm_file_time *file) {
    const char *slash = file->path ? strrchr(file->path, '/') : NULL;
    return slash ? slash + 1 : file->path ? file->path : "code that is in no file";
}

/* "libbz2.so.1.0 96% (`pmodel run --lib libbz2.so.1.0` measures it), libc.so.6 2%" */
static char *list_files(const struct pm_file_times *times, double all) {
    char *text = pm_strdup("");
    for (size_t i = 0; i < times->n_files; i++) {
        const struct pm_file_time *file = &times->files[i];
        if (file->measured || file->samples < outside_listed * all)
            continue;
        pm_append(&text, "%s%s %.0f%%", *text ? ", " : "", name_of(file),
                  100 * file->samples / all);
        if (file->measurable)
            pm_append(&text, " (`pmodel run --lib %s` measures it)", name_of(file));
    }
    return text;
}

/* Nobody looked where the time goes. */
static void warn_of_unknown(const struct pm_file_times *times, struct pm_warnings *warnings) {
    char *names = pm_strdup("");
    const char *first = NULL;
    size_t n = 0;
    for (size_t i = 0; i < times->n_files; i++) {
        if (!times->files[i].measurable || times->files[i].measured)
            continue;
        const char *name = name_of(&times->files[i]);
        first = first ? first : name;
        if (n++ < outside_named)
            pm_append(&names, "%s%s", *names ? ", " : "", name);
    }
    if (n)
        pm_warning_add(
            warnings, PM_WARNING_UNKNOWN, NAN,
            "what the program does in %s%s is in no figure here, and how much of its "
            "time that is is not known: `pmodel run --outside` of a size that takes 20 ms or "
            "more finds out, `--lib %s` measures it.",
            names, n > outside_named ? ", …" : "", first);
    free(names);
}

void pm_warn_of_outside(const struct pm_file_times *times, const struct pm_parameters *at,
                        struct pm_warnings *warnings) {
    double all = 0, outside = 0;
    for (size_t i = 0; i < times->n_files; i++) {
        all += times->files[i].samples;
        outside += times->files[i].measured ? 0 : times->files[i].samples;
    }
    if (all == 0)
        warn_of_unknown(times, warnings);
    if (all < outside_samples || outside < outside_share * all)
        return;
    char *files = list_files(times, all), *size = pm_parameters_text(at);
    pm_warning_add(warnings, PM_WARNING_OUTSIDE, outside / all,
                   "%.0f%% of the program's time%s%s was in code that is not measured and is in no "
                   "figure here: %s.",
                   100 * outside / all, *size ? " at " : "", size, *files ? files : "many files");
    free(files);
    free(size);
}
