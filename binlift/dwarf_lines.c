/* Source lines of one compilation unit, spread over the instructions; see dwarf.h.

   A row of the line table holds from its address to the next row's; of several rows at one address
   the last one holds.  A sequence whose code the linker dropped starts outside the program's text
   and is left out whole.  Line 0 stays "unknown". */
#include "binlift/dwarf.h"

struct span { /* from one row to the next */
    Dwarf_Addr low, high;
    uint32_t file, line;
};

static void spread(const struct pm_lifted *lifted, struct pm_debug *debug,
                   const struct span *span) {
    if (span->line == 0 || span->file == PM_NONE)
        return;
    for (uint32_t i = pm_first_insn_from(lifted, span->low);
         i != PM_NONE && lifted->insns[i].address < span->high; i = pm_insn_after(lifted, i)) {
        debug->insn_file[i] = span->file;
        debug->insn_line[i] = span->line;
    }
    debug->has_lines = true;
}

/* One sequence: rows FIRST … LAST of the table, LAST ends it. */
static void add_sequence(const struct pm_lifted *lifted, struct pm_debug *debug, Dwarf_Lines *lines,
                         size_t first, size_t last) {
    const char *path = NULL;
    uint32_t file = PM_NONE;
    struct span span = {0};
    for (size_t i = first; i <= last; i++) {
        Dwarf_Line *row = dwarf_onesrcline(lines, i);
        Dwarf_Addr address;
        int line = 0;
        if (dwarf_lineaddr(row, &address) != 0)
            return;
        if (i == first && (address < lifted->text_low || address >= lifted->text_high))
            return;
        if (i > first) {
            span.high = address;
            spread(lifted, debug, &span);
        }
        if (i == last)
            return;
        const char *row_path = dwarf_linesrc(row, NULL, NULL);
        if (row_path != path) {
            path = row_path;
            file = pm_debug_file(debug, path);
        }
        dwarf_lineno(row, &line);
        span = (struct span){.low = address, .file = file, .line = line > 0 ? (uint32_t)line : 0};
    }
}

void pm_debug_add_lines(const struct pm_lifted *lifted, struct pm_debug *debug, Dwarf_Die *unit) {
    Dwarf_Lines *lines;
    size_t n_lines;
    if (dwarf_getsrclines(unit, &lines, &n_lines) != 0)
        return;
    size_t first = 0;
    for (size_t i = 0; i < n_lines; i++) {
        bool ends = false;
        if (dwarf_lineendsequence(dwarf_onesrcline(lines, i), &ends) == 0 && ends) {
            add_sequence(lifted, debug, lines, first, i);
            first = i + 1;
        }
    }
}
