/* Source lines of one unit; see dwarf.h.

   A row of the line table holds from its address to the next row's; of several rows at one address
   the last one holds.  Line 0 stays "unknown".

   libdw gives the rows of all sequences sorted by address, the end of a sequence before other rows
   at its address, so that a last row of no length stands behind the end: no row holds beyond the
   unit's range of addresses that it is in.  A sequence whose code the linker dropped starts outside
   the program's text, at 0; where it is so long that it reaches into the text, what it is
   mixed with is left out too. */
#include "binlift/dwarf/dwarf.h"
#include "binlift/dwarf/unit.h"

#include <stdlib.h>

struct ranges { /* of the unit in the text, ascending */
    PM_ARRAY(struct pm_address_range, ranges);
};

static int by_address(const void *left, const void *right) {
    const struct pm_address_range *a = left, *b = right;
    return PM_COMPARE(a->low, b->low);
}

static void read_ranges(const struct pm_unit_reader *reader, Dwarf_Die *unit,
                        struct ranges *ranges) {
    Dwarf_Addr base, low, high;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(unit, at, &base, &low, &high)) > 0;)
        if (low < high && low >= reader->low && high <= reader->high)
            *PM_PUSH(ranges, ranges) = (struct pm_address_range){low, high};
    PM_SORT(ranges->ranges, ranges->n_ranges, by_address);
}

/* The end of the last range that starts at ADDRESS or before; UINT64_MAX for a unit without any. */
static uint64_t range_end(const struct ranges *ranges, uint64_t address) {
    if (ranges->n_ranges == 0)
        return UINT64_MAX;
    size_t n = PM_LOWER_BOUND(ranges->n_ranges, i, ranges->ranges[i].low <= address);
    return n ? ranges->ranges[n - 1].high : 0;
}

static void add_span(struct pm_unit_facts *facts, struct pm_line_span span) {
    if (span.line == 0 || span.file == PM_NONE || span.low >= span.high)
        return;
    struct pm_line_span *last = facts->n_spans ? &facts->spans[facts->n_spans - 1] : NULL;
    if (last && last->high == span.low && last->line == span.line && last->file == span.file)
        last->high = span.high;
    else
        *PM_PUSH(facts, spans) = span;
}

static void add_rows(struct pm_unit_reader *reader, Dwarf_Die *unit, Dwarf_Lines *lines,
                     size_t n_lines, const struct ranges *ranges) {
    struct pm_line_span open = {0}; /* from the last row on; line 0: none */
    uint64_t last_end = UINT64_MAX;
    bool is_dropped = false;
    for (size_t i = 0; i < n_lines; i++) {
        Dwarf_Line *row = dwarf_onesrcline(lines, i);
        Dwarf_Addr address;
        bool ends = false;
        int line = 0;
        if (dwarf_lineaddr(row, &address) != 0 || dwarf_lineendsequence(row, &ends) != 0)
            return;
        uint64_t end = range_end(ranges, open.low);
        open.high = address < end ? address : end;
        add_span(reader->facts, open);
        open.line = 0;
        if (ends) {
            /* the dropped code's, unless the unit has other code that ends there */
            is_dropped &= address != last_end && range_end(ranges, address - 1) == address;
            last_end = address;
        } else if (address < reader->low || address >= reader->high) {
            is_dropped |= address != last_end;
        } else if (!is_dropped && dwarf_lineno(row, &line) == 0 && line > 0) {
            const char *path = dwarf_linesrc(row, NULL, NULL);
            open = (struct pm_line_span){.low = address,
                                         .file = pm_unit_file(reader, unit->cu, path),
                                         .line = (uint32_t)line};
        }
    }
}

void pm_read_unit_lines(struct pm_unit_reader *reader, Dwarf_Die *unit) {
    Dwarf_Lines *lines;
    size_t n_lines;
    if (dwarf_getsrclines(unit, &lines, &n_lines) != 0)
        return;
    reader->facts->n_rows = n_lines;
    struct ranges ranges = {0};
    read_ranges(reader, unit, &ranges);
    add_rows(reader, unit, lines, n_lines, &ranges);
    free(ranges.ranges);
}
