/* What the files of prepare/ share. */
#ifndef PM_FIT_PREPARE_PRIVATE_H
#define PM_FIT_PREPARE_PRIVATE_H

#include "fit/prepare/prepare.h"

/* The functions of a model set, each once. */
struct pm_function_list {
    PM_ARRAY(char *, texts); /* owned */
};

/* 1, N, N^2 … N^4, log2(N), N*log2(N), N^2*log2(N) of parameter NAME: see PM_FIT_BASIS. */
void pm_functions_add_standard(struct pm_function_list *all, const char *name);

/* The design over the functions of a list TEXT of --basis, NULL: the default ones.  New ones are
   added to ALL; what is left out harmlessly is noted in STATISTICS. */
struct pm_design *pm_design_of_list(struct pm_function_list *all, const char *text,
                                    const struct pm_path *path,
                                    struct pm_fit_statistics *statistics, struct pm_error *err);

/* Gives DESIGN an alternative with logarithms, for counts. */
bool pm_design_add_logarithms(struct pm_function_list *all, struct pm_design *design,
                              const struct pm_path *path, struct pm_error *err);

/* Gives DESIGN an alternative for each function that --search tries: with 1, N … N^3 beside it. */
bool pm_design_add_search(struct pm_function_list *all, struct pm_design *design,
                          const struct pm_path *path, struct pm_error *err);

#endif
