/* From a structure to the instruction mix: how many operations of each class, width and element
   there are in each basic block, loop or routine.  Counts are of the code as it stands, not of its
   execution.  A loop's row has what is directly in it, a routine's row at the level of loops what
   is outside loops, so that the rows add up to the total. */
#include "report/loops/mix.h"

#include <stdlib.h>
#include <string.h>

#include "core/structure/structure.h"
#include "report/labels/labels.h"

/* ---- which row a basic block belongs to ------------------------------------------------------ */

static char *block_source(const struct pm_structure *structure, uint32_t block) {
    const struct pm_block *b = &structure->blocks[block];
    const char *file = b->scope != PM_NONE ? structure->scopes[b->scope].file : NULL;
    return file && b->line ? pm_sprintf("%s:%u", pm_base_name(file), b->line) : pm_strdup("?");
}

static struct pm_mix_row *add_row(struct pm_mix *mix, const struct pm_structure *structure,
                                  enum pm_mix_level level, uint32_t block) {
    struct pm_mix_row *row = PM_PUSH(mix, rows);
    row->place = (struct pm_row_place){structure, pm_mix_scope(structure, block, level)};
    row->block = level == PM_MIX_BLOCK ? block : PM_NONE;
    row->address = structure->blocks[block].address;
    row->label = pm_scope_label(structure, row->place.scope);
    row->source = level == PM_MIX_BLOCK ? block_source(structure, block)
                                        : pm_scope_source(structure, row->place.scope);
    return row;
}

/* ---- counting -------------------------------------------------------------------------------- */

static void count_op(struct pm_mix_row *row, const struct pm_op *op, uint64_t times) {
    row->n_operations += times;
    for (size_t i = 0; i < row->n_items; i++)
        if (row->items[i].op_class == op->op_class && row->items[i].width_bits == op->width_bits &&
            row->items[i].element_bytes == op->element_bytes) {
            row->items[i].count += times;
            return;
        }
    *PM_PUSH(row, items) =
        (struct pm_mix_item){op->op_class, op->element_bytes, op->width_bits, times};
}

static void count_unknown(struct pm_mix_row *row, const char *mnemonic, uint64_t times) {
    for (size_t i = 0; i < row->n_unknowns; i++)
        if (strcmp(row->unknowns[i].mnemonic, mnemonic) == 0) {
            row->unknowns[i].count += times;
            return;
        }
    *PM_PUSH(row, unknowns) = (struct pm_mix_unknown){mnemonic, times};
}

static void count_block(struct pm_mix_row *row, const struct pm_structure *structure,
                        uint32_t block) {
    const struct pm_block *b = &structure->blocks[block];
    row->n_instructions += b->n_instructions;
    for (uint32_t i = 0; i < b->n_ops; i++)
        count_op(row, &structure->ops[b->first_op + i], 1);
    if (b->address < row->address)
        row->address = b->address;
}

static int by_count(const void *a, const void *b) {
    const struct pm_mix_item *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    if (x->op_class != y->op_class)
        return (int)x->op_class - y->op_class;
    if (x->width_bits != y->width_bits)
        return (int)x->width_bits - y->width_bits;
    return (int)x->element_bytes - y->element_bytes;
}

static int unknowns_by_count(const void *a, const void *b) {
    const struct pm_mix_unknown *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return strcmp(x->mnemonic, y->mnemonic);
}

static void sort_row(struct pm_mix_row *row) {
    if (row->n_items)
        qsort(row->items, row->n_items, sizeof *row->items, by_count);
    if (row->n_unknowns)
        qsort(row->unknowns, row->n_unknowns, sizeof *row->unknowns, unknowns_by_count);
}

