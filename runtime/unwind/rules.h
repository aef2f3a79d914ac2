/* What a step over the stack comes to: between the files of this folder. */
#ifndef PM_RUNTIME_UNWIND_RULES_H
#define PM_RUNTIME_UNWIND_RULES_H

#include "runtime/unwind/unwind.h"

/* What a step at one place comes to, if it is as usual: the CFA at an offset from a register, the
   return address below it, registers that calls preserve in the frame or as they are. */
enum { PM_N_PRESERVED = 6 };
extern const uint8_t pm_preserved_registers[PM_N_PRESERVED];
struct pm_short_rule {
    int32_t cfa_offset;
    uint8_t cfa_register;
    bool is_valid;
    int16_t saved[PM_N_PRESERVED]; /* where, from the CFA, in words; 0: as it is */
};

/* The step by the tables (rules.c); *RULE: for the next time. */
enum pm_unwind_result pm_unwind_by_tables(struct pm_call_frame *frame, struct pm_short_rule *rule);

/* The value of an expression of N_BYTES bytes (expression.c); *FIRST, if any, is pushed
   before. */
bool pm_evaluate_expression(const uint8_t *expression, size_t n_bytes, struct pm_call_frame *frame,
                            const uint64_t *first, uint64_t *result);

#endif
