/* The old text after its code has moved: int3 over what is proven to be code, trampolines where
   control may still arrive, calls that stay.  Every start of a block that has none is in the table
   of traps too, so that control that arrives unforeseen is redirected by the runtime, and counted,
   instead of ending the program; so is every instruction of a routine with a jump to unknown
   targets.

   Needs the laid-out code.  Fills pm_new_code.image and traps. */
#include "binlift/x86/rewrite/private.h"

#include <stdlib.h>
#include <string.h>

enum { INT3 = 0xcc, JUMP = 0xe9, SHORT_JUMP = 0xeb };

struct old_text {
    struct pm_rewrite *rewrite;
    const struct pm_lifted *lifted;
    bool reaches; /* all jumps so far span less than 2 GiB */
};

static uint8_t *byte_at(const struct old_text *text, uint64_t address, uint64_t n_bytes) {
    const uint8_t *original = pm_image_at(&text->lifted->image, address, n_bytes);
    return text->rewrite->made->image + (original - text->lifted->image.bytes);
}

static void put_distance(struct old_text *text, uint64_t field, uint64_t target) {
    int64_t distance = (int64_t)(target - (field + 4));
    int32_t value = (int32_t)distance;
    memcpy(byte_at(text, field, 4), &value, sizeof value);
    text->reaches &= value == distance;
}

static void clear_blocks(struct old_text *text) {
    const struct pm_structure *structure = text->lifted->structure;
    for (uint32_t b = 0; b < structure->n_blocks; b++) {
        const struct pm_block_code *code = &text->lifted->block_codes[b];
        if (!text->rewrite->plan->block_moves[b])
            continue;
        for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++) {
            const struct pm_insn *insn = &text->lifted->insns[k];
            if (text->rewrite->call_forms[k] != PM_CALL_IN_PLACE)
                memset(byte_at(text, insn->address, insn->length), INT3, insn->length);
        }
    }
}

/* After the blocks were cleared. */
static void restore_read_bytes(struct old_text *text) {
    const struct pm_image *original = &text->lifted->image;
    for (size_t i = 0; i < text->rewrite->plan->n_read_bytes; i++)
        for (uint64_t at = text->rewrite->plan->read_bytes[i].low;
             at < text->rewrite->plan->read_bytes[i].high; at++) {
            const uint8_t *byte = pm_image_at(original, at, 1);
            if (byte)
                text->rewrite->made->image[byte - original->bytes] = *byte;
        }
}

/* Calls that stay go straight to the new entry of what they call. */
static void redirect_calls(struct old_text *text) {
    for (uint32_t k = 0; k < text->lifted->n_insns; k++) {
        const struct pm_insn *insn = &text->lifted->insns[k];
        if (text->rewrite->call_forms[k] != PM_CALL_IN_PLACE || insn->control != PM_CONTROL_CALL)
            continue;
        struct pm_target target = pm_x86_outer_target(text->rewrite, insn->target);
        if (target.label != PM_NONE &&
            !pm_is_read_as_data(text->rewrite->plan, insn->address, insn->length))
            put_distance(text, insn->address + insn->length - 4,
                         pm_code_label_address(&text->rewrite->code, target.label));
    }
}

/* A return address inside a block goes on at the instruction itself. */
uint64_t pm_x86_new_address(const struct pm_rewrite *rewrite, uint64_t address) {
    struct pm_target target = pm_x86_outer_target(rewrite, address);
    uint32_t label = target.label != PM_NONE ? target.label : pm_insn_at(rewrite->lifted, address);
    return pm_code_label_address(&rewrite->code, label);
}

static void add_trap(struct old_text *text, uint64_t from, bool is_expected) {
    *PM_PUSH(text->rewrite->made, traps) =
        (struct pm_probe_trap){from, pm_x86_new_address(text->rewrite, from), is_expected, 0};
}

static void put_trampoline(struct old_text *text, const struct pm_trampoline *trampoline) {
    uint64_t jump = trampoline->from;
    switch (trampoline->form) {
    case PM_TRAMPOLINE_TRAP:
        *byte_at(text, trampoline->from, 1) = INT3;
        return;
    case PM_TRAMPOLINE_HOP: {
        uint8_t *hop = byte_at(text, trampoline->from, 2);
        hop[0] = SHORT_JUMP;
        hop[1] = (uint8_t)(trampoline->hole - (trampoline->from + 2));
        jump = trampoline->hole;
        break;
    }
    default:
        break;
    }
    *byte_at(text, jump, 5) = JUMP;
    put_distance(text, jump + 1, pm_x86_new_address(text->rewrite, trampoline->from));
}

static int compare_traps(const void *left, const void *right) {
    const struct pm_probe_trap *a = left, *b = right;
    /* Of two for one address the expected one comes first, and stays. */
    return a->from != b->from ? PM_COMPARE(a->from, b->from)
                              : PM_COMPARE(b->is_expected, a->is_expected);
}

/* Trampolines that are traps, and starts of blocks where an int3 is left. */
static void list_traps(struct old_text *text) {
    struct pm_rewrite *rewrite = text->rewrite;
    const struct pm_structure *structure = text->lifted->structure;
    uint32_t n = 0;
    for (uint32_t i = 0; i < rewrite->n_trampolines; i++)
        if (rewrite->trampolines[i].form == PM_TRAMPOLINE_TRAP)
            add_trap(text, rewrite->trampolines[i].from, true);
    for (uint32_t b = 0; b < structure->n_blocks; b++) {
        const struct pm_block_code *code = &text->lifted->block_codes[b];
        bool anywhere = pm_may_be_entered_anywhere(text->lifted, structure->blocks[b].routine);
        uint32_t n_insns = anywhere ? code->n_insns : 1;
        for (uint32_t k = code->first_insn; k < code->first_insn + n_insns; k++)
            if (rewrite->plan->block_moves[b] &&
                *byte_at(text, text->lifted->insns[k].address, 1) == INT3)
                add_trap(text, text->lifted->insns[k].address, false);
    }
    PM_SORT(rewrite->made->traps, rewrite->made->n_traps, compare_traps);
    for (uint32_t i = 0; i < rewrite->made->n_traps; i++)
        if (n == 0 || rewrite->made->traps[n - 1].from != rewrite->made->traps[i].from)
            rewrite->made->traps[n++] = rewrite->made->traps[i];
    rewrite->made->n_traps = n;
}

bool pm_x86_patch_old_text(struct pm_rewrite *rewrite) {
    struct old_text text = {rewrite, rewrite->lifted, true};
    clear_blocks(&text);
    restore_read_bytes(&text);
    redirect_calls(&text);
    for (uint32_t i = 0; i < rewrite->n_trampolines; i++)
        put_trampoline(&text, &rewrite->trampolines[i]);
    list_traps(&text);
    return text.reaches;
}
