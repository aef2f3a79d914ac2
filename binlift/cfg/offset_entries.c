/* Entries of a routine at offsets that the file has in a table: what interpreters in assembly
   language are made of.  Code elsewhere adds such offsets to the address of the routine and stores
   the sums in a table of its own, which the routine's jumps go through; generated code jumps to
   them, too.  Needs instructions and jump tables.

   Only routines are looked at that have many indirect jumps for which no table was found: an
   interpreter has one at the end of each operation.  A table is a run of numbers of 2 or 4 bytes in
   data, of which each is the distance of an instruction from the routine's start, and at
   least of every second one that only a jump can reach.  Of numbers that mean something else about
   every fourth is one; so a run of FEWEST_ENTRIES of them does not come about by chance.

   What is found becomes entries (inner_entries).  The routine's other jumps leave it
   (tail_calls.c), and control may come to any of its instructions: what else is computed from its
   address is not known. */
#include "binlift/cfg/jumps.h"
#include "binlift/lifted.h"

#include <stdlib.h>
#include <string.h>

enum { FEWEST_JUMPS = 16, FEWEST_ENTRIES = 16 };

struct run {
    struct pm_addresses entries;
    uint32_t n_after_jumps; /* of them */
};

static uint32_t count_open_jumps(const struct pm_lifted *lifted,
                                 const struct pm_routine_code *code) {
    uint32_t n = 0;
    for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++)
        n += lifted->insns[k].control == PM_CONTROL_JUMP_INDIRECT &&
             !pm_goes_through_slot(&lifted->insns[k]) && !pm_table_of(lifted, k);
    return n;
}

/* Keeps the run if it is a table, and begins another. */
static void end_run(struct pm_lifted *lifted, uint32_t routine, struct run *run) {
    uint32_t n = (uint32_t)run->entries.n_addresses;
    if (n >= FEWEST_ENTRIES && 2 * run->n_after_jumps >= n &&
        pm_make_set(run->entries.addresses, n) >= FEWEST_ENTRIES) {
        lifted->routine_codes[routine].entered_by_offset = true;
        for (uint32_t i = 0; i < n; i++)
            *PM_PUSH(&lifted->inner_entries, addresses) = run->entries.addresses[i];
    }
    run->entries.n_addresses = run->n_after_jumps = 0;
}

/* The instruction OFFSET bytes behind the start of the routine; PM_NONE: there is none. */
static uint32_t insn_at_offset(const struct pm_lifted *lifted, uint32_t routine, uint64_t offset) {
    const struct pm_routine *of = &lifted->structure->routines[routine];
    return offset < of->size_bytes ? pm_insn_at(lifted, of->address + offset) : PM_NONE;
}

static void search_section(struct pm_lifted *lifted, uint32_t routine, const Elf64_Shdr *header,
                           unsigned entry_bytes) {
    const uint8_t *bytes = lifted->image.bytes + header->sh_offset;
    struct run run = {0};
    for (uint64_t at = -header->sh_addr & (entry_bytes - 1); at + entry_bytes <= header->sh_size;
         at += entry_bytes) {
        uint32_t offset = 0;
        memcpy(&offset, bytes + at, entry_bytes);
        uint32_t insn = insn_at_offset(lifted, routine, offset);
        if (insn == PM_NONE) {
            end_run(lifted, routine, &run);
            continue;
        }
        *PM_PUSH(&run.entries, addresses) = lifted->insns[insn].address;
        run.n_after_jumps += insn == lifted->routine_codes[routine].first_insn ||
                             !pm_runs_on(lifted, insn - 1) || lifted->insns[insn - 1].is_nop;
    }
    end_run(lifted, routine, &run);
    free(run.entries.addresses);
}

void pm_find_offset_entries(struct pm_lifted *lifted) {
    const struct pm_image *image = &lifted->image;
    for (uint32_t r = 0; r < lifted->structure->n_routines; r++) {
        if (count_open_jumps(lifted, &lifted->routine_codes[r]) < FEWEST_JUMPS)
            continue;
        for (size_t i = 0; i < image->n_sections; i++) {
            const Elf64_Shdr *header = &image->sections[i].header;
            if (!(header->sh_flags & SHF_ALLOC) || header->sh_type == SHT_NOBITS ||
                pm_section_is_code(&image->sections[i]) ||
                strncmp(image->sections[i].name, ".eh_frame", 9) == 0)
                continue;
            search_section(lifted, r, header, 2);
            search_section(lifted, r, header, 4);
        }
    }
}
