/* Pages found by a number; see page_table.h. */
#include "runtime/page_table.h"

#include <string.h>

#include "runtime/system.h"

enum { FIRST_ENTRIES = 1 << 10 };

/* The entry of KEY, empty if there is no such page.  The hash puts neighbouring pages far apart: a
   program's arrays would else form long runs of taken entries and collide as wholes. */
static struct pm_page *find(struct pm_page *pages, uint64_t mask, uint64_t key) {
    uint64_t i = key * 0x9e3779b97f4a7c15 >> 32 & mask;
    while (PM_UNLIKELY(pages[i].key != key) && pages[i].key)
        i = (i + 1) & mask;
    return &pages[i];
}

static bool grow(struct pm_page_table *table) {
    uint64_t n = table->mask + 1, mask = 2 * n - 1;
    struct pm_page *pages = pm_mmap(2 * n * sizeof *pages);
    if (!pages)
        return false;
    for (uint64_t i = 0; i < n; i++)
        if (table->pages[i].key)
            *find(pages, mask, table->pages[i].key) = table->pages[i];
    pm_munmap(table->pages, n * sizeof *pages);
    table->pages = pages;
    table->mask = mask;
    return true;
}

/* The table is at most half full. */
uint64_t *pm_page_table_find(struct pm_page_table *table, uint64_t key, size_t n_words) {
    struct pm_page *page = find(table->pages, table->mask, key);
    if (PM_LIKELY(page->key))
        return page->words;
    if (2 * table->n_pages > table->mask) {
        if (!grow(table))
            return NULL;
        page = find(table->pages, table->mask, key);
    }
    uint64_t *words = pm_arena_take(&table->arena, n_words * sizeof *words);
    if (!words)
        return NULL;
    *page = (struct pm_page){key, words};
    table->n_pages++;
    return words;
}

uint64_t *pm_page_table_look(const struct pm_page_table *table, uint64_t key) {
    return find(table->pages, table->mask, key)->words;
}

bool pm_page_table_begin(struct pm_page_table *table) {
    *table = (struct pm_page_table){.mask = FIRST_ENTRIES - 1};
    table->pages = pm_mmap(FIRST_ENTRIES * sizeof *table->pages);
    return table->pages;
}

void pm_page_table_free(struct pm_page_table *table) {
    pm_arena_free(&table->arena);
    pm_munmap(table->pages, (table->mask + 1) * sizeof *table->pages);
}

void pm_page_table_clear(struct pm_page_table *table) {
    pm_arena_free(&table->arena);
    memset(table->pages, 0, (table->mask + 1) * sizeof *table->pages);
    table->n_pages = 0;
}
