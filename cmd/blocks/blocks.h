/* `pmodel loops --blocks FILE`: basic blocks as bytes, measured on this machine and predicted for
   another one, unrolled and in a loop. */
#ifndef PM_CMD_BLOCKS_H
#define PM_CMD_BLOCKS_H

#include "core/machine/machine.h"
#include "report/report.h"

/* A line of the file. */
struct pm_given_block {
    uint8_t *bytes; /* owned */
    size_t n_bytes;
    unsigned line;    /* of the file, from 1 */
    unsigned counter; /* a general register that the block leaves alone */
};

struct pm_given_blocks {
    PM_ARRAY(struct pm_given_block, blocks);
};

/* Reads PATH: a line a block, hexadecimal digits and the number of a general register (0 rax, 1
   rcx, 2 rdx, 3 rbx, 5 rbp, 6 rsi, 7 rdi, 8 to 15), which the block leaves alone, between tabs;
   what follows another tab is not read, nor are empty lines and those that begin with #.  False
   with a sentence that names the first bad line.  Freed by pm_given_blocks_free, also then. */
bool pm_given_blocks_read(const char *path, struct pm_given_blocks *blocks, struct pm_error *err);
void pm_given_blocks_free(struct pm_given_blocks *blocks);

/* Cycles of each of BLOCKS on MACHINE, into ROWS: two for each, unrolled and in a loop; NAN where
   the block cannot be lifted or has operations without a cost. */
bool pm_predict_blocks(const struct pm_given_blocks *blocks, const struct pm_machine *machine,
                       struct pm_block_row *rows, struct pm_error *err);

/* All of it: reads PATH, runs the blocks if MEASURES, predicts them for MACHINE (NULL: not), and
   prints.  The exit status. */
int pm_show_blocks(const char *path, bool measures, const struct pm_machine *machine,
                   const struct pm_report_options *options);

#endif
