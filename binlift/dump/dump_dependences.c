/* Dependences between the instructions of each loop, through registers and through memory, as text
   and for Graphviz.  Needs dependences. */
#include "binlift/dump/dump.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/structure/structure.h"

/* A dependence through a register between instructions, numbered as in the lift. */
struct link {
    uint32_t to, from;
    uint8_t number, distance;
};

struct body {
    const struct pm_dump *dump;
    uint32_t loop;
    const struct pm_routine *routine;
    uint32_t first_insn; /* of the routine: instructions are counted from there */
    uint32_t first_op;
    uint32_t *insn_of_op; /* of the routine's operations; PM_NONE outside the loop */
    PM_ARRAY(struct link, links);
    bool is_cut;
    const struct pm_dependence *memory;
    size_t n_memory;
};

/* ---- what is in a loop ----------------------------------------------------------------------- */

/* Each instruction has an operation at least, and the first of them says so. */
static void number_ops(struct body *body) {
    const struct pm_structure *structure = body->dump->structure;
    const struct pm_routine *routine = body->routine;
    uint32_t end = 0;
    body->first_op = UINT32_MAX;
    for (uint32_t b = routine->first_block; b < routine->first_block + routine->n_blocks; b++) {
        const struct pm_block *block = &structure->blocks[b];
        if (block->loop != body->loop || !block->n_ops)
            continue;
        body->first_op = block->first_op < body->first_op ? block->first_op : body->first_op;
        end = block->first_op + block->n_ops > end ? block->first_op + block->n_ops : end;
    }
    body->insn_of_op = pm_alloc(end ? end - body->first_op : 0, sizeof *body->insn_of_op);
    for (uint32_t b = routine->first_block; b < routine->first_block + routine->n_blocks; b++) {
        const struct pm_block *block = &structure->blocks[b];
        uint32_t insn = body->dump->lifted->block_codes[b].first_insn - 1;
        if (block->loop != body->loop)
            continue;
        for (uint32_t i = block->first_op; i < block->first_op + block->n_ops; i++) {
            insn += structure->ops[i].instruction_start;
            body->insn_of_op[i - body->first_op] = insn;
        }
    }
}

static int compare_links(const void *left, const void *right) {
    const struct link *a = left, *b = right;
    if (a->to != b->to)
        return PM_COMPARE(a->to, b->to);
    if (a->from != b->from)
        return PM_COMPARE(a->from, b->from);
    if (a->number != b->number)
        return PM_COMPARE(a->number, b->number);
    return (int)a->distance - b->distance;
}

/* From operations to instructions: what links the operations of one is not shown. */
static void find_links(struct body *body) {
    struct pm_register_dependences found;
    size_t n = 0;
    pm_register_dependences_of_loop(body->dump->structure, body->loop, &found);
    for (size_t i = 0; i < found.n_items; i++) {
        const struct pm_register_dependence *item = &found.items[i];
        struct link link = {body->insn_of_op[item->to - body->first_op],
                            body->insn_of_op[item->from - body->first_op], item->number,
                            item->distance};
        if (link.to != link.from || link.distance)
            *PM_PUSH(body, links) = link;
    }
    body->is_cut = found.is_cut;
    free(found.items);
    PM_SORT(body->links, body->n_links, compare_links);
    for (size_t i = 0; i < body->n_links; i++)
        if (n == 0 || compare_links(&body->links[n - 1], &body->links[i]) != 0)
            body->links[n++] = body->links[i];
    body->n_links = n;
}

static struct body make_body(const struct pm_dump *dump, uint32_t r, uint32_t loop) {
    struct body body = {.dump = dump,
                        .loop = loop,
                        .routine = &dump->structure->routines[r],
                        .first_insn = dump->lifted->routine_codes[r].first_insn};
    number_ops(&body);
    find_links(&body);
    body.memory = pm_structure_dependences(dump->structure, loop, &body.n_memory);
    return body;
}

static void free_body(struct body *body) {
    free(body->insn_of_op);
    free(body->links);
}

