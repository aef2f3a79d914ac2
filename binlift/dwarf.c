/* Opens the DWARF of the lifted file and goes through its units; see dwarf.h.  Needs instructions.
   Debug files of their own are found as debuggers find them (build-id, .gnu_debuglink). */
#include "binlift/dwarf.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static void grow_file_slots(struct pm_debug *debug) {
    size_t n = debug->n_file_slots ? 2 * debug->n_file_slots : 64;
    uint32_t *slots = pm_alloc(n, sizeof *slots);
    for (uint32_t file = 0; file < debug->n_files; file++) {
        size_t at = XXH3_64bits(debug->files[file], strlen(debug->files[file])) & (n - 1);
        while (slots[at])
            at = (at + 1) & (n - 1);
        slots[at] = file + 1;
    }
    free(debug->file_slots);
    debug->file_slots = slots;
    debug->n_file_slots = n;
}

uint32_t pm_debug_file(struct pm_debug *debug, const char *path) {
    if (!path)
        return PM_NONE;
    if (2 * (debug->n_files + 1) > debug->n_file_slots)
        grow_file_slots(debug);
    size_t mask = debug->n_file_slots - 1;
    size_t at = XXH3_64bits(path, strlen(path)) & mask;
    for (; debug->file_slots[at]; at = (at + 1) & mask)
        if (strcmp(debug->files[debug->file_slots[at] - 1], path) == 0)
            return debug->file_slots[at] - 1;
    *PM_PUSH(debug, files) = pm_strdup(path);
    debug->file_slots[at] = (uint32_t)debug->n_files;
    return (uint32_t)debug->n_files - 1;
}

uint32_t pm_inline_common(const struct pm_debug *debug, uint32_t left, uint32_t right) {
    while (left != right && left != PM_NONE && right != PM_NONE) {
        const struct pm_inline *a = &debug->inlines[left], *b = &debug->inlines[right];
        if (a->depth >= b->depth)
            left = a->parent;
        else
            right = b->parent;
    }
    return left == right ? left : PM_NONE;
}

static void read_units(const struct pm_lifted *lifted, struct pm_debug *debug, Dwarf *dwarf) {
    Dwarf_CU *unit = NULL;
    Dwarf_Die die, split;
    uint8_t unit_type;
    while (dwarf_get_units(dwarf, unit, &unit, NULL, &unit_type, &die, &split) == 0) {
        if (unit_type == DW_UT_type || unit_type == DW_UT_split_type)
            continue;
        pm_debug_add_lines(lifted, debug, &die);
        if (unit_type == DW_UT_skeleton && dwarf_tag(&split) != DW_TAG_invalid)
            pm_debug_add_inlines(lifted, debug, &split);
        else
            pm_debug_add_inlines(lifted, debug, &die);
    }
}

struct pm_debug *pm_debug_read(const struct pm_lifted *lifted) {
    size_t n_insns = lifted->n_insns, n_routines = lifted->structure->n_routines;
    struct pm_debug *debug = pm_alloc(1, sizeof *debug);
    debug->insn_file = pm_alloc(n_insns, sizeof *debug->insn_file);
    debug->insn_line = pm_alloc(n_insns, sizeof *debug->insn_line);
    debug->insn_inline = pm_alloc(n_insns, sizeof *debug->insn_inline);
    debug->declarations = pm_alloc(n_routines, sizeof *debug->declarations);
    for (size_t i = 0; i < n_insns; i++)
        debug->insn_file[i] = debug->insn_inline[i] = PM_NONE;
    for (size_t i = 0; i < n_routines; i++)
        debug->declarations[i].file = PM_NONE;

    static char *default_path; /* NULL: where debuggers look */
    static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_build_id_find_elf,
                                             .find_debuginfo = dwfl_standard_find_debuginfo,
                                             .section_address = dwfl_offline_section_address,
                                             .debuginfo_path = &default_path};
    Dwfl *dwfl = dwfl_begin(&callbacks);
    if (!dwfl)
        return debug;
    Dwfl_Module *module = dwfl_report_offline(dwfl, "", lifted->image.path, -1);
    dwfl_report_end(dwfl, NULL, NULL);
    Dwarf_Addr bias;
    Dwarf *dwarf = module ? dwfl_module_getdwarf(module, &bias) : NULL;
    if (dwarf)
        read_units(lifted, debug, dwarf);
    dwfl_end(dwfl);
    return debug;
}

void pm_debug_free(struct pm_debug *debug) {
    if (!debug)
        return;
    for (size_t i = 0; i < debug->n_files; i++)
        free(debug->files[i]);
    for (size_t i = 0; i < debug->n_inlines; i++)
        free(debug->inlines[i].name);
    free(debug->files);
    free(debug->inlines);
    free(debug->insn_file);
    free(debug->insn_line);
    free(debug->insn_inline);
    free(debug->declarations);
    free(debug->file_slots);
    free(debug);
}
