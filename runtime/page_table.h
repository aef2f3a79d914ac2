/* Pages of 64-bit words that are made when they are first looked for, and found by a number: a hash
   table over memory that a program touches here and there. */
#ifndef PM_RUNTIME_PAGE_TABLE_H
#define PM_RUNTIME_PAGE_TABLE_H

#include <stdbool.h>

#include "runtime/arena.h"

struct pm_page {
    uint64_t key;    /* number of the page + 1; 0: empty */
    uint64_t *words; /* zero at first */
};

struct pm_page_table {
    struct pm_page *pages;
    uint64_t mask, n_pages; /* entries − 1, and how many are taken */
    struct pm_arena arena;  /* of words */
};

/* An empty table; false: there is no memory. */
bool pm_page_table_begin(struct pm_page_table *table);
void pm_page_table_free(struct pm_page_table *table);

/* Takes all pages away. */
void pm_page_table_clear(struct pm_page_table *table);

/* The N_WORDS words, always as many, of the page with KEY; NULL: there is no memory. */
uint64_t *pm_page_table_find(struct pm_page_table *table, uint64_t key, size_t n_words);

/* The same of a page that was made already; NULL: it was not. */
uint64_t *pm_page_table_look(const struct pm_page_table *table, uint64_t key);

#endif
