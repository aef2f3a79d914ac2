/* Loops with their headers, the edges that enter, repeat and leave them, and their basic blocks, as
   text and for Graphviz.  Needs the scope tree, joined with metadata. */
#include "binlift/dump/dump.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- loops of routines ----------------------------------------------------------------------- */

void pm_number_loops(struct pm_dump *dump) {
    const struct pm_structure *structure = dump->structure;
    size_t n_routines = structure->n_routines, n = 0;
    dump->first_loop = pm_alloc(n_routines + 2, sizeof *dump->first_loop);
    dump->loop_number = pm_alloc(structure->n_scopes, sizeof *dump->loop_number);
    for (size_t s = 0; s < structure->n_scopes; s++)
        if (structure->scopes[s].kind == PM_SCOPE_LOOP) {
            dump->loop_number[s] = dump->first_loop[structure->scopes[s].routine + 2]++;
            n++;
        }
    for (size_t r = 1; r < n_routines + 2; r++)
        dump->first_loop[r] += dump->first_loop[r - 1];
    dump->loops = pm_alloc(n, sizeof *dump->loops);
    for (uint32_t s = 0; s < structure->n_scopes; s++)
        if (structure->scopes[s].kind == PM_SCOPE_LOOP)
            dump->loops[dump->first_loop[structure->scopes[s].routine + 1]++] = s;
}

bool pm_is_back_edge(const struct pm_structure *structure, const struct pm_edge *edge) {
    if (edge->from == PM_NONE || edge->to == PM_NONE)
        return false;
    for (uint32_t loop = structure->blocks[edge->to].loop; loop != PM_NONE;
         loop = pm_outer_loop(structure, loop))
        if (structure->scopes[loop].header == edge->to &&
            pm_is_in_loop(structure, edge->from, loop))
            return true;
    return false;
}

/* ---- what belongs to a loop ------------------------------------------------------------------ */

enum role { ROLE_BLOCK, ROLE_ENTRY, ROLE_BACK, ROLE_EXIT };
static const char *const role_words[] = {"block", "entry", "back", "exit"};

struct member { /* an edge, or a basic block directly in the loop */
    uint32_t loop, item;
    enum role role;
};

struct members {
    const struct pm_structure *structure;
    PM_ARRAY(struct member, members);
};

static void add(struct members *members, uint32_t loop, enum role role, uint32_t item) {
    *PM_PUSH(members, members) = (struct member){loop, item, role};
}

/* The loops around block HERE that THERE is not in. */
static void add_crossed(struct members *members, uint32_t here, uint32_t there, enum role role,
                        uint32_t edge) {
    const struct pm_structure *structure = members->structure;
    if (here == PM_NONE)
        return;
    for (uint32_t loop = structure->blocks[here].loop; loop != PM_NONE;
         loop = pm_outer_loop(structure, loop)) {
        if (there != PM_NONE && pm_is_in_loop(structure, there, loop))
            break;
        add(members, loop, role, edge);
    }
}

static void add_back(struct members *members, uint32_t e) {
    const struct pm_structure *structure = members->structure;
    const struct pm_edge *edge = &structure->edges[e];
    if (edge->from == PM_NONE || edge->to == PM_NONE)
        return;
    for (uint32_t loop = structure->blocks[edge->to].loop; loop != PM_NONE;
         loop = pm_outer_loop(structure, loop))
        if (structure->scopes[loop].header == edge->to &&
            pm_is_in_loop(structure, edge->from, loop))
            add(members, loop, ROLE_BACK, e);
}

static int compare_members(const void *left, const void *right) {
    const struct member *a = left, *b = right;
    if (a->loop != b->loop)
        return PM_COMPARE(a->loop, b->loop);
    if (a->role != b->role)
        return PM_COMPARE(a->role, b->role);
    return PM_COMPARE(a->item, b->item);
}

static struct members find_members(const struct pm_structure *structure, uint32_t r) {
    const struct pm_routine *routine = &structure->routines[r];
    struct members members = {.structure = structure};
    for (uint32_t b = routine->first_block; b < routine->first_block + routine->n_blocks; b++)
        if (structure->blocks[b].loop != PM_NONE)
            add(&members, structure->blocks[b].loop, ROLE_BLOCK, b);
    for (uint32_t e = routine->first_edge; e < routine->first_edge + routine->n_edges; e++) {
        const struct pm_edge *edge = &structure->edges[e];
        add_crossed(&members, edge->to, edge->from, ROLE_ENTRY, e);
        add_crossed(&members, edge->from, edge->to, ROLE_EXIT, e);
        add_back(&members, e);
    }
    PM_SORT(members.members, members.n_members, compare_members);
    return members;
}

/* ---- text ------------------------------------------------------------------------------------ */

