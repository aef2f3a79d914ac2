/* Addresses that code forms as values, and names of routines that follow from them. */
#include "binlift/lifted.h"

#include <stdlib.h>
#include <string.h>

uint64_t pm_pc_relative_address(const struct pm_insn *insn, const uint8_t *bytes) {
    int32_t displacement;
    for (unsigned m = 0; m < insn->n_memory; m++)
        if (insn->memory[m].base == PM_REGISTER_PC)
            return 0;
    if (!insn->pc_displacement_offset || insn->length < insn->pc_displacement_offset + 4u)
        return 0;
    memcpy(&displacement, bytes + insn->pc_displacement_offset, sizeof displacement);
    return insn->address + insn->length + (uint64_t)(int64_t)displacement;
}

uint64_t pm_formed_address(const struct pm_lifted *lifted, uint32_t insn, uint32_t first) {
    if (lifted->isa->formed_address)
        return lifted->isa->formed_address(lifted->insns, insn, first, (void *)&lifted->image,
                                           pm_image_read);
    return pm_pc_relative_address(&lifted->insns[insn], pm_insn_bytes(lifted, insn));
}

/* ---- variants of an indirect symbol ---------------------------------------------------------- */

static void name_variants_of(struct pm_lifted *lifted, uint32_t resolver) {
    struct pm_routine_code *code = &lifted->routine_codes[resolver];
    const char *symbol = lifted->structure->routines[resolver].name;
    unsigned n = 0;
    for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++) {
        uint64_t address = pm_formed_address(lifted, k, code->first_insn);
        uint32_t r = address ? pm_routine_at(lifted, address) : PM_NONE;
        struct pm_routine *variant = r == PM_NONE ? NULL : &lifted->structure->routines[r];
        if (!variant || variant->address != address || pm_has_symbol(variant))
            continue;
        free(variant->name);
        free(variant->display_name);
        variant->name = pm_variant_name(symbol, ++n);
        variant->display_name = pm_strdup(variant->name);
        code->is_resolver = true;
    }
}

void pm_name_variants(struct pm_lifted *lifted) {
    struct pm_function_symbols symbols = {0};
    pm_read_function_symbols(&lifted->image, &symbols);
    for (size_t i = 0; i < symbols.n_items; i++) {
        uint32_t resolver = symbols.items[i].is_indirect
                                ? pm_routine_at(lifted, symbols.items[i].address)
                                : PM_NONE;
        if (resolver != PM_NONE)
            name_variants_of(lifted, resolver);
    }
    free(symbols.items);
}