static uint32_t insn_of_reference(const struct body *body, uint32_t reference) {
    return pm_insn_at(body->dump->lifted, body->dump->structure->references[reference].address) -
           body->first_insn;
}

/* ---- text ------------------------------------------------------------------------------------ */

static void put_register(const struct body *body, uint8_t number) {
    enum { FLAGS = 32, FIRST_VECTOR = 40, FIRST_MASK = 72, FIRST_TEMPORARY = 120 };
    const struct pm_isa *isa = body->dump->lifted->isa;
    FILE *out = body->dump->out;
    if (number < FLAGS && number < isa->n_register_names)
        fputs(isa->register_names[number], out);
    else if (number == FLAGS)
        fputs("flags", out);
    else if (number >= FIRST_VECTOR && number < FIRST_MASK)
        fprintf(out, "vector%u", (unsigned)number - FIRST_VECTOR);
    else if (number >= FIRST_MASK && number < FIRST_TEMPORARY)
        fprintf(out, "mask%u", (unsigned)number - FIRST_MASK);
    else
        fprintf(out, "register%u", number);
}

/* "i4", or "i4.1" of an instruction with several references. */
static void put_reference_name(const struct body *body, uint32_t reference) {
    const struct pm_reference *references = body->dump->structure->references;
    size_t n = body->dump->structure->n_references;
    uint64_t address = references[reference].address;
    bool is_one_of_several = (reference && references[reference - 1].address == address) ||
                             (reference + 1 < n && references[reference + 1].address == address);
    fprintf(body->dump->out, "i%" PRIu32, insn_of_reference(body, reference));
    if (is_one_of_several)
        fprintf(body->dump->out, ".%u", references[reference].operand);
}

static void put_instructions(const struct body *body) {
    const struct pm_lifted *lifted = body->dump->lifted;
    const struct pm_structure *structure = body->dump->structure;
    const struct pm_routine *routine = body->routine;
    for (uint32_t b = routine->first_block; b < routine->first_block + routine->n_blocks; b++) {
        const struct pm_block_code *code = &lifted->block_codes[b];
        if (structure->blocks[b].loop != body->loop)
            continue;
        for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++) {
            char *text = pm_insn_text(lifted, k);
            fprintf(body->dump->out, " insn i%" PRIu32 " ", k - body->first_insn);
            pm_put_block(body->dump, structure->blocks[b].routine, b, false);
            fprintf(body->dump->out, " 0x%" PRIx64 " ", (uint64_t)lifted->insns[k].address);
            pm_put_escaped(body->dump->out, text, PM_ESCAPE_TEXT, 0);
            fputc('\n', body->dump->out);
            free(text);
        }
    }
}

static void put_memory(const struct body *body, const struct pm_dependence *dependence) {
    FILE *out = body->dump->out;
    bool is_same = dependence->kind == PM_DEPENDS_SAME;
    if (dependence->from == PM_NONE) {
        fputs(" memory all others unknown\n", out);
        return;
    }
    fputs(" memory ", out);
    put_reference_name(body, dependence->from);
    fputs(is_same ? " -> " : " -- ", out);
    put_reference_name(body, dependence->to);
    if (is_same)
        fprintf(out, " same distance %" PRIu32 "\n", dependence->distance);
    else
        fputs(" unknown\n", out);
}

static void text(const struct pm_dump *dump, uint32_t r) {
    for (uint32_t l = dump->first_loop[r]; l < dump->first_loop[r + 1]; l++) {
        struct body body = make_body(dump, r, dump->loops[l]);
        uint32_t outer = pm_outer_loop(dump->structure, body.loop);
        fprintf(dump->out, "loop L%" PRIu32, dump->loop_number[body.loop]);
        if (outer != PM_NONE)
            fprintf(dump->out, " in L%" PRIu32, dump->loop_number[outer]);
        fputc('\n', dump->out);
        put_instructions(&body);
        for (size_t i = 0; i < body.n_links; i++) {
            const struct link *link = &body.links[i];
            fprintf(dump->out, " register i%" PRIu32 " -> i%" PRIu32 " ",
                    link->from - body.first_insn, link->to - body.first_insn);
            put_register(&body, link->number);
            fprintf(dump->out, " distance %u\n", link->distance);
        }
        if (body.is_cut)
            fputs(" register too many: not all are listed\n", dump->out);
        for (size_t i = 0; i < body.n_memory; i++)
            put_memory(&body, &body.memory[i]);
        free_body(&body);
    }
}

