/* Indirect entries: places inside routines where control can arrive without a branch that the CFG
   sees. Needs instructions, relocations, jump tables.  Sources: starts of routines and symbols
   within them, words in data and immediates in code that are addresses of instructions, landing
   pads of exceptions, branches from other routines, and branches from code that was not lifted.  A
   data word that only looks like an address costs a little; an indirect entry that is missed would
   trap. */
#include "binlift/cfg/jumps.h"
#include "binlift/lifted.h"

#include <stdlib.h>
#include <string.h>

/* Marks the instruction at ADDRESS; ADDRESS_TAKEN: it is known to data or code as a value. */
static void mark(struct pm_lifted *lifted, uint64_t address, bool address_taken) {
    uint32_t insn = pm_insn_at(lifted, address);
    if (insn == PM_NONE)
        return;
    uint32_t routine = pm_routine_at(lifted, address);
    lifted->insn_marks[insn] |= PM_MARK_LEADER | PM_MARK_INDIRECT_ENTRY;
    if (lifted->structure->routines[routine].address == address)
        return;
    lifted->insn_marks[insn] |= PM_MARK_OUTSIDE;
    if (address_taken)
        lifted->routine_codes[routine].interior_references = true;
}

/* ---- data ----------------------------------------------------------------------------------- */

/* All tables by address. */
static struct pm_jump_table *sort_tables(const struct pm_lifted *lifted) {
    struct pm_jump_table *tables = pm_alloc(lifted->n_tables, sizeof *tables);
    if (lifted->n_tables) {
        memcpy(tables, lifted->tables, lifted->n_tables * sizeof *tables);
        PM_SORT(tables, lifted->n_tables, pm_compare_tables);
    }
    return tables;
}

/* Words of a jump table that is known are no references. */
static bool is_in_table(const struct pm_jump_table *tables, size_t n, uint64_t place) {
    size_t low = PM_LOWER_BOUND(n, i, tables[i].address <= place);
    return low && tables[low - 1].address &&
           place - tables[low - 1].address <
               tables[low - 1].entry_bytes * (uint64_t)tables[low - 1].n_targets;
}

static void mark_relocations(struct pm_lifted *lifted, const struct pm_jump_table *tables) {
    for (size_t i = 0; i < lifted->n_relocations; i++)
        if (!is_in_table(tables, lifted->n_tables, lifted->relocations[i].place))
            mark(lifted, lifted->relocations[i].value, true);
}

/* Where addresses are fixed at link time, any aligned word of data may be one. */
static void mark_data_words(struct pm_lifted *lifted, const struct pm_jump_table *tables) {
    const struct pm_image *image = &lifted->image;
    for (size_t i = 0; i < image->n_sections; i++) {
        const struct pm_section *section = &image->sections[i];
        const Elf64_Shdr *header = &section->header;
        if (!(header->sh_flags & SHF_ALLOC) || header->sh_type == SHT_NOBITS ||
            pm_section_is_code(section) || strncmp(section->name, ".eh_frame", 9) == 0)
            continue;
        for (uint64_t at = -header->sh_addr & 7; at + 8 <= header->sh_size; at += 8) {
            uint64_t word;
            memcpy(&word, image->bytes + header->sh_offset + at, sizeof word);
            if (word >= lifted->text_low && word < lifted->text_high &&
                !is_in_table(tables, lifted->n_tables, header->sh_addr + at))
                mark(lifted, word, true);
        }
    }
}

/* ---- code ----------------------------------------------------------------------------------- */

/* Addresses that instruction K holds or completes, branches left out. */
static void mark_immediates(struct pm_lifted *lifted, uint32_t k, uint32_t first) {
    const struct pm_insn *insn = &lifted->insns[k];
    const uint8_t *bytes = pm_image_at(&lifted->image, insn->address, insn->length);
    uint64_t address = pm_formed_address(lifted, k, first);
    if (address)
        mark(lifted, address, true);
    if (lifted->image.is_pie || insn->immediate_bytes < 4)
        return;
    uint64_t constant = 0;
    memcpy(&constant, bytes + insn->length - insn->immediate_bytes, insn->immediate_bytes);
    mark(lifted, constant, true);
}

