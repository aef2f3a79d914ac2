/* Rows of simulated caches (touch.h) place by place. */
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
