/* `pmodel loops --dump` and `--svg`: what one pass made, a drawing of one routine. */
#ifndef PM_LOOPS_DUMP_H
#define PM_LOOPS_DUMP_H

#include "binlift/binlift.h"
#include "cmd/cmd.h"

struct pm_dump_request {
    const struct pm_dump_pass *pass;
    enum pm_dump_format format;
    const char *routine; /* NULL all */
    bool ignore_metadata;
};
int pm_dump_program(const char *path, const struct pm_dump_request *request);

struct pm_draw_request {
    const char *routine;
    bool instructions, ignore_metadata;
    unsigned max_blocks; /* 0: the usual limit */
};
int pm_draw_routine(const char *path, const struct pm_draw_request *request);

#endif
