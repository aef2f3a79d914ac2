/* Lists of request numbers, each kept once, for all threads. */
#include <string.h>

#include "runtime/mpi_events/private.h"
#include "runtime/raw_output/raw_output.h"

/* A list is its length and its numbers, one after the other; a list's number is its ordinal + 1. */
enum { FIRST_WORDS = 1 << 10, FIRST_LISTS = 64, MOST_WORDS = 1 << 22 };

static struct {
    int lock;
    uint32_t *words;
    uint32_t *starts;  /* of each list in WORDS */
    uint32_t *by_hash; /* its number; open addressing, at most half full */
    uint32_t n_words, room_words, n_lists, room_lists;
} lists;

static uint32_t hash_of(const uint32_t *numbers, uint32_t n) {
    uint64_t hash = n;
    for (uint32_t i = 0; i < n; i++) {
        hash = (hash ^ numbers[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return (uint32_t)hash;
}

static bool is_list(uint32_t number, const uint32_t *numbers, uint32_t n) {
    const uint32_t *list = &lists.words[lists.starts[number - 1]];
    return list[0] == n && memcmp(list + 1, numbers, n * sizeof *numbers) == 0;
}

static uint32_t mask(void) { return 2 * lists.room_lists - 1; }

static void enter(uint32_t number) {
    const uint32_t *list = &lists.words[lists.starts[number - 1]];
    uint32_t at = hash_of(list + 1, list[0]);
    while (lists.by_hash[at & mask()])
        at++;
    lists.by_hash[at & mask()] = number;
}

static bool grow_lists(void) {
    uint32_t room = lists.room_lists ? 2 * lists.room_lists : FIRST_LISTS;
    uint32_t *table = pm_mmap(2 * room * sizeof *table);
    if (!table)
        return false;
    if (!pm_mgrow(&lists.starts, lists.room_lists * sizeof *lists.starts,
                  room * sizeof *lists.starts)) {
        pm_munmap(table, 2 * room * sizeof *table);
        return false;
    }
    pm_munmap(lists.by_hash, 2 * lists.room_lists * sizeof *table);
    lists.by_hash = table;
    lists.room_lists = room;
    for (uint32_t i = 1; i <= lists.n_lists; i++)
        enter(i);
    return true;
}

static bool grow_words(uint32_t n) {
    uint32_t room = lists.room_words ? lists.room_words : FIRST_WORDS;
    while (room < lists.n_words + n && room < MOST_WORDS)
        room *= 2;
    if (room < lists.n_words + n)
        return false;
    if (room != lists.room_words &&
        !pm_mgrow(&lists.words, lists.room_words * sizeof *lists.words, room * sizeof *lists.words))
        return false;
    lists.room_words = room;
    return true;
}

/* 0: there is no room for another one. */
static uint32_t find_or_add(const uint32_t *numbers, uint32_t n) {
    if (lists.n_lists == lists.room_lists && !grow_lists())
        return 0;
    uint32_t at = hash_of(numbers, n), found;
    for (; (found = lists.by_hash[at & mask()]); at++)
        if (is_list(found, numbers, n))
            return found;
    if (!grow_words(n + 1))
        return 0;
    lists.starts[lists.n_lists++] = lists.n_words;
    lists.words[lists.n_words] = n;
    memcpy(&lists.words[lists.n_words + 1], numbers, n * sizeof *numbers);
    lists.n_words += n + 1;
    enter(lists.n_lists);
    return lists.n_lists;
}

uint32_t pm_request_list_number(const uint32_t *numbers, uint32_t n) {
    if (n == 0 || n > MOST_WORDS / 2)
        return 0;
    pm_lock(&lists.lock);
    uint32_t number = find_or_add(numbers, n);
    pm_unlock(&lists.lock);
    return number;
}

void pm_request_lists_add(struct pm_raw_builder *builder) {
    bool is_locked = pm_lock_soon(&lists.lock);
    pm_raw_section_begin(builder, PM_RAW_REQUESTS);
    pm_raw_add(builder, lists.words, lists.n_words * sizeof *lists.words);
    pm_raw_section_end(builder);
    if (is_locked)
        pm_unlock(&lists.lock);
}

void pm_request_lists_clear(void) {
    lists.lock = 0;
    lists.n_words = lists.n_lists = 0;
    for (uint32_t i = 0; i < 2 * lists.room_lists; i++)
        lists.by_hash[i] = 0;
}
