/* The routines of a library that a program's calls reach; see code.h.  Pointers in data are not
   followed: for libraries whose routines call through none. */
#include "binlift/lifted.h"

#include <stdlib.h>
#include <string.h>

struct search {
    struct pm_lifted *lifted;
    bool *reached; /* per routine */
    PM_ARRAY(uint32_t, open);
};

static void reach(struct search *search, uint64_t address) {
    uint32_t routine = address ? pm_routine_at(search->lifted, address) : PM_NONE;
    if (routine == PM_NONE || search->reached[routine])
        return;
    search->reached[routine] = true;
    *PM_PUSH(search, open) = routine;
}

static void go_on_from(struct search *search, uint32_t routine) {
    const struct pm_lifted *lifted = search->lifted;
    const struct pm_routine_code *code = &lifted->routine_codes[routine];
    for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++) {
        uint64_t target;
        const char *name;
        if (pm_call_target(lifted, &lifted->insns[k], &target, &name))
            reach(search, target);
        reach(search, pm_formed_address(lifted, k, code->first_insn));
    }
}

static void reach_entries(struct search *search, char *const *entries, size_t n_entries) {
    struct pm_function_symbols symbols = {0};
    pm_read_function_symbols(&search->lifted->image, &symbols);
    for (size_t i = 0; i < symbols.n_items; i++)
        for (size_t k = 0; k < n_entries; k++)
            if (strcmp(symbols.items[i].name, entries[k]) == 0)
                reach(search, symbols.items[i].address);
    free(symbols.items);
}

/* Routines are in one part yet. */
static void keep(struct pm_lifted *lifted, const bool *kept) {
    struct pm_structure *structure = lifted->structure;
    size_t n = 0, n_insns = 0;
    uint32_t gs_routine = PM_NONE;
    for (size_t i = 0; i < structure->n_routines; i++) {
        struct pm_routine_code code = lifted->routine_codes[i];
        if (!kept[i]) {
            free(structure->routines[i].name);
            free(structure->routines[i].display_name);
            free(structure->routines[i].reason);
            continue;
        }
        if (i == lifted->gs_routine)
            gs_routine = (uint32_t)n;
        for (uint32_t k = 0; k < code.n_insns; k++)
            lifted->insns[n_insns + k] = lifted->insns[code.first_insn + k];
        code.first_insn = (uint32_t)n_insns;
        n_insns += code.n_insns;
        structure->routines[n] = structure->routines[i];
        structure->parts[n] = structure->parts[i];
        structure->parts[n].routine = structure->routines[n].first_part = (uint32_t)n;
        lifted->routine_codes[n++] = code;
    }
    structure->n_routines = structure->n_parts = lifted->n_routine_codes = n;
    lifted->n_insns = n_insns;
    lifted->gs_routine = gs_routine;
}

void pm_keep_reached(struct pm_lifted *lifted, char *const *entries, size_t n_entries) {
    struct search search = {.lifted = lifted,
                            .reached = pm_alloc(lifted->structure->n_routines, sizeof(bool))};
    reach_entries(&search, entries, n_entries);
    while (search.n_open)
        go_on_from(&search, search.open[--search.n_open]);
    keep(lifted, search.reached);
    pm_index_ranges(lifted);
    pm_index_insns(lifted);
    free(search.open);
    free(search.reached);
}
