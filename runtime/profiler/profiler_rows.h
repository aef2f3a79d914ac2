/* What profiler_walk.h needs for extensions that hold no row of eight addresses in a register:
   place by place. */
static inline bool row_moved_otherwise(const uint64_t *row,
                                       const struct pm_profiler_record *record) {
    uint64_t differs = 0;
    for (uint32_t i = 0; i < PM_RECENT; i++)
        differs |= (row[i] - record->entry[i]) ^ record->entry_delta[i];
    return differs != 0;
}

static inline void move_row(uint64_t *row, struct pm_profiler_record *record) {
    for (uint32_t i = 0; i < PM_RECENT; i++) {
        record->entry[i] = row[i];
        row[i] = record->exit[i] += record->exit_delta[i];
    }
}

static inline uint64_t compare_row(uint64_t *row, const struct pm_profiler_record *record,
                                   const uint64_t *words) {
    const uint32_t window = pm_profiler_settings.window;
    uint64_t classes = 0;
    for (uint32_t i = 0; i < record->n_accesses; i++) {
        const struct pm_profiler_access *access = &record->accesses[i];
        const uint64_t address = access->offset + words[access->word];
        classes += 1ull << 8 * pm_stride_class(nearest(row + PM_RECENT - window, window, address),
                                               access->size_bytes);
        for (uint32_t k = 0; k + 1 < PM_RECENT; k++)
            row[k] = row[k + 1];
        row[PM_RECENT - 1] = address;
    }
    return classes;
}

/* ---- rows of simulated caches (profiler_touch.h) --------------------------------------------- */

static inline uint32_t find_way(const uint64_t *row, uint32_t n, uint64_t block) {
    uint32_t way = 0;
    while (way < n && row[way] != block)
        way++;
    return way;
}

static inline void move_in(uint64_t *row, uint32_t n, uint64_t block) {
    for (uint32_t way = n - 1; way > 0; way--)
        row[way] = row[way - 1];
    row[0] = block;
}

static inline bool touch_row(uint64_t *row, uint32_t ways, uint64_t block) {
    const uint32_t way = find_way(row, ways, block);
    move_in(row, way < ways ? way + 1 : ways, block);
    return way < ways;
}
