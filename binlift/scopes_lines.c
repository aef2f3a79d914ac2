/* Files, line ranges and addresses of scopes; see scopes.h.  Needs the scope tree and DWARF.

   A loop starts at the lowest line of its header's and latches' instructions that are written in
   the same code as the loop itself (the routine or the same inlined callee, in its file), and ends
   at the highest such line of all its instructions.  Where no instruction is written there, the
   first one with a line gives file and line.  What is not known stays 0. */
#include "binlift/scopes.h"

#include <stdlib.h>

struct lines {
    const struct pm_lifted *lifted;
    const struct pm_debug *debug;
    const uint32_t *scope_inline;
    uint32_t *file;   /* of each scope: index in debug->files, PM_NONE */
    uint32_t *lowest; /* of each scope: lowest line written there; 0 none */
};

/* The file in which the code of a scope is written. */
static uint32_t find_file(const struct lines *lines, uint32_t scope) {
    uint32_t routine = lines->lifted->structure->scopes[scope].routine;
    uint32_t inlined = lines->scope_inline[scope];
    if (inlined != PM_NONE)
        return lines->debug->inlines[inlined].file;
    if (routine == PM_NONE)
        return PM_NONE;
    uint32_t file = lines->debug->declarations[routine].file;
    const struct pm_routine_code *code = &lines->lifted->routine_codes[routine];
    for (uint32_t i = 0; i < code->n_insns && file == PM_NONE; i++) /* no declaration known */
        file = lines->debug->insn_file[code->first_insn + i];
    return file;
}

/* Calls ADD for the own lines of BLOCK in SCOPE. */
static void each_own_line(struct lines *lines, uint32_t scope, uint32_t block,
                          void (*add)(struct lines *, uint32_t scope, uint32_t line)) {
    const struct pm_block_code *code = &lines->lifted->block_codes[block];
    for (uint32_t i = code->first_insn; i < code->first_insn + code->n_insns; i++)
        if (lines->debug->insn_line[i] && lines->debug->insn_file[i] == lines->file[scope] &&
            lines->debug->insn_inline[i] == lines->scope_inline[scope])
            add(lines, scope, lines->debug->insn_line[i]);
}

static void add_first(struct lines *lines, uint32_t scope, uint32_t line) {
    uint32_t *first = &lines->lifted->structure->scopes[scope].line_first;
    if (*first == 0 || line < *first)
        *first = line;
}

static void add_last(struct lines *lines, uint32_t scope, uint32_t line) {
    uint32_t *last = &lines->lifted->structure->scopes[scope].line_last;
    if (line > *last)
        *last = line;
    if (lines->lowest[scope] == 0 || line < lines->lowest[scope])
        lines->lowest[scope] = line;
}

static void find_first_lines(struct lines *lines) {
    struct pm_structure *structure = lines->lifted->structure;
    for (uint32_t s = 0; s < structure->n_scopes; s++) {
        struct pm_scope *scope = &structure->scopes[s];
        if (scope->kind == PM_SCOPE_LOOP)
            each_own_line(lines, s, scope->header, add_first);
        else if (scope->kind == PM_SCOPE_ROUTINE)
            scope->line_first = lines->debug->declarations[scope->routine].line;
        else if (scope->kind == PM_SCOPE_INLINED)
            scope->line_first = lines->debug->inlines[lines->scope_inline[s]].line;
    }
    for (size_t e = 0; e < structure->n_edges; e++) { /* latches */
        const struct pm_edge *edge = &structure->edges[e];
        if (edge->from == PM_NONE || edge->to == PM_NONE)
            continue;
        for (uint32_t s = structure->blocks[edge->from].scope; s != PM_NONE;
             s = structure->scopes[s].parent)
            if (structure->scopes[s].kind == PM_SCOPE_LOOP &&
                structure->scopes[s].header == edge->to)
                each_own_line(lines, s, edge->from, add_first);
    }
}

static void find_ranges(struct lines *lines) {
    struct pm_structure *structure = lines->lifted->structure;
    for (uint32_t b = 0; b < structure->n_blocks; b++) {
        const struct pm_block *block = &structure->blocks[b];
        for (uint32_t s = block->scope; s != PM_NONE; s = structure->scopes[s].parent) {
            struct pm_scope *scope = &structure->scopes[s];
            uint64_t end = block->address + block->size_bytes;
            if (scope->address_high == 0 || block->address < scope->address_low)
                scope->address_low = block->address;
            if (end > scope->address_high)
                scope->address_high = end;
            each_own_line(lines, s, b, add_last);
        }
    }
    for (size_t s = 0; s < structure->n_scopes; s++) {
        struct pm_scope *scope = &structure->scopes[s];
        if (scope->line_first == 0)
            scope->line_first = lines->lowest[s];
        if (scope->line_last < scope->line_first)
            scope->line_last = scope->line_first;
    }
}

static void set_block_lines(struct lines *lines) {
    struct pm_structure *structure = lines->lifted->structure;
    const struct pm_debug *debug = lines->debug;
    for (size_t b = 0; b < structure->n_blocks; b++) {
        struct pm_block *block = &structure->blocks[b];
        const struct pm_block_code *code = &lines->lifted->block_codes[b];
        for (uint32_t i = code->first_insn;
             i < code->first_insn + code->n_insns && block->line == 0; i++) {
            if (debug->insn_line[i] == 0)
                continue;
            block->line = debug->insn_line[i];
            for (uint32_t s = block->loop; s != PM_NONE; s = structure->scopes[s].parent) {
                struct pm_scope *scope = &structure->scopes[s];
                if (scope->kind != PM_SCOPE_LOOP || scope->line_first)
                    continue;
                lines->file[s] = debug->insn_file[i];
                scope->line_first = scope->line_last = block->line;
            }
        }
    }
}

void pm_set_lines(struct pm_lifted *lifted, const struct pm_debug *debug,
                  const uint32_t *scope_inline) {
    struct pm_structure *structure = lifted->structure;
    struct lines lines = {.lifted = lifted, .debug = debug, .scope_inline = scope_inline};
    lines.file = pm_alloc(structure->n_scopes, sizeof *lines.file);
    lines.lowest = pm_alloc(structure->n_scopes, sizeof *lines.lowest);
    for (uint32_t s = 0; s < structure->n_scopes; s++)
        lines.file[s] = find_file(&lines, s);
    find_first_lines(&lines);
    find_ranges(&lines);
    set_block_lines(&lines);
    for (size_t s = 0; s < structure->n_scopes; s++)
        if (lines.file[s] != PM_NONE)
            structure->scopes[s].file = pm_strdup(debug->files[lines.file[s]]);
    free(lines.file);
    free(lines.lowest);
}
