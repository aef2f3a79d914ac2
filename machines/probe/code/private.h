/* What the files of code/ share. */
#ifndef PM_CODE_PRIVATE_H
#define PM_CODE_PRIVATE_H

#include <Zydis/Zydis.h>

#include "machines/probe/code/code.h"

enum { PM_MOST_PRELUDE = 2, PM_FORM_OPERANDS = 5 };

/* What becomes of an operand when the instruction is copied. */
enum pm_operand_role {
    PM_OPERAND_FIXED,  /* stays as written: immediates, cl of a shift */
    PM_OPERAND_RESULT, /* written: a register of the pool */
    PM_OPERAND_SOURCE, /* a register that nothing writes */
    PM_OPERAND_INDEX,  /* memory with a vector index */
    PM_OPERAND_MEMORY,
    PM_OPERAND_ADDRESS, /* computed, not accessed: of lea */
};

struct pm_form_code {
    ZydisEncoderRequest request;
    enum pm_operand_role roles[PM_FORM_OPERANDS];
    bool reads_result; /* its first operand is read, too */
    bool keeps_result; /* … or written in part: a copy waits for what it held */
    const char *prelude[PM_MOST_PRELUDE]; /* NULL: none */
};

/* ---- parse_forms.c --------------------------------------------------------------------------- */

/* The instruction that TEXT says, with memory operands of MEMORY_BYTES where it does not say their
   size; false: it is none, or no encoding is known. */
bool pm_parse_instruction(const char *text, unsigned memory_bytes, ZydisEncoderRequest *request);

/* ---- execute.c ------------------------------------------------------------------------------- */

/* What loops read and write: numbers near 1 at the begin, and places to store in the second page,
   with other offsets in it: what has the same offset as a load is taken for it at first. */
enum { PM_DATA_BYTES = 8192, PM_STORES_AT = 4096 + 2048 };

/* Calls CODE with the loop counter TIMES and DATA in place; false: it faulted. */
bool pm_execute(const void *code, uint64_t times, void *data);
/* The same of code that is known not to fault. */
void pm_execute_safe(const void *code, uint64_t times, void *data);

/* ---- assign.c -------------------------------------------------------------------------------- */

enum { PM_MOST_POOL = 11 };

/* Registers that results go to.  What reads its result, too, waits for whoever wrote it: such a
   copy gets the register that the fewest cycles of others were added to, and what only writes
   begins the longest of them anew.  Else a multiset would be as slow as a chain that is none of
   its own. */
struct pm_register_pool {
    unsigned n;
    unsigned cycles[PM_MOST_POOL];   /* of what waits for each other, last in this register */
    unsigned given_at[PM_MOST_POOL]; /* of equal ones, that which was given out first */
    unsigned now;
};

struct pm_register_pools {
    struct pm_register_pool general, vector, mask;
    bool chain; /* all in the first register */
};

struct pm_register_pools pm_register_pools(bool chain);
/* Cycles that COPIES of a form add to chains through general registers, as it is on all cores of
   today, roughly. */
unsigned pm_general_chain_cycles(const struct pm_form *form);
/* The registers of the general pool, so many, taken to begin anew, the longest chain first. */
enum { PM_GENERAL_POOL = 8 };
ZydisRegister pm_begin_chain_anew(struct pm_register_pools *pools);

/* The request of FORM's next copy. */
ZydisEncoderRequest pm_assign_registers(const struct pm_form *form,
                                        struct pm_register_pools *pools);

#endif
