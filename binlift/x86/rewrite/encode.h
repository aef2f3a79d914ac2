/* The few instructions that the rewriter adds, each appended to the code.  Registers are hardware
   numbers 0–15; none of these changes the flags but where it says so.  Private to the writing half
   of binlift/x86/. */
#ifndef PM_X86_ENCODE_H
#define PM_X86_ENCODE_H

#include "binlift/isa.h"
#include "binlift/x86/rewrite/code_buffer.h"

enum { PM_RAX = 0, PM_RCX = 1, PM_RSP = 4, PM_RSI = 6, PM_RDI = 7 };
enum { PM_CONDITION_NE = 5, PM_CONDITION_A = 7 };

/* ---- the control block, by %gs and an offset ---- */
void pm_put_load_gs(struct pm_code *code, unsigned reg, uint32_t offset);
void pm_put_store_gs(struct pm_code *code, unsigned reg, uint32_t offset);
void pm_put_increment_gs(struct pm_code *code, uint32_t offset);                 /* changes flags */
void pm_put_compare_gs(struct pm_code *code, unsigned reg, uint32_t offset);     /* changes flags */
void pm_put_compare_tag_gs(struct pm_code *code, uint32_t tag, uint32_t offset); /* changes flags */
void pm_put_store_tag_gs(struct pm_code *code, uint32_t tag, uint32_t offset);
/* These three change flags; WIDE: 64 bits, else 32 and the upper half becomes 0. */
void pm_put_subtract_gs(struct pm_code *code, unsigned reg, uint32_t offset, bool wide);
void pm_put_negate(struct pm_code *code, unsigned reg, bool wide);
void pm_put_shift_right(struct pm_code *code, unsigned reg, uint8_t n_bits, bool wide);
void pm_put_add_gs(struct pm_code *code, unsigned reg, uint32_t offset); /* changes flags */
/* At OFFSET + BASE, one of the first eight registers but %rsp: the condition CONDITION (as in
   opcodes of branches) as a byte; a number; the lower half of REG. */
void pm_put_set_gs_based(struct pm_code *code, uint8_t condition, unsigned base, uint32_t offset);
void pm_put_store_tag_gs_based(struct pm_code *code, uint32_t tag, unsigned base, uint32_t offset);
void pm_put_store_gs_based(struct pm_code *code, unsigned reg, unsigned base, uint32_t offset);
void pm_put_jump_gs(struct pm_code *code, uint32_t offset);

/* ---- memory and registers ---- */
void pm_put_store(struct pm_code *code, unsigned reg, unsigned base, int32_t displacement);
void pm_put_store_immediate(struct pm_code *code, int32_t value, unsigned base,
                            int32_t displacement);
void pm_put_add(struct pm_code *code, unsigned reg, int8_t number); /* changes flags */
void pm_put_lea(struct pm_code *code, unsigned reg, unsigned base, int32_t displacement);
/* base + index·scale + displacement; base or index may be PM_REGISTER_NONE. */
void pm_put_lea_indexed(struct pm_code *code, unsigned reg, uint8_t base, uint8_t index,
                        uint8_t scale, int32_t displacement);
void pm_put_lea_target(struct pm_code *code, unsigned reg, struct pm_target target);
void pm_put_load_fs_base(struct pm_code *code, unsigned reg); /* the thread's self pointer */

/* ---- flags in %rax; pm_put_restore_flags changes it ---- */
void pm_put_save_flags(struct pm_code *code);
void pm_put_restore_flags(struct pm_code *code);
/* The flags register through the stack below the red zone. */
void pm_put_read_flags_register(struct pm_code *code, unsigned reg);

/* ---- masks and vectors ---- */
void pm_put_read_mask(struct pm_code *code, unsigned reg, unsigned mask, bool wide);
void pm_put_store_xmm(struct pm_code *code, unsigned vector, unsigned base, int32_t displacement);
void pm_put_store_ymm(struct pm_code *code, unsigned vector, unsigned base, int32_t displacement);
void pm_put_store_zmm(struct pm_code *code, unsigned vector, unsigned base, int32_t displacement);

#endif
