/* What the files of this folder share. */
#ifndef PM_BOUND_COPY_PRIVATE_H
#define PM_BOUND_COPY_PRIVATE_H

#include "binlift/x86/rewrite/shadow_loop/shadow_loop.h"
#include "binlift/x86/rewrite/code_buffer.h"

/* ---- redirect.c ------------------------------------------------------------------------------ */

enum { PM_MOST_REDIRECTED_BYTES = 20 }; /* a memory operand without a displacement gets one */

/* An instruction with another operand in the place of its memory operand. */
struct pm_redirected {
    uint8_t bytes[PM_MOST_REDIRECTED_BYTES];
    uint8_t length;
    uint8_t displacement_at; /* of 32 bits, pc-relative; 0: none */
};

/* The instruction at BYTES with a pc-relative operand; false: it has no memory operand in a ModRM
   byte, or one with a vector of indices. */
bool pm_x86_to_pc_relative(const uint8_t *bytes, unsigned length, struct pm_redirected *made);
/* … with general register REG, 0–15, in the place of an operand that it loads and stores; false:
   there is no such form. */
bool pm_x86_to_register(const uint8_t *bytes, unsigned length, unsigned reg,
                        struct pm_redirected *made);
/* Is it encoded as AVX and its successors are? */
bool pm_x86_is_vex(const uint8_t *bytes, unsigned length);
/* Is it a prefetch?  Those are no references, but would miss. */
bool pm_x86_is_prefetch(const uint8_t *bytes, unsigned length);

/* ---- replay_branches.c ----------------------------------------------------------------------- */

/* Where the word of a replayed branch is: in a general register, or a vector, or in memory, which
   is slowest. */
enum pm_replay_place { PM_REPLAY_IN_MEMORY = 0, PM_REPLAY_IN_REGISTER, PM_REPLAY_IN_VECTOR };

struct pm_replayed_branch {
    struct pm_target state; /* struct pm_bound_replay */
    struct pm_target taken;
    uint8_t place;          /* enum pm_replay_place */
    uint8_t reg;            /* general, or vector; 0–15 */
    bool vex;               /* of a vector: as the nest's other instructions are encoded */
    uint32_t refill, again; /* labels */
};

/* In the place of the branch.  How many instructions there are besides it. */
unsigned pm_x86_put_replayed(struct pm_code *code, const struct pm_replayed_branch *branch);
/* Out of line: takes the next word. */
void pm_x86_put_refill(struct pm_code *code, const struct pm_replayed_branch *branch);
/* At the copy's entry and at its end: the word comes from memory, and goes back there. */
void pm_x86_put_replay_start(struct pm_code *code, const struct pm_replayed_branch *branch);
void pm_x86_put_replay_end(struct pm_code *code, const struct pm_replayed_branch *branch);

/* OPCODE of 64 bits with REG and the operand [rip + TARGET + OFFSET]. */
void pm_x86_put_pc_relative(struct pm_code *code, uint8_t opcode, unsigned reg,
                            struct pm_target target, uint32_t offset);

#endif
