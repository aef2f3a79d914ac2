/* Reference groups with their objects, strides and references, as text.  Needs groups. */
#include "binlift/dump/dump.h"

#include <inttypes.h>
#include <stdlib.h>

struct entry {
    uint32_t group, reference;
};

static int compare_entries(const void *left, const void *right) {
    const struct entry *a = left, *b = right;
    if (a->group != b->group)
        return PM_COMPARE(a->group, b->group);
    return PM_COMPARE(a->reference, b->reference);
}

static void put_text(FILE *out, const char *text) {
    if (!text) {
        fputc('?', out);
        return;
    }
    fputc('"', out);
    pm_put_escaped(out, text, PM_ESCAPE_DOT, 0);
    fputc('"', out);
}

static void put_strides(FILE *out, const struct pm_group *group) {
    fputs(" strides", out);
    if (!group->n_strides)
        fputs(" none", out);
    for (uint32_t i = 0; i < group->n_strides; i++) {
        const struct pm_stride *stride = &group->strides[i];
        fputc(' ', out);
        if (stride->kind == PM_STRIDE_CONSTANT)
            fprintf(out, "%" PRId64, stride->bytes);
        else if (stride->kind == PM_STRIDE_SYMBOLIC)
            put_text(out, stride->expression);
        else
            fputs(stride->kind == PM_STRIDE_INDIRECT ? "indirect" : "?", out);
    }
    fputc('\n', out);
}

/* NUMBER counts in the routine, so that a dump does not change with other routines. */
static void put_group(const struct pm_dump *dump, uint32_t number, const struct pm_group *group) {
    static const char *const flags[] = {"known-to-compiler", "irregular", "stack",
                                        "constants",         "pushed",    "called"};
    FILE *out = dump->out;
    fprintf(out, "group g%" PRIu32, number);
    if (group->scope != PM_NONE && dump->structure->scopes[group->scope].kind == PM_SCOPE_LOOP)
        fprintf(out, " in L%" PRIu32, dump->loop_number[group->scope]);
    fputs(" object ", out);
    put_text(out, group->object);
    fputs(" type ", out);
    put_text(out, group->object_type);
    for (unsigned i = 0; i < sizeof flags / sizeof *flags; i++)
        if (group->flags & (1u << i))
            fprintf(out, " %s", flags[i]);
    fputc('\n', out);
    put_strides(out, group);
}

static void put_reference(const struct pm_dump *dump, uint32_t r, uint32_t index) {
    static const char *const accesses[] = {"?", "load", "store", "load-store"};
    const struct pm_reference *reference = &dump->structure->references[index];
    uint32_t insn = pm_insn_at(dump->lifted, reference->address);
    char *text = insn == PM_NONE ? NULL : pm_insn_text(dump->lifted, insn);
    fputs(" ref ", dump->out);
    pm_put_block(dump, r, reference->block, false);
    fprintf(dump->out, " 0x%" PRIx64 " %s bytes %" PRIu32 " ", reference->address,
            reference->access < 4 ? accesses[reference->access] : "?", reference->size_bytes);
    pm_put_escaped(dump->out, text ? text : "?", PM_ESCAPE_TEXT, 0);
    fputc('\n', dump->out);
    free(text);
}

static void text(const struct pm_dump *dump, uint32_t r) {
    const struct pm_structure *structure = dump->structure;
    const struct pm_routine *routine = &structure->routines[r];
    struct {
        PM_ARRAY(struct entry, entries);
    } found = {0};
    for (uint32_t b = routine->first_block; b < routine->first_block + routine->n_blocks; b++) {
        const struct pm_block *block = &structure->blocks[b];
        for (uint32_t i = 0; i < block->n_references; i++) {
            uint32_t reference = block->first_reference + i;
            *PM_PUSH(&found, entries) =
                (struct entry){structure->references[reference].group, reference};
        }
    }
    PM_SORT(found.entries, found.n_entries, compare_entries);
    for (size_t i = 0, number = 0; i < found.n_entries; i++) {
        const struct entry *entry = &found.entries[i];
        if (entry->group != PM_NONE && (i == 0 || entry[-1].group != entry->group))
            put_group(dump, (uint32_t)number++, &structure->groups[entry->group]);
        put_reference(dump, r, entry->reference);
    }
    free(found.entries);
}

const struct pm_dump_kind pm_dump_groups = {
    .needs = PM_LIFT_GROUPS, .prepare = pm_number_loops, .text = text};
