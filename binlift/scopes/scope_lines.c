/* Files, line ranges and addresses of scopes; see tree.h.  Needs the scope tree and DWARF.

   A loop starts at the lowest line of its header's and latches' instructions in the code that the
   loop is written in (the routine, or the inlined callee, in its file), and ends at the highest
   such line of all its instructions; an instruction of code that is inlined there counts with the
   line of the call.  Where header and latches have no such line, and where there is no one header
   because the loop is irreducible, it starts at the lowest of all its instructions; where these
   have none either, at the first line of any file; where there is no line at all in it, it takes
   the range of what it stands in.  So a loop has no line only if nothing around it has one. */
#include "binlift/cfg/cfg.h"
#include "binlift/dwarf/dwarf.h"
#include "binlift/lifted.h"
#include "binlift/scopes/tree.h"

#include <stdlib.h>

struct lines {
    const struct pm_lifted *lifted;
    const struct pm_debug *debug;
    const uint32_t *scope_inline;
    uint32_t *file;   /* of each scope: index in debug->files, PM_NONE */
    uint32_t *lowest; /* of each scope: lowest line written there; 0 none */
};

/* The routine that SCOPE is inlined code of. */
static const struct pm_callee *callee_of(const struct lines *lines, uint32_t scope) {
    const struct pm_debug *debug = lines->debug;
    return &debug->callees[debug->inlines[lines->scope_inline[scope]].callee];
}

/* The file in which the code of a scope is written. */
static uint32_t find_file(const struct lines *lines, uint32_t scope) {
    uint32_t routine = lines->lifted->structure->scopes[scope].routine;
    uint32_t inlined = lines->scope_inline[scope];
    if (inlined != PM_NONE)
        return callee_of(lines, scope)->file;
    if (routine == PM_NONE)
        return PM_NONE;
    uint32_t file = lines->debug->declarations[routine].file;
    const struct pm_routine_code *code = &lines->lifted->routine_codes[routine];
    for (uint32_t i = 0; i < code->n_insns && file == PM_NONE; i++) /* no declaration known */
        file = lines->debug->insn_file[code->first_insn + i];
    return file;
}

/* The line of instruction INSN as it is seen in the code of SCOPE: its own, or that of the call
   from there through which it was inlined; 0: neither is known, or it is in another file. */
static uint32_t line_in_scope(const struct lines *lines, uint32_t scope, uint32_t insn) {
    const struct pm_debug *debug = lines->debug;
    uint32_t own = lines->scope_inline[scope], place = debug->insn_inline[insn];
    if (place == own)
        return debug->insn_file[insn] == lines->file[scope] ? debug->insn_line[insn] : 0;
    while (place != PM_NONE && debug->inlines[place].parent != own)
        place = debug->inlines[place].parent;
    if (place == PM_NONE || debug->inlines[place].call_file != lines->file[scope])
        return 0;
    return debug->inlines[place].call_line;
}

/* Compilers give the line of a routine's own name to what prepares its loops (bounds of arrays): no
   loop starts there, unless all of the routine is on one line. */
static bool is_before_loops(const struct lines *lines, uint32_t scope, uint32_t line) {
    const struct pm_scope *s = &lines->lifted->structure->scopes[scope];
    if (s->kind != PM_SCOPE_LOOP)
        return false;
    if (lines->scope_inline[scope] != PM_NONE)
        return line <= callee_of(lines, scope)->line;
    return line <= lines->debug->declarations[s->routine].line;
}

/* Calls ADD for the lines of BLOCK as seen in SCOPE. */
static void each_own_line(struct lines *lines, uint32_t scope, uint32_t block,
                          void (*add)(struct lines *, uint32_t scope, uint32_t line)) {
    const struct pm_block_code *code = &lines->lifted->block_codes[block];
    if (lines->file[scope] == PM_NONE)
        return;
    for (uint32_t i = code->first_insn; i < code->first_insn + code->n_insns; i++) {
        uint32_t line = line_in_scope(lines, scope, i);
        if (line && !is_before_loops(lines, scope, line))
            add(lines, scope, line);
    }
}

/* An irreducible region has no header that stays the same: all of its lines count. */
static void add_first(struct lines *lines, uint32_t scope, uint32_t line) {
    if (lines->lifted->structure->scopes[scope].flags & PM_SCOPE_IRREDUCIBLE)
        return;
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
            scope->line_first = callee_of(lines, s)->line;
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

/* File of the line that set_block_lines gave to BLOCK. */
static uint32_t line_file(const struct lines *lines, uint32_t block) {
    const struct pm_block_code *code = &lines->lifted->block_codes[block];
    for (uint32_t i = code->first_insn; i < code->first_insn + code->n_insns; i++)
        if (lines->debug->insn_line[i])
            return lines->debug->insn_file[i];
    return PM_NONE;
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

/* Loops without any line, and routines that DWARF does not declare: parents come first. */
static void set_missing_lines(struct lines *lines) {
    struct pm_structure *structure = lines->lifted->structure;
    for (uint32_t b = 0; b < structure->n_blocks; b++) {
        const struct pm_block *block = &structure->blocks[b];
        uint32_t r = structure->routines[block->routine].scope;
        struct pm_scope *routine = &structure->scopes[r];
        if (block->line && routine->line_first == 0 && line_file(lines, b) == lines->file[r])
            routine->line_first = routine->line_last = block->line;
    }
    for (uint32_t s = 0; s < structure->n_scopes; s++) {
        struct pm_scope *scope = &structure->scopes[s];
        if (scope->kind != PM_SCOPE_LOOP || scope->line_first || scope->parent == PM_NONE)
            continue;
        scope->line_first = structure->scopes[scope->parent].line_first;
        scope->line_last = structure->scopes[scope->parent].line_last;
        lines->file[s] = lines->file[scope->parent];
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
    set_missing_lines(&lines);
    for (size_t s = 0; s < structure->n_scopes; s++)
        if (lines.file[s] != PM_NONE)
            structure->scopes[s].file = pm_strdup(debug->files[lines.file[s]]);
    free(lines.file);
    free(lines.lowest);
}
