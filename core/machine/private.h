/* Shared by the files of core/machine/ that read a machine file. */
#ifndef PM_MACHINE_PRIVATE_H
#define PM_MACHINE_PRIVATE_H

#include <confuse.h>
#include <stdbool.h>

/* Keeps one sentence with the file and the line of CFG; −1, as libconfuse's callbacks return. */
int pm_machine_refuse(const cfg_t *cfg, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* libconfuse's callbacks for what stands behind `name =`: a figure in its range (double), or one of
   the words of its name (long, the enumerator). */
int pm_machine_figure(cfg_t *cfg, cfg_opt_t *opt, const char *text, void *result);
int pm_machine_word(cfg_t *cfg, cfg_opt_t *opt, const char *text, void *result);

/* Makes spaces of all comments of a machine file's text; its lines keep their numbers. */
void pm_machine_blank_comments(char *text);

/* Whether NAME is that of a figure or of a word, which can be marked as not verified. */
bool pm_machine_is_value(const char *name);

#endif
