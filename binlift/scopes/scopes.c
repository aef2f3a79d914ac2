/* The scope tree: program → module → routine → inlined code and loops, nested as they are.  Needs
   loops; reads DWARF.  Sets scope, loop and line of every basic block.

   A loop stands under the loop around it, with one scope of inlined code between the two for every
   call on the way from the outer loop's code to its own.  A part or clone of a routine (`.cold`,
   `._omp_fn.0`) is a routine under the one that it was made from.  A basic block's scope is its
   innermost loop or the inlined code that most of its instructions come from. */
#include "binlift/cfg/cfg.h"
#include "binlift/dwarf/dwarf.h"
#include "binlift/lifted.h"
#include "binlift/scopes/scopes.h"
#include "binlift/scopes/tree.h"

#include <stdlib.h>
#include <string.h>

struct builder {
    struct pm_lifted *lifted;
    struct pm_debug *debug;
    PM_ARRAY(uint32_t, scope_inline); /* scope → inlined code that it stands in, PM_NONE */
    uint32_t *loop_scope;             /* loop → scope */
    struct pm_map inlined;            /* scopes of inlined code, by parent and inlined code */
};

static uint32_t add_scope(struct builder *builder, struct pm_scope scope, uint32_t inlined) {
    struct pm_structure *structure = builder->lifted->structure;
    uint32_t index = (uint32_t)structure->n_scopes;
    scope.fold = index;
    scope.unroll = 1;
    *PM_PUSH(structure, scopes) = scope;
    *PM_PUSH(builder, scope_inline) = inlined;
    return index;
}

/* ---- inlined code ---------------------------------------------------------------------------- */

/* The scope of inlined code INLINED within scope ABOVE, made if it is not there yet, with those of
   its callers up to what ABOVE stands in.  ABOVE itself where INLINED is not called from there. */
static uint32_t inlined_scope(struct builder *builder, uint32_t above, uint32_t inlined) {
    uint32_t outer = builder->scope_inline[above];
    if (inlined == outer || inlined == PM_NONE ||
        pm_inline_common(builder->debug, inlined, outer) != outer)
        return above;
    const struct pm_inline *call = &builder->debug->inlines[inlined];
    uint32_t parent = inlined_scope(builder, above, call->parent);
    uint32_t key[] = {parent, inlined};
    uint64_t hash = pm_hash_bytes(key, sizeof key);
    for (struct pm_map_entry at = pm_map_find(&builder->inlined, hash); at.found;
         pm_map_next(&builder->inlined, &at))
        if (builder->lifted->structure->scopes[at.item].parent == parent &&
            builder->scope_inline[at.item] == inlined)
            return at.item;
    struct pm_scope scope = {.kind = PM_SCOPE_INLINED,
                             .parent = parent,
                             .routine = builder->lifted->structure->scopes[above].routine,
                             .header = PM_NONE,
                             .name = pm_strdup(pm_callee_name(builder->debug, call->callee)),
                             .call_file_line = call->call_line};
    if (call->call_file != PM_NONE)
        scope.call_file = pm_strdup(builder->debug->files[call->call_file]);
    uint32_t made = add_scope(builder, scope, inlined);
    pm_map_add(&builder->inlined, hash, made);
    return made;
}

/* ---- routines and loops ---------------------------------------------------------------------- */

static void add_loop(struct builder *builder, uint32_t routine_scope, uint32_t l,
                     uint32_t inlined) {
    const struct pm_loop *loop = &builder->lifted->loops->loops[l];
    uint32_t around = loop->parent == PM_NONE ? routine_scope : builder->loop_scope[loop->parent];
    uint32_t parent = inlined_scope(builder, around, inlined);
    struct pm_scope scope = {.kind = PM_SCOPE_LOOP,
                             .depth = (uint8_t)(loop->depth < UINT8_MAX ? loop->depth : UINT8_MAX),
                             .flags = loop->irreducible ? PM_SCOPE_IRREDUCIBLE : 0,
                             .parent = parent,
                             .routine = loop->routine,
                             .header = loop->header};
    builder->loop_scope[l] = add_scope(builder, scope, builder->scope_inline[parent]);
}

static uint32_t entry_block(const struct pm_structure *structure,
                            const struct pm_routine *routine) {
    for (uint32_t e = 0; e < routine->n_edges; e++) {
        const struct pm_edge *edge = &structure->edges[routine->first_edge + e];
        if (edge->from == PM_NONE && edge->kind == PM_EDGE_ENTRY)
            return edge->to;
    }
    return PM_NONE;
}

