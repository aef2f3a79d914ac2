/* `pmodel report --as loop` and `pmodel report --as source`: one loop, or the lines of a source
 * file, of a store. */
#ifndef PM_CMD_EXPLAIN_H
#define PM_CMD_EXPLAIN_H

#include "cmd/cmd.h"
#include "core/source/source.h"

/* --source-dir FOLDER, for PM_ADDED; TO: struct pm_source_folders. */
bool pm_add_source_folder(void *to, char *folder, struct pm_error *err);

/* For each scope that a row is named after (fit/analysis/rows.h) whether LOOP, as reports name
   loops and routines, names it, one in it, or its routine; of NULL all.  The caller frees; NULL
   with a sentence. */
bool *pm_rows_named(const struct pm_structure *structure, const char *loop, const char *store_path,
                    struct pm_error *err);

#endif
