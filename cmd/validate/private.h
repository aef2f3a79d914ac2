/* What the files of `pmodel validate` share. */
#ifndef PM_VALIDATE_PRIVATE_H
#define PM_VALIDATE_PRIVATE_H

#include "cmd/measuring.h"

struct pm_validate_request {
    struct pm_measuring run; /* its store_path is --keep, its block sizes those to compare */
    const char *store_path;  /* with the models; only read */
    double *cache_blocks;    /* ascending; owned */
    size_t n_caches;
    struct pm_report_options options;
    bool hierarchy;     /* the whole beside its routines */
    const char *counts; /* classes that --hierarchy counts; NULL: the usual ones */
    bool measured_only; /* no command: the sizes that the models were made from */
    bool time;          /* seconds, in so many processes: */
    unsigned n_repetitions;
    const char *measured; /* or of another machine, in this file */
    bool has_min_percent;
    struct pm_predict_options predict;
};

/* 0, or the exit status after complaining.  Whoever asked frees what REQUEST owns, in any case. */
extern const struct pm_option pm_validate_options[];
int pm_validate_read_command_line(const struct pm_command *self,
                                  struct pm_validate_request *request, int argc, char **argv);

#endif