/* gfortran's names of what is in no module: `step_` is step, `MAIN__` the main program. */
static void name_as_in_fortran(struct pm_routine *routine, const char *name) {
    size_t length = name ? strlen(name) : 0;
    bool is_step = length && strncmp(routine->display_name, name, length) == 0 &&
                   strcmp(routine->display_name + length, "_") == 0;
    if (!is_step && (!length || strcmp(routine->display_name, "MAIN__") != 0))
        return;
    free(routine->display_name);
    routine->display_name = pm_strdup(name);
}

static void add_routine(struct builder *builder, uint32_t r, uint32_t parent,
                        const uint32_t *loop_inline) {
    struct pm_structure *structure = builder->lifted->structure;
    struct pm_routine *routine = &structure->routines[r];
    const struct pm_loops *loops = builder->lifted->loops;
    name_as_in_fortran(routine, builder->debug->declarations[r].name);
    struct pm_scope scope = {
        .kind = PM_SCOPE_ROUTINE,
        .parent = parent,
        .routine = r,
        .header = entry_block(structure, routine),
        .name = pm_strdup(routine->display_name ? routine->display_name : routine->name),
        .address_low = routine->address,
        .address_high = routine->address + routine->size_bytes};
    routine->scope = add_scope(builder, scope, PM_NONE);
    for (uint32_t l = loops->first_loop[r]; l < loops->first_loop[r + 1]; l++)
        add_loop(builder, routine->scope, l, loop_inline[l]);
    for (uint32_t i = 0; i < routine->n_blocks; i++) {
        uint32_t b = routine->first_block + i, l = loops->block_loop[b];
        structure->blocks[b].loop = l == PM_NONE ? PM_NONE : builder->loop_scope[l];
        uint32_t above = l == PM_NONE ? routine->scope : builder->loop_scope[l];
        uint32_t inlined = pm_place_block(builder->lifted, builder->debug, b);
        uint32_t own = inlined_scope(builder, above, inlined);
        structure->blocks[b].scope = own;
    }
}

/* By address, but a source routine before what was made of it: its scope is their parent. */
static void add_routines(struct builder *builder, const uint32_t *loop_inline) {
    struct pm_structure *structure = builder->lifted->structure;
    uint32_t *sources = pm_find_source_routines(structure);
    for (uint32_t r = 0; r < structure->n_routines; r++)
        structure->routines[r].scope = PM_NONE;
    for (uint32_t r = 0; r < structure->n_routines; r++)
        for (uint32_t made = r; structure->routines[r].scope == PM_NONE; made = r) {
            /* names get shorter from clone to source, so this ends */
            while (sources[made] != PM_NONE && structure->routines[sources[made]].scope == PM_NONE)
                made = sources[made];
            uint32_t parent = sources[made] != PM_NONE
                                  ? structure->routines[sources[made]].scope
                                  : structure->modules[structure->routines[made].module].scope;
            add_routine(builder, made, parent, loop_inline);
        }
    free(sources);
}

static uint32_t add_module(struct builder *builder, struct pm_module *module) {
    struct pm_scope scope = {.kind = PM_SCOPE_MODULE,
                             .routine = PM_NONE,
                             .header = PM_NONE,
                             .name = pm_strdup(module->name)};
    module->has_lines = builder->debug->has_lines;
    module->scope = add_scope(builder, scope, PM_NONE);
    return module->scope;
}

void pm_build_scopes(struct pm_lifted *lifted) {
    struct pm_structure *structure = lifted->structure;
    struct pm_debug *debug = pm_debug_read(lifted);
    struct builder builder = {.lifted = lifted, .debug = debug};
    for (size_t s = 0; s < structure->n_scopes; s++) /* the program */
        *PM_PUSH(&builder, scope_inline) = PM_NONE;
    builder.loop_scope = pm_alloc(lifted->loops->n_loops, sizeof *builder.loop_scope);
    uint32_t *loop_inline = pm_place_loops(lifted, debug);
    if (!structure->scopes[0].name && structure->n_modules)
        structure->scopes[0].name = pm_strdup(structure->modules[0].name);
    for (size_t m = 0; m < structure->n_modules; m++)
        add_module(&builder, &structure->modules[m]);
    add_routines(&builder, loop_inline);
    pm_set_lines(lifted, debug, builder.scope_inline);
    free(loop_inline);
    free(builder.scope_inline);
    free(builder.loop_scope);
    pm_map_free(&builder.inlined);
    structure->modules[0].code_hash = pm_hash_code(lifted, debug->insn_line);
    lifted->statistics.debug_note = debug->note;
    debug->note = NULL;
    pm_debug_free(debug);
}