static void add_total(struct pm_mix *mix, const struct pm_structure *structure) {
    struct pm_mix_row total = {.place = {structure, PM_NONE},
                               .block = PM_NONE,
                               .label = pm_strdup("total"),
                               .source = pm_strdup("")};
    for (size_t i = 0; i < mix->n_rows; i++) {
        const struct pm_mix_row *row = &mix->rows[i];
        total.n_instructions += row->n_instructions;
        for (size_t k = 0; k < row->n_items; k++) {
            const struct pm_mix_item *item = &row->items[k];
            struct pm_op op = {.op_class = item->op_class,
                               .element_bytes = item->element_bytes,
                               .width_bits = item->width_bits};
            count_op(&total, &op, item->count);
        }
        for (size_t k = 0; k < row->n_unknowns; k++)
            count_unknown(&total, row->unknowns[k].mnemonic, row->unknowns[k].count);
    }
    *PM_PUSH(mix, rows) = total;
}

/* ---- the program total
 * ------------------------------------------------------------------------------------ */

static void tell_rows_apart(const struct pm_mix *mix, const struct pm_structure *structure) {
    struct pm_shown_label *labels = pm_alloc(mix->n_rows, sizeof *labels);
    for (size_t i = 0; i < mix->n_rows; i++)
        labels[i] = (struct pm_shown_label){&mix->rows[i].label, mix->rows[i].place.scope};
    pm_tell_labels_apart(structure, labels, mix->n_rows);
    free(labels);
}

struct pm_mix *pm_mix_new(const struct pm_structure *structure, enum pm_mix_level level,
                          const char *routine) {
    struct pm_mix *mix = pm_alloc(1, sizeof *mix);
    uint32_t *row_of_scope = pm_alloc(structure->n_scopes, sizeof *row_of_scope); /* + 1; 0 none */
    uint32_t *row_of_block = pm_alloc(structure->n_blocks, sizeof *row_of_block);
    uint32_t n_named;
    bool *named = pm_routines_named(structure, routine, &n_named);
    for (uint32_t b = 0; b < structure->n_blocks; b++) {
        if (!named[structure->blocks[b].routine])
            continue;
        uint32_t *row = level == PM_MIX_BLOCK ? &row_of_block[b]
                                              : &row_of_scope[pm_mix_scope(structure, b, level)];
        if (!*row) {
            add_row(mix, structure, level, b);
            *row = (uint32_t)mix->n_rows;
        }
        row_of_block[b] = *row;
        count_block(&mix->rows[*row - 1], structure, b);
    }
    for (size_t i = 0; i < structure->n_unknowns; i++) {
        const struct pm_unknown *unknown = &structure->unknowns[i];
        if (row_of_block[unknown->block])
            count_unknown(&mix->rows[row_of_block[unknown->block] - 1], unknown->mnemonic,
                          unknown->count);
    }
    if (level != PM_MIX_BLOCK) /* these have addresses */
        tell_rows_apart(mix, structure);
    add_total(mix, structure);
    for (size_t i = 0; i < mix->n_rows; i++)
        sort_row(&mix->rows[i]);
    free(named);
    free(row_of_scope);
    free(row_of_block);
    return mix;
}

void pm_mix_free(struct pm_mix *mix) {
    for (size_t i = 0; i < mix->n_rows; i++) {
        free(mix->rows[i].label);
        free(mix->rows[i].source);
        free(mix->rows[i].items);
        free(mix->rows[i].unknowns);
    }
    free(mix->rows);
    free(mix);
}

/* ---- instructions without a class ------------------------------------------------------------ */

struct pm_mix_unknown *pm_unknowns_of(const struct pm_structure *structure, size_t *n) {
    struct pm_mix_row row = {0};
    for (size_t i = 0; i < structure->n_unknowns; i++)
        count_unknown(&row, structure->unknowns[i].mnemonic, structure->unknowns[i].count);
    sort_row(&row);
    *n = row.n_unknowns;
    return row.unknowns;
}

char *pm_unknowns_label(const struct pm_mix_unknown *unknowns, size_t n) {
    char *label = pm_strdup("");
    for (size_t i = 0; i < n; i++)
        pm_append(&label, "%s%s %llu", i ? ", " : "", unknowns[i].mnemonic,
                  (unsigned long long)unknowns[i].count);
    return label;
}
