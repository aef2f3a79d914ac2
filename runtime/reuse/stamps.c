/* The memory of the time stamps; see stamps.h. */
#include "runtime/reuse/stamps.h"

#include <string.h>

static size_t round_up(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

/* Memory for CAPACITY stamps.  Nodes are always whole. */
static bool take_memory(struct pm_stamps *stamps, uint64_t capacity) {
    enum { NODE = 32, LINE = 64 };
    size_t bits = round_up(capacity / 8, LINE), lines = 2 * round_up(capacity >> 8, NODE);
    size_t n13 = 2 * round_up((capacity >> 13) + 1, NODE);
    size_t n18 = 4 * round_up((capacity >> 18) + 1, NODE);
    size_t n23 = 4 * round_up((capacity >> 23) + 1, NODE);
    size_t before = 4 * (capacity >> 6);
    size_t bytes = bits + lines + n13 + n18 + n23 + before;
    char *memory = pm_mmap(bytes);
    if (!memory)
        return false;
    pm_munmap(stamps->bits, stamps->bytes);
    stamps->bytes = bytes;
    stamps->capacity = capacity;
    stamps->bits = (uint64_t *)memory;
    stamps->per_line = (uint16_t *)(memory += bits);
    stamps->per_13 = (uint16_t *)(memory += lines);
    stamps->per_18 = (uint32_t *)(memory += n13);
    stamps->per_23 = (uint32_t *)(memory += n18);
    stamps->before = (uint32_t *)(memory + n23);
    return true;
}

bool pm_stamps_begin(struct pm_stamps *stamps, uint64_t capacity, uint32_t n_in_use) {
    if (capacity != stamps->capacity && !take_memory(stamps, capacity))
        return false;
    memset(stamps->bits, 0xff, capacity / 8);
    stamps->bits[0] = ~0ull << PM_FIRST_STAMP;
    for (uint64_t i = 0; i < capacity >> 8; i++)
        stamps->per_line[i] = 1 << 8;
    for (uint64_t i = 0; i <= capacity >> 13; i++)
        stamps->per_13[i] = 1 << 13;
    for (uint64_t i = 0; i <= capacity >> 18; i++)
        stamps->per_18[i] = 1 << 18;
    for (uint64_t i = 0; i <= capacity >> 23; i++)
        stamps->per_23[i] = 1 << 23;
    stamps->per_line[0] = (1 << 8) - PM_FIRST_STAMP;
    stamps->per_13[0] = (1 << 13) - PM_FIRST_STAMP;
    stamps->per_18[0] = (1 << 18) - PM_FIRST_STAMP;
    stamps->per_23[0] = (1 << 23) - PM_FIRST_STAMP;
    /* Each at a word of its own where nothing is pending; their ranks are right or never asked for.
     */
    for (uint32_t i = 0; i < PM_CURSORS; i++) {
        stamps->cursor_words[i] = i;
        stamps->cursor_ranks[i] = i ? 64 * i - PM_FIRST_STAMP : 0;
        stamps->cursor_pending[i] = 0;
    }
    memset(stamps->oldest_young, 0, sizeof stamps->oldest_young);
    stamps->n_in_use = n_in_use;
    stamps->next = PM_FIRST_STAMP + n_in_use;
    return true;
}

void pm_stamps_free(struct pm_stamps *stamps) { pm_munmap(stamps->bits, stamps->bytes); }

void pm_stamps_rank_words(struct pm_stamps *stamps) {
    uint32_t rank = 0;
    for (uint64_t word = 0; word < (stamps->next + 63ul) >> 6; word++) {
        stamps->before[word] = rank;
        rank += pm_count_bits(stamps->bits[word]);
    }
}
