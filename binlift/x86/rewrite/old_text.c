/* The old text after its code has moved: int3 over what is proven to be code, landing jumps where
   control may still arrive, calls that stay.  Every start of a block that has no landing is in the
   table of traps too, so that a way in that was missed is redirected by the runtime, and counted,
   instead of ending the program; so is every instruction of a routine with a jump to unknown
   targets.

   Needs the laid-out code.  Fills the image and pm_rewrite.traps. */
#include "binlift/x86/rewrite/rewrite.h"

#include <stdlib.h>
#include <string.h>

enum { INT3 = 0xcc, JUMP = 0xe9, SHORT_JUMP = 0xeb };

struct old_text {
    struct pm_rewrite *rewrite;
    const struct pm_lifted *lifted;
    uint8_t *image;
    bool reaches; /* all jumps so far span less than 2 GiB */
};

static uint8_t *byte_at(const struct old_text *text, uint64_t address, uint64_t n_bytes) {
    const uint8_t *original = pm_image_at(&text->lifted->image, address, n_bytes);
    return text->image + (original - text->lifted->image.bytes);
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
        if (!text->rewrite->owned[b])
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
    for (size_t i = 0; i < text->rewrite->n_read; i++)
        for (uint64_t at = text->rewrite->read[i].low; at < text->rewrite->read[i].high; at++) {
            const uint8_t *byte = pm_image_at(original, at, 1);
            if (byte)
                text->image[byte - original->bytes] = *byte;
        }
}

/* Calls that stay go straight to the new entry of what they call. */
static void redirect_calls(struct old_text *text) {
    for (uint32_t k = 0; k < text->lifted->n_insns; k++) {
        const struct pm_insn *insn = &text->lifted->insns[k];
        if (text->rewrite->call_forms[k] != PM_CALL_IN_PLACE || insn->control != PM_CONTROL_CALL)
            continue;
        struct pm_target target = pm_x86_outer_target(text->rewrite, insn->target);
        if (target.label != PM_NONE && !pm_x86_is_read(text->rewrite, insn->address, insn->length))
            put_distance(text, insn->address + insn->length - 4,
                         pm_code_label_address(&text->rewrite->code, target.label));
    }
}

/* A return address inside a block goes on at the instruction itself. */
static uint64_t new_address(const struct old_text *text, uint64_t address) {
    struct pm_target target = pm_x86_outer_target(text->rewrite, address);
    uint32_t label = target.label != PM_NONE ? target.label : pm_insn_at(text->lifted, address);
    return pm_code_label_address(&text->rewrite->code, label);
}

static void add_trap(struct old_text *text, uint64_t from) {
    *PM_PUSH(text->rewrite, traps) = (struct pm_probe_trap){from, new_address(text, from)};
}

static void put_site(struct old_text *text, const struct pm_landing_site *site) {
    uint64_t jump = site->from;
    switch (site->form) {
    case PM_SITE_TRAP:
        *byte_at(text, site->from, 1) = INT3;
        return;
    case PM_SITE_HOP: {
        uint8_t *hop = byte_at(text, site->from, 2);
        hop[0] = SHORT_JUMP;
        hop[1] = (uint8_t)(site->hole - (site->from + 2));
        jump = site->hole;
        break;
    }
    default:
        break;
    }
    *byte_at(text, jump, 5) = JUMP;
    put_distance(text, jump + 1, new_address(text, site->from));
}

static int compare_traps(const void *left, const void *right) {
    const struct pm_probe_trap *a = left, *b = right;
    return a->from < b->from ? -1 : a->from > b->from;
}

/* Sites that only trap, and starts of blocks where an int3 is left. */
static void list_traps(struct old_text *text) {
    struct pm_rewrite *rewrite = text->rewrite;
    const struct pm_structure *structure = text->lifted->structure;
    uint32_t n = 0;
    for (uint32_t i = 0; i < rewrite->n_sites; i++)
        if (rewrite->sites[i].form == PM_SITE_TRAP)
            add_trap(text, rewrite->sites[i].from);
    for (uint32_t b = 0; b < structure->n_blocks; b++) {
        const struct pm_block_code *code = &text->lifted->block_codes[b];
        const struct pm_routine *routine = &structure->routines[structure->blocks[b].routine];
        uint32_t n_insns = routine->state == PM_ROUTINE_PARTIAL ? code->n_insns : 1;
        for (uint32_t k = code->first_insn; k < code->first_insn + n_insns; k++)
            if (rewrite->owned[b] && *byte_at(text, text->lifted->insns[k].address, 1) == INT3)
                add_trap(text, text->lifted->insns[k].address);
    }
    if (rewrite->n_traps)
        qsort(rewrite->traps, rewrite->n_traps, sizeof *rewrite->traps, compare_traps);
    for (uint32_t i = 0; i < rewrite->n_traps; i++)
        if (n == 0 || rewrite->traps[n - 1].from != rewrite->traps[i].from)
            rewrite->traps[n++] = rewrite->traps[i];
    rewrite->n_traps = n;
}

bool pm_x86_patch_old_text(struct pm_rewrite *rewrite, uint8_t *image) {
    struct old_text text = {rewrite, rewrite->lifted, image, true};
    clear_blocks(&text);
    restore_read_bytes(&text);
    redirect_calls(&text);
    for (uint32_t i = 0; i < rewrite->n_sites; i++)
        put_site(&text, &rewrite->sites[i]);
    list_traps(&text);
    return text.reaches;
}
