/* --role, --interval and --ordinal: what of a store's runs a command is about
   (core/selection/selection.h).  Read here for all commands that have them. */
#ifndef PM_SELECTING_H
#define PM_SELECTING_H

#include "cmd/options.h"
#include "core/store/store.h"

struct pm_selecting {
    const char *role, *interval, *ordinal; /* as they stand on the command line; NULL: not given */
    char *text;                            /* what is selected, for reports; NULL: all; owned */
};
void pm_selecting_free(struct pm_selecting *selecting); /* what it owns */

/* Lines of a table of options; AT: struct pm_selecting. */
#define PM_OPTIONS_SELECTING(at_)                                                                  \
    PM_TEXT("role", 0, "NAME", at_ + offsetof(struct pm_selecting, role),                          \
            "of an MPI program the mean rank of a role"),                                          \
        PM_TEXT("interval", 0, "KIND", at_ + offsetof(struct pm_selecting, interval),              \
                "one kind of interval, all of them added up"),                                     \
        PM_TEXT("ordinal", 0, "NAME", at_ + offsetof(struct pm_selecting, ordinal),                \
                "not added up, but by their number as NAME")

/* Selects in STORE what was asked for, and says so in OPTIONS (NULL: no report).  Errors: a store
   without ranks or intervals, a role or kind that there is not, a name that several kinds have. */
bool pm_select_in(struct pm_store *store, struct pm_selecting *selecting,
                  struct pm_report_options *options, struct pm_error *err);

/* Names of the calls at the ends of KINDS, by path, which all differ; freed by
   pm_call_path_names_free. */
char **pm_interval_end_names(const struct pm_structure *structure,
                             const struct pm_call_paths *paths,
                             const struct pm_interval_kinds *kinds);
/* With these NAMES both ends of KIND: "solve:112 MPI_Recv", "begin", "end". */
const char *pm_interval_begin(char *const *names, const struct pm_interval_kind *kind);
const char *pm_interval_end(char *const *names, const struct pm_interval_kind *kind);

#endif