/* A branch or call into the middle of another routine. */
static void mark_foreign_target(struct pm_lifted *lifted, uint32_t routine,
                                const struct pm_insn *insn) {
    uint32_t target = insn->target ? pm_insn_at(lifted, insn->target) : PM_NONE;
    if (target == PM_NONE)
        return;
    uint32_t other = pm_routine_at(lifted, insn->target);
    bool is_call = insn->control == PM_CONTROL_CALL;
    if (lifted->structure->routines[other].address == insn->target ||
        (other == routine && !is_call))
        return;
    lifted->insn_marks[target] |= PM_MARK_LEADER | PM_MARK_OUTSIDE;
}

static void mark_from_code(struct pm_lifted *lifted) {
    for (size_t i = 0; i < lifted->structure->n_routines; i++) {
        const struct pm_routine_code *code = &lifted->routine_codes[i];
        for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++) {
            mark_immediates(lifted, k, code->first_insn);
            mark_foreign_target(lifted, (uint32_t)i, &lifted->insns[k]);
        }
    }
}

/* Code that stays as it is (refused, or without symbol): whatever looks like a branch or an
   address there makes an indirect entry.  Decoding starts anew at the next byte where it fails. */
static void mark_from_unlifted(struct pm_lifted *lifted, uint64_t from, uint64_t end) {
    while (from < end) {
        struct pm_insn insn;
        struct pm_insn_parts parts;
        const uint8_t *bytes = pm_image_at(&lifted->image, from, end - from);
        if (!bytes)
            return;
        if (!lifted->isa->decode(bytes, end - from, from, &insn, &parts)) {
            from++;
            continue;
        }
        if (insn.target)
            mark(lifted, insn.target, false);
        else
            mark(lifted, pm_pc_relative_address(&insn, bytes), true);
        from += insn.length;
    }
}

static void mark_from_gaps(struct pm_lifted *lifted) {
    for (size_t i = 0; i < lifted->image.n_sections; i++) {
        const Elf64_Shdr *header = &lifted->image.sections[i].header;
        if (!pm_section_is_code(&lifted->image.sections[i]))
            continue;
        uint64_t at = header->sh_addr, end = at + header->sh_size;
        for (size_t r = 0; r < lifted->n_ranges; r++) {
            const struct pm_range *range = &lifted->ranges[r];
            if (range->n_insns == 0 || range->address < header->sh_addr || range->address >= end)
                continue;
            mark_from_unlifted(lifted, at, range->address);
            at = range->address + range->size_bytes;
        }
        mark_from_unlifted(lifted, at, end);
    }
}

/* ---- exceptions ----------------------------------------------------------------------------- */

static void mark_landing_pads(struct pm_lifted *lifted) {
    struct pm_addresses pads = {0};
    for (size_t i = 0; i < lifted->unwind_ranges.n_ranges; i++)
        pm_read_landing_pads(&lifted->image, &lifted->unwind_ranges.ranges[i], &pads);
    for (size_t i = 0; i < pads.n_addresses; i++)
        mark(lifted, pads.addresses[i], false);
    free(pads.addresses);
}

void pm_find_indirect_entries(struct pm_lifted *lifted) {
    struct pm_jump_table *tables = sort_tables(lifted);
    for (size_t i = 0; i < lifted->structure->n_routines; i++)
        mark(lifted, lifted->structure->routines[i].address, false);
    for (size_t i = 0; i < lifted->inner_entries.n_addresses; i++)
        mark(lifted, lifted->inner_entries.addresses[i], true);
    mark_relocations(lifted, tables);
    if (!lifted->image.is_pie)
        mark_data_words(lifted, tables);
    free(tables);
    mark_from_code(lifted);
    mark_from_gaps(lifted);
    mark_landing_pads(lifted);
}
