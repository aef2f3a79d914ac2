/* Machine code that grows by appending, with labels, pc-relative fields that are filled in at the
   end, and jumps that are laid out short where they reach.  Private to the writing half of
   binlift/x86/. */
#ifndef PM_X86_CODE_H
#define PM_X86_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/base.h"
#include "core/structure/structure.h"

/* Where a jump or a pc-relative field points: a label, or an address if `label` is PM_NONE. */
struct pm_target {
    uint32_t label;
    uint64_t address;
};

static inline struct pm_target pm_to_label(uint32_t label) { return (struct pm_target){label, 0}; }

static inline struct pm_target pm_to_address(uint64_t address) {
    return (struct pm_target){PM_NONE, address};
}

/* A place whose size the layout decides. */
struct pm_code_item {
    uint32_t offset;   /* in `bytes`, where it stands */
    uint8_t kind;      /* enum pm_code_item_kind */
    uint8_t condition; /* of a conditional branch, as in its opcode; of an alignment the rest */
    uint8_t boundary;  /* of an alignment, in bytes */
    uint8_t size;      /* decided by pm_code_layout */
    struct pm_target target;
};

enum pm_code_item_kind { PM_ITEM_ALIGN, PM_ITEM_JUMP, PM_ITEM_BRANCH };

/* A place in `bytes`, and how many items stand before it. */
struct pm_code_place {
    uint32_t offset, n_items_before;
};

struct pm_fixup { /* a signed 32-bit field, relative to the end of its instruction */
    struct pm_code_place place;
    uint8_t to_end; /* bytes from the field to the instruction's end */
    struct pm_target target;
};

struct pm_code {
    PM_ARRAY(uint8_t, bytes); /* without the items */
    PM_ARRAY(struct pm_code_item, items);
    PM_ARRAY(struct pm_fixup, fixups);
    PM_ARRAY(struct pm_code_place, labels);
    uint64_t address;    /* of the first byte, once laid out */
    uint32_t *shift;     /* n_items + 1: bytes of the items before item i */
    uint32_t size_bytes; /* with the items */
};

void pm_code_free(struct pm_code *code);

void pm_code_append(struct pm_code *code, const void *bytes, size_t n_bytes);
void pm_code_byte(struct pm_code *code, uint8_t byte);
void pm_code_word(struct pm_code *code, uint32_t word); /* 32 bits */

/* Where what is appended next will stand. */
struct pm_code_place pm_code_here(const struct pm_code *code);
uint32_t pm_code_new_labels(struct pm_code *code, uint32_t n); /* first of N, not yet bound */
void pm_code_bind(struct pm_code *code, uint32_t label);       /* to what is appended next */

/* Fills by no-ops up to an address that leaves REST when divided by BOUNDARY, a power of two. */
void pm_code_align(struct pm_code *code, uint8_t boundary, uint8_t rest);
void pm_code_jump(struct pm_code *code, struct pm_target target);
void pm_code_branch(struct pm_code *code, uint8_t condition, struct pm_target target);
/* Appends a 32-bit field that is pc-relative to the byte TO_END bytes after the field's start. */
void pm_code_relative(struct pm_code *code, struct pm_target target, uint8_t to_end);
/* The same for a field that was appended before, at OFFSET of the bytes since the last item. */
void pm_code_relative_at(struct pm_code *code, uint32_t offset, struct pm_target target,
                         uint8_t to_end);

/* Gives every item its size for code that starts at ADDRESS. */
void pm_code_layout(struct pm_code *code, uint64_t address);
uint64_t pm_code_place_address(const struct pm_code *code, struct pm_code_place place);
uint64_t pm_code_label_address(const struct pm_code *code, uint32_t label);
/* Writes size_bytes bytes to OUT; false if a field does not reach its target. */
bool pm_code_write(const struct pm_code *code, uint8_t *out);

#endif