static void put_quoted(FILE *out, const char *word, const char *text) {
    if (!text)
        return;
    fprintf(out, " %s \"", word);
    pm_put_escaped(out, text, PM_ESCAPE_DOT, 0);
    fputc('"', out);
}

static void put_loop(const struct pm_dump *dump, uint32_t r, uint32_t scope) {
    const struct pm_scope *loop = &dump->structure->scopes[scope];
    uint32_t outer = pm_outer_loop(dump->structure, scope);
    FILE *out = dump->out;
    fprintf(out, "loop L%" PRIu32, dump->loop_number[scope]);
    if (outer != PM_NONE)
        fprintf(out, " in L%" PRIu32, dump->loop_number[outer]);
    fprintf(out, " depth %u header ", loop->depth);
    pm_put_block(dump, r, loop->header, false);
    fprintf(out, " 0x%" PRIx64 " %s", dump->structure->blocks[loop->header].address,
            loop->flags & PM_SCOPE_IRREDUCIBLE ? "irreducible" : "natural");
    if (loop->flags & PM_SCOPE_VECTOR_BODY)
        fputs(" vector-body", out);
    if (loop->flags & PM_SCOPE_REMAINDER)
        fputs(" remainder", out);
    if (loop->flags & PM_SCOPE_FROM_COMPILER)
        fputs(" known-to-compiler", out);
    if (loop->unroll > 1)
        fprintf(out, " unrolled %" PRIu32, loop->unroll);
    fputc('\n', out);
    if (loop->line_first) {
        fputs(" source ", out);
        pm_put_source(out, loop, loop->line_first, PM_ESCAPE_TEXT);
        fprintf(out, "-%" PRIu32 "\n", loop->line_last);
    }
    uint32_t parent = loop->parent;
    if (parent != PM_NONE && dump->structure->scopes[parent].kind == PM_SCOPE_INLINED) {
        fputs(" of", out);
        put_quoted(out, "inlined", dump->structure->scopes[parent].name);
        fprintf(out, " called at line %" PRIu32 "\n",
                dump->structure->scopes[parent].call_file_line);
    }
    if (loop->name || loop->trip_count) {
        fputs(" has", out);
        put_quoted(out, "variable", loop->name);
        put_quoted(out, "trips", loop->trip_count);
        fputc('\n', out);
    }
    if (loop->fold != scope && dump->structure->scopes[loop->fold].kind == PM_SCOPE_LOOP)
        fprintf(out, " reported with L%" PRIu32 "\n", dump->loop_number[loop->fold]);
}

/* The members of LOOP, from *AT on. */
static void put_members(const struct pm_dump *dump, const struct members *members, uint32_t r,
                        uint32_t loop, size_t *at) {
    const struct member *member = members->members + *at,
                        *end = members->members + members->n_members;
    fputs(" blocks", dump->out);
    for (; member < end && member->loop == loop && member->role == ROLE_BLOCK; member++) {
        fputc(' ', dump->out);
        pm_put_block(dump, r, member->item, false);
    }
    fputc('\n', dump->out);
    for (; member < end && member->loop == loop; member++) {
        fprintf(dump->out, " %s ", role_words[member->role]);
        pm_put_edge(dump, &dump->structure->edges[member->item]);
        fputc('\n', dump->out);
    }
    *at = (size_t)(member - members->members);
}

static void text(const struct pm_dump *dump, uint32_t r) {
    struct members members = find_members(dump->structure, r);
    size_t at = 0;
    for (uint32_t i = dump->first_loop[r]; i < dump->first_loop[r + 1]; i++) {
        put_loop(dump, r, dump->loops[i]);
        put_members(dump, &members, r, dump->loops[i], &at);
    }
    free(members.members);
}

/* ---- for Graphviz ---------------------------------------------------------------------------- */

static void lines(const struct pm_dump *dump, uint32_t block) {
    const struct pm_block *found = &dump->structure->blocks[block];
    const struct pm_scope *scope =
        found->scope == PM_NONE ? NULL : &dump->structure->scopes[found->scope];
    fprintf(dump->out, "%" PRIu32 " instructions", found->n_instructions);
    if (found->line) {
        fputs(", ", dump->out);
        pm_put_source(dump->out, scope, found->line, PM_ESCAPE_DOT);
    }
    fputs("\\l", dump->out);
}

static void dot(const struct pm_dump *dump, uint32_t routine) {
    struct pm_graph graph = {.dump = dump, .routine = routine, .with_loops = true, .lines = lines};
    pm_put_plain_graph(&graph);
}

const struct pm_dump_kind pm_dump_loops = {
    .needs = PM_LIFT_SCOPES, .prepare = pm_number_loops, .text = text, .dot = dot};
