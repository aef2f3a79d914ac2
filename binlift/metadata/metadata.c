/* What `.pmodel` says: the sections of a file read (parse_section.c) and sorted, and looked up.
   Needs the image only. */
#include "binlift/metadata/metadata.h"

#include <stdlib.h>
#include <string.h>

/* ---- index ----------------------------------------------------------------------------------- */

static int compare_tables(const void *left, const void *right) {
    const struct pm_metadata_table *a = left, *b = right;
    return PM_COMPARE(a->address, b->address);
}

static int compare_memory(const void *left, const void *right) {
    const struct pm_metadata_memory *a = left, *b = right;
    if (a->address != b->address)
        return PM_COMPARE(a->address, b->address);
    return PM_COMPARE(a->order, b->order);
}

static int compare_bases(const void *left, const void *right) {
    const struct pm_contribution *a = *(struct pm_contribution *const *)left;
    const struct pm_contribution *b = *(struct pm_contribution *const *)right;
    if (a->base != b->base)
        return PM_COMPARE(a->base, b->base);
    return a < b ? -1 : a > b;
}

void pm_metadata_index(struct pm_metadata *m) {
    struct pm_contribution **by_base =
        pm_alloc(m->n_contributions, sizeof(struct pm_contribution *));
    for (size_t i = 0; i < m->n_contributions; i++)
        by_base[i] = &m->contributions[i];
    PM_SORT(by_base, m->n_contributions, compare_bases);
    for (size_t i = 1; i < m->n_contributions; i++)
        if (by_base[i]->base == by_base[i - 1]->base)
            by_base[i]->used = false;
    free(by_base);
    size_t kept = 0;
    for (size_t i = 0; i < m->n_memory; i++)
        if (m->contributions[m->memory[i].contribution].used)
            m->memory[kept++] = m->memory[i];
    m->n_memory = kept;
    PM_SORT(m->memory, m->n_memory, compare_memory);
    PM_SORT(m->tables, m->n_tables, compare_tables);
    PM_SORT(m->no_returns, m->n_no_returns, pm_compare_u64);
    pm_metadata_index_places(m);
}

/* ---- look-ups -------------------------------------------------------------------------------- */

/* Those of a contribution ascend by number. */
#define NUMBERED(name)                                                                             \
    const struct pm_metadata_##name *pm_metadata_find_##name(                                      \
        const struct pm_metadata *metadata, const struct pm_contribution *contribution,            \
        uint32_t number) {                                                                         \
        if (number == 0 || contribution->n_##name##s == 0)                                         \
            return NULL;                                                                           \
        const struct pm_metadata_##name *first = metadata->name##s + contribution->first_##name;   \
        size_t n = contribution->n_##name##s;                                                      \
        size_t at = PM_LOWER_BOUND(n, i, first[i].number < number);                                \
        return at < n && first[at].number == number ? &first[at] : NULL;                           \
    }
NUMBERED(loop)
NUMBERED(object)
NUMBERED(reference)

enum pm_alias pm_metadata_may_alias(const struct pm_metadata *m,
                                    const struct pm_contribution *contribution, uint32_t loop,
                                    uint32_t a, uint32_t b) {
    const struct pm_metadata_loop *known = pm_metadata_find_loop(m, contribution, loop);
    const struct pm_metadata_reference *one = pm_metadata_find_reference(m, contribution, a);
    const struct pm_metadata_reference *other = pm_metadata_find_reference(m, contribution, b);
    if (!known || !(known->flags & PM_LOOP_ALIAS_KNOWN) || !one || !other || one == other ||
        one->loop != loop || other->loop != loop ||
        !((one->flags | other->flags) & PM_REFERENCE_STORE))
        return PM_ALIAS_UNKNOWN;
    const struct pm_metadata_pair *pairs = m->pairs + contribution->first_pair;
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    size_t at = PM_LOWER_BOUND(contribution->n_pairs, i,
                               pairs[i].low < low || (pairs[i].low == low && pairs[i].high < high));
    bool listed = at < contribution->n_pairs && pairs[at].low == low && pairs[at].high == high;
    return listed ? PM_ALIAS_MAY : PM_ALIAS_INDEPENDENT;
}

const struct pm_metadata_memory *pm_metadata_memory_at(const struct pm_metadata *m,
                                                       uint64_t address, size_t *n) {
    size_t first = PM_LOWER_BOUND(m->n_memory, i, m->memory[i].address < address), end = first;
    while (end < m->n_memory && m->memory[end].address == address)
        end++;
    *n = end - first;
    return m->memory + first;
}

bool pm_metadata_no_return(const struct pm_lifted *lifted, uint64_t address) {
    const struct pm_metadata *m = lifted->metadata;
    return m && m->n_no_returns &&
           bsearch(&address, m->no_returns, m->n_no_returns, sizeof address, pm_compare_u64);
}

bool pm_metadata_table(const struct pm_lifted *lifted, uint64_t address, const uint64_t **targets,
                       size_t *n) {
    const struct pm_metadata *m = lifted->metadata;
    struct pm_metadata_table wanted = {.address = address};
    if (!m || m->n_tables == 0)
        return false;
    const struct pm_metadata_table *table =
        bsearch(&wanted, m->tables, m->n_tables, sizeof wanted, compare_tables);
    if (!table)
        return false;
    *targets = m->table_targets + table->first_target;
    *n = table->n_targets;
    return true;
}

/* ---- the whole ------------------------------------------------------------------------------- */

bool pm_read_metadata(struct pm_lifted *lifted, struct pm_error *err) {
    const struct pm_image *image = &lifted->image;
    struct pm_metadata *metadata = NULL;
    for (size_t i = 0; i < image->n_sections; i++) {
        const Elf64_Shdr *header = &image->sections[i].header;
        if (strcmp(image->sections[i].name, PM_SECTION_NAME) != 0 || header->sh_type == SHT_NOBITS)
            continue;
        if (!metadata)
            metadata = pm_alloc(1, sizeof *metadata);
        bool inside = header->sh_offset <= image->n_bytes &&
                      header->sh_size <= image->n_bytes - header->sh_offset;
        bool good = (inside && !(header->sh_flags & SHF_COMPRESSED)) ||
                    pm_fail(err, "%s: section " PM_SECTION_NAME " %s: link the program again",
                            image->path, inside ? "is compressed" : "goes beyond the file's end");
        if (!good || !pm_metadata_parse(metadata, image->path, image->bytes + header->sh_offset,
                                        header->sh_size, err)) {
            pm_free_metadata(metadata);
            return false;
        }
    }
    if (metadata)
        pm_metadata_index(metadata);
    pm_free_metadata(lifted->metadata);
    lifted->metadata = metadata;
    return true;
}

void pm_free_metadata(struct pm_metadata *metadata) {
    if (!metadata)
        return;
    free(metadata->contributions);
    free(metadata->loops);
    free(metadata->objects);
    free(metadata->levels);
    free(metadata->references);
    free(metadata->pairs);
    free(metadata->blocks);
    free(metadata->edges);
    free(metadata->places);
    free(metadata->memory);
    free(metadata->tables);
    free(metadata->table_targets);
    free(metadata->no_returns);
    free(metadata->scope_loop);
    free(metadata);
}
