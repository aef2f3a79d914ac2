/* Names that commands and options had before version 0.2; they go on working until the version
   after it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"

static const struct {
    const char *command, *option; /* of the command; NULL: with any options */
    const char *now;              /* the words in place of both */
    bool keeps_option;
} old_names[] = {
    {"explain", NULL, "report --as loop", false},
    {"annotate", NULL, "report --as source", false},
    {"html", NULL, "report --as page", false},
    {"plot", NULL, "report --as plot", false},
    {"roofline", NULL, "report --as roofline", false},
    {"convolve", NULL, "report --as convolution", false},
    {"model", NULL, "report --as formulas", false},
    {"scale", "--platform", "replay --scaling", true},
    {"scale", NULL, "report --as scaling", false},
    {"export", "--callgrind", "report --as callgrind", false},
    {"export", "--folded", "report --as folded", false},
    {"export", "--extrap", "report --as extrap", false},
    {"export", "--histograms", "show --as histograms", false},
    {"export", "--strides", "show --as strides", false},
    {"export", "--carried", "show --as carried", false},
    {"export", "--intervals", "show --as intervals", false},
    {"profile", NULL, "show --as profile", false},
    {"communication", NULL, "show --as communication", false},
    {"signature", NULL, "machines --curves", false},
    {"schedule", NULL, "loops --schedule", false},
    {"instrument", NULL, "run --instrument", false},
    {"report", "--tree", "report --as tree", false},
    {"report", "--ranks", "report --as ranks", false},
    {"report", "--intervals", "report --as intervals", false},
    {"report", "--threads", "report --as threads", false},
    {"report", "--carried", "report --as carried", false},
    {"fit", "--drop-divergent", "fit --drop-outliers", false},
};

/* Where OPTION stands in WORDS; 0: nowhere. */
static int place_of(const char *option, int n, char **words) {
    for (int i = 2; i < n && strcmp(words[i], "--") != 0; i++)
        if (strncmp(words[i], option, strlen(option)) == 0 && strchr("=", words[i][strlen(option)]))
            return i;
    return 0;
}

void pm_replace_old_name(int *argc, char ***argv) {
    char **old = *argv;
    for (size_t k = 0; k < sizeof old_names / sizeof *old_names; k++) {
        const char *option = old_names[k].option;
        int at = option ? place_of(option, *argc, old) : 0;
        bool has_view = strcmp(old[1], "report") == 0 && place_of("--as", *argc, old);
        if (strcmp(old[1], old_names[k].command) != 0 || (option && !at) || has_view)
            continue;
        /* The words live as long as the process. */
        char **words = pm_alloc((size_t)*argc + 3, sizeof *words),
             *rest = pm_strdup(old_names[k].now);
        bool is_export = strcmp(old[1], "export") == 0;
        int n = 0;
        words[n++] = old[0];
        for (char *word; (word = strsep(&rest, " "));)
            words[n++] = word;
        for (int i = 2; i < *argc; i++)
            if ((i != at || old_names[k].keeps_option) && !(is_export && strcmp(old[i], "-s") == 0))
                words[n++] = old[i];
        fprintf(stderr, "pmodel: `pmodel %s%s%s` is called `pmodel %s` now\n", old[1],
                option ? " " : "", option ? option : "", old_names[k].now);
        *argc = n;
        *argv = words;
        return;
    }
}
