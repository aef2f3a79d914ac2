/* Loops of probe instructions, made at run time and executed.

   A form is an instruction with operands of given sorts, one line of machines/ISA.probes.
   A loop holds copies of some forms, with registers of their own (or all in one chain), and is run
   by pm_cycles (machines/probe/clock/clock.h).

   Of copies that are to be independent the destinations go through all free registers, so that what
   reads its own result waits as little as can be, and sources are registers that nothing writes.
   What an instruction needs each time anew, such as the dividend of a division or the mask of a
   gather, is put before it (its prelude). */
#ifndef PM_CODE_H
#define PM_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/base.h"
#include "core/structure/structure.h"

/* Files of registers. */
enum pm_register_file {
    PM_FILE_NONE = 0, /* memory, or nothing */
    PM_FILE_GENERAL,
    PM_FILE_VECTOR,
    PM_FILE_MASK,
    PM_FILE_FLAGS,
    PM_N_FILES
};

struct pm_form {
    char *text;                /* "vaddpd ymm0, ymm1, ymm2" */
    char *mnemonic;            /* "vaddpd" */
    enum pm_op_class op_class; /* PM_OP_UNKNOWN: of several classes */
    uint32_t width_bits, element_bytes;
    bool leads;                         /* the first of its class, width and element */
    bool is_load, is_store, is_control; /* of operands that are memory; jumps, calls */
    bool reads_flags, writes_flags;     /* conditions */
    bool needs_prelude;                 /* see above */
    bool carries_flags;                 /* it reads the flags that it writes: add with carry */
    enum pm_register_file from, to;     /* of its first source, of its destination */
    double chain_extra_cycles;          /* of a chain's copies beside the instruction itself */
    bool can_link;                      /* it can stand in a chain */
    bool can_chain;                     /* … of copies of itself */
    bool executes;                      /* this processor does, without a fault */
    struct pm_form_code *code;          /* what code/ keeps of it */
};

struct pm_forms {
    PM_ARRAY(struct pm_form, forms);
};

/* Reads a list of probe instructions.  Lines of ISA's instructions that the encoder does not know
   are an error. */
bool pm_forms_read(const char *path, struct pm_forms *forms, struct pm_error *err);
void pm_forms_free(struct pm_forms *forms);
/* Finds out which of them this processor executes, by executing each. */
void pm_forms_try(struct pm_forms *forms);

/* ---- loops ----------------------------------------------------------------------------------- */

enum pm_wiring {
    PM_WIRED_APART, /* copies are independent */
    PM_WIRED_CHAIN, /* each waits for the one before: the result of a form is the first source of
                       the next, and of the last of the first */
};

/* COUNT copies of a form. */
struct pm_form_count {
    const struct pm_form *form;
    unsigned count;
};

struct pm_probe_loop; /* executable code */

/* A loop whose body is the multiset COPIES again and again, its members spread evenly, until it
   has LEAST instructions or more (0: some hundred, so that the loop's own branch counts for
   little). NULL: a form does not execute here, or they make no chain. */
struct pm_probe_loop *pm_probe_loop_make(const struct pm_form_count *copies, size_t n,
                                         enum pm_wiring wiring, unsigned least);
/* A loop whose body is these instructions as they stand, once (rdi, rbp, rbx, ecx and vectors 11 to
   15 as the forms have them; r15 counts). */
struct pm_probe_loop *pm_probe_loop_of(const char *const *instructions, size_t n);
void pm_probe_loop_free(struct pm_probe_loop *loop);
/* Executes it twice; false: it faulted. */
bool pm_probe_loop_can_run(struct pm_probe_loop *loop);
/* How often the multiset stands in the body. */
unsigned pm_probe_loop_times(const struct pm_probe_loop *loop);
/* A pm_work: executes the body TIMES times. */
void pm_probe_loop_run(void *loop, uint64_t times);

#endif