/* ---- for Graphviz ---------------------------------------------------------------------------- */

static void put_nodes(const struct body *body) {
    const struct pm_lifted *lifted = body->dump->lifted;
    const struct pm_routine *routine = body->routine;
    for (uint32_t b = routine->first_block; b < routine->first_block + routine->n_blocks; b++) {
        const struct pm_block_code *code = &lifted->block_codes[b];
        if (body->dump->structure->blocks[b].loop != body->loop)
            continue;
        for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++) {
            char *text = pm_insn_text(lifted, k);
            fprintf(body->dump->out, "i%" PRIu32 " [label=\"i%" PRIu32 " ", k - body->first_insn,
                    k - body->first_insn);
            pm_put_escaped(body->dump->out, text, PM_ESCAPE_DOT, 0);
            fputs("\"];\n", body->dump->out);
            free(text);
        }
    }
}

/* Dependences from one iteration to another do not say which instruction is drawn higher. */
static void put_arrows(const struct body *body) {
    FILE *out = body->dump->out;
    for (size_t i = 0; i < body->n_links; i++) {
        const struct link *link = &body->links[i];
        fprintf(out, "i%" PRIu32 " -> i%" PRIu32 " [label=\"", link->from - body->first_insn,
                link->to - body->first_insn);
        put_register(body, link->number);
        fprintf(out, "\"%s];\n", link->distance ? ",style=dashed,constraint=false" : "");
    }
    for (size_t i = 0; i < body->n_memory; i++) {
        const struct pm_dependence *d = &body->memory[i];
        if (d->from == PM_NONE)
            continue;
        fprintf(out, "i%" PRIu32 " -> i%" PRIu32 " [color=\"#bc4c00\",",
                insn_of_reference(body, d->from), insn_of_reference(body, d->to));
        if (d->kind == PM_DEPENDS_SAME)
            fprintf(out, "label=\"memory %" PRIu32 "\"%s];\n", d->distance,
                    d->distance ? ",style=dashed,constraint=false" : "");
        else
            fputs("label=\"memory ?\",style=dotted,dir=both,constraint=false];\n", out);
    }
}

static void dot(const struct pm_dump *dump, uint32_t r) {
    FILE *out = dump->out;
    fputs("digraph \"", out);
    pm_put_escaped(out, dump->structure->routines[r].display_name, PM_ESCAPE_DOT, 0);
    fputs("\" {\nlabel=\"", out);
    pm_put_escaped(out, dump->structure->routines[r].display_name, PM_ESCAPE_DOT, 0);
    fputs("\";\nlabelloc=t;\nnode [shape=box,fontname=\"monospace\",fontsize=10];\n"
          "edge [fontname=\"monospace\",fontsize=9];\n",
          out);
    for (uint32_t l = dump->first_loop[r]; l < dump->first_loop[r + 1]; l++) {
        struct body body = make_body(dump, r, dump->loops[l]);
        fprintf(out, "subgraph cluster_L%" PRIu32 " {\nlabel=\"L%" PRIu32 "\";\n",
                dump->loop_number[body.loop], dump->loop_number[body.loop]);
        put_nodes(&body);
        fputs("}\n", out);
        put_arrows(&body);
        free_body(&body);
    }
    fputs("}\n", out);
}

const struct pm_dump_kind pm_dump_deps = {
    .needs = PM_LIFT_DEPS, .prepare = pm_number_loops, .text = text, .dot = dot};
