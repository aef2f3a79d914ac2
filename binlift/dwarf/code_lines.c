/* Source lines of all instructions of a lifted file; see binlift.h. */
#include <stdlib.h>
#include <string.h>

#include "binlift/binlift.h"
#include "binlift/dwarf/dwarf.h"
#include "binlift/lifted.h"

static int by_address(const void *left, const void *right) {
    const struct pm_code_line *a = left, *b = right;
    return PM_COMPARE(a->address, b->address);
}

struct pm_code_lines *pm_code_lines_read(const struct pm_lifted *lifted) {
    struct pm_code_lines *lines = pm_alloc(1, sizeof *lines);
    struct pm_debug *debug = pm_debug_read(lifted);
    for (size_t i = 0; i < lifted->n_insns; i++)
        *PM_PUSH(lines, rows) = (struct pm_code_line){.address = lifted->insns[i].address,
                                                      .file = debug->insn_file[i],
                                                      .line = debug->insn_line[i]};
    PM_SORT(lines->rows, lines->n_rows, by_address);
    for (size_t i = 0; i < debug->n_files; i++)
        *PM_PUSH(lines, files) = pm_strdup(debug->files[i]);
    pm_debug_free(debug);
    return lines;
}

struct pm_code_lines *pm_code_lines_of_blocks(const struct pm_structure *structure) {
    struct pm_code_lines *lines = pm_alloc(1, sizeof *lines);
    for (uint32_t b = 0; b < structure->n_blocks; b++) {
        const struct pm_block *block = &structure->blocks[b];
        struct pm_code_line row = {block->address, PM_NONE, block->line};
        uint32_t scope = block->scope;
        while (scope != PM_NONE && !structure->scopes[scope].file)
            scope = structure->scopes[scope].parent;
        if (structure->routines[block->routine].module != 0)
            continue;
        for (uint32_t f = 0; scope != PM_NONE && row.file == PM_NONE; f++) {
            if (f == lines->n_files)
                *PM_PUSH(lines, files) = pm_strdup(structure->scopes[scope].file);
            if (strcmp(lines->files[f], structure->scopes[scope].file) == 0)
                row.file = f;
        }
        *PM_PUSH(lines, rows) = row;
    }
    PM_SORT(lines->rows, lines->n_rows, by_address);
    return lines;
}

void pm_code_lines_free(struct pm_code_lines *lines) {
    if (!lines)
        return;
    for (size_t i = 0; i < lines->n_files; i++)
        free(lines->files[i]);
    free(lines->files);
    free(lines->rows);
    free(lines);
}
