/* What can stand in a machine file: for each section its fields, with their units and ranges.  The
   reader, the writer, --set and the list of figures all go by these tables; machines/README.md is
   their explanation. */
#include <stddef.h>
#include <string.h>

#include "core/machine/private.h"

#define WORD(id, word) [id] = (word),
static const char *const replacements[] = {PM_REPLACEMENTS(WORD) NULL};
static const char *const indexings[] = {PM_INDEXINGS(WORD) NULL};
static const char *const inclusions[] = {PM_INCLUSIONS(WORD) NULL};
static const char *const write_policies[] = {PM_WRITE_POLICIES(WORD) NULL};
#undef WORD
static const char *const branch_predictors[] = {[PM_PREDICTOR_TAGE] = "tage",
                                                [PM_PREDICTOR_GSHARE] = "gshare",
                                                [PM_PREDICTOR_BIMODAL] = "bimodal",
                                                NULL};

#define MOST_BYTES 1125899906842624.0 /* a pebibyte */

#define TEXT(of, member, name_)                                                                    \
    { .name = name_, .type = PM_FIELD_TEXT, .offset = offsetof(struct of, member) }
#define NEEDED_TEXT(of, member, name_)                                                             \
    {                                                                                              \
        .name = name_, .type = PM_FIELD_TEXT, .offset = offsetof(struct of, member),               \
        .required = true                                                                           \
    }
#define FIGURE(of, member, name_, type_, unit_, low_, high_, ...)                                  \
    {                                                                                              \
        .name = name_, .type = type_, .offset = offsetof(struct of, member), .unit = unit_,        \
        .low = low_, .high = high_, __VA_ARGS__                                                    \
    }
#define REAL PM_FIELD_REAL
#define WHOLE PM_FIELD_WHOLE
#define WIDE PM_FIELD_WIDE
#define BYTES PM_FIELD_BYTES
#define BOOL(of, member, name_, ...)                                                               \
    {                                                                                              \
        .name = name_, .type = PM_FIELD_BOOL, .offset = offsetof(struct of, member), .unit = "",   \
        __VA_ARGS__                                                                                \
    }
#define CHOICE(of, member, name_, words_)                                                          \
    {                                                                                              \
        .name = name_, .type = PM_FIELD_WORD, .offset = offsetof(struct of, member), .unit = "",   \
        .words = words_                                                                            \
    }
#define LIST(name_)                                                                                \
    { .name = name_, .type = PM_FIELD_LIST, .unit = "" }
#define NEEDED .required = true
#define POWER_OF_TWO .power_of_two = true

static const struct pm_machine_field root[] = {
    NEEDED_TEXT(pm_machine, title, "title"),
    TEXT(pm_machine, sources, "sources"),
    TEXT(pm_machine, isa, "isa"),
    FIGURE(pm_machine, clock_hz, "clock_mhz", REAL, "MHz", 1, 1e5, .scale = 1e6, NEEDED),
    FIGURE(pm_machine, cores, "cores", WHOLE, "", 1, 1e5),
    FIGURE(pm_machine, issue_width, "issue_width", REAL, "operations/cycle", 0.1, 64, NEEDED),
    FIGURE(pm_machine, fetch_width, "fetch_width", REAL, "operations/cycle", 0.1, 64),
    FIGURE(pm_machine, fetch_bytes, "fetch_line", BYTES, "bytes", 1, 4096, POWER_OF_TWO),
    FIGURE(pm_machine, next_line_cycles, "next_line", REAL, "cycles", 0.01, 100),
    FIGURE(pm_machine, store_line_cycles, "store_line", REAL, "cycles", 0.01, 100),
    FIGURE(pm_machine, store_line_bytes, "store_line_bytes", BYTES, "bytes", 1, 4096, POWER_OF_TWO),
    FIGURE(pm_machine, taken_jumps, "taken_jumps", REAL, "jumps/cycle", 0.1, 16),
    FIGURE(pm_machine, retire_width, "retire_width", REAL, "operations/cycle", 0.1, 64),
    FIGURE(pm_machine, vector_width_bits, "vector_width", WHOLE, "bits", 8, 65536, POWER_OF_TWO,
           NEEDED),
    BOOL(pm_machine, out_of_order, "out_of_order", NEEDED),
    FIGURE(pm_machine, window, "window", WHOLE, "operations", 1, 1e6),
    FIGURE(pm_machine, scheduler, "scheduler", WHOLE, "operations", 1, 1e6),
    BOOL(pm_machine, has_fma, "fma", NEEDED),
    BOOL(pm_machine, fuses_memory, "fuses_memory"),
    BOOL(pm_machine, unfuses_indexed, "unfuses_indexed"),
    BOOL(pm_machine, fuses_nops, "fuses_nops"),
    BOOL(pm_machine, extends_apart, "extends_apart"),
    FIGURE(pm_machine, stack_move_cycles, "stack_move_latency", REAL, "cycles", 0, 100),
    LIST("fuses_branch"),
    LIST("eliminates"),
    FIGURE(pm_machine, mispredict_cycles, "mispredict_penalty", REAL, "cycles", 0, 1000),
    FIGURE(pm_machine, complex_address_cycles, "complex_address", REAL, "cycles", 0, 100),
    CHOICE(pm_machine, branch_predictor, "branch_predictor", branch_predictors),
    FIGURE(pm_machine, store_forward_cycles, "store_forward_latency", REAL, "cycles", 0, 1000),
    FIGURE(pm_machine, store_forward_general_cycles, "store_forward_general_latency", REAL,
           "cycles", 0, 1000),
    BOOL(pm_machine, renames_memory, "renames_memory"),
    FIGURE(pm_machine, store_block_cycles, "store_block_latency", REAL, "cycles", 0, 1000),
    FIGURE(pm_machine, page_bytes, "page", BYTES, "bytes", 1, MOST_BYTES, POWER_OF_TWO),
    FIGURE(pm_machine, page_fault_cycles, "page_fault", REAL, "cycles", 0, 1e6),
    FIGURE(pm_machine, page_walkers, "page_walkers", WHOLE, "", 1, 64),
    FIGURE(pm_machine, memory_bandwidth_gbs, "memory_bandwidth_gbs", REAL, "GB/s", 1e-3, 1e5),
};

static const struct pm_machine_field unit[] = {TEXT(pm_unit, does, "does"),
                                               TEXT(pm_unit, scheduler, "scheduler")};

static const struct pm_machine_field cost[] = {
    FIGURE(pm_cost, width_bits, "width", WHOLE, "bits", 1, 65536),
    FIGURE(pm_cost, element_bytes, "element", WHOLE, "bytes", 1, 64),
    FIGURE(pm_cost, operations, "operations", WHOLE, "", 1, 4096),
    FIGURE(pm_cost, latency_cycles, "latency", REAL, "cycles", 0, 1e5, NEEDED),
    FIGURE(pm_cost, second_latency_cycles, "second_latency", REAL, "cycles", 0, 1e5),
    FIGURE(pm_cost, merge_latency_cycles, "merge_latency", REAL, "cycles", 0, 1e5),
    LIST("units"),
    LIST("uses"),
    FIGURE(pm_cost, repeat_cycles, "repeat", REAL, "cycles", 0, 1e5),
    FIGURE(pm_cost, slots, "slots", REAL, "", 0, 1000),
    TEXT(pm_cost, domain, "domain"),
};

static const struct pm_machine_field bypass[] = {
    FIGURE(pm_bypass, latency_cycles, "latency", REAL, "cycles", 0, 1e4),
    FIGURE(pm_bypass, extra_cycles, "extra", REAL, "cycles", -1e4, 1e4),
};

static const struct pm_machine_field foreign[] = {LIST("adds")};

static const struct pm_machine_field cache[] = {
    FIGURE(pm_level, size_bytes, "size", BYTES, "bytes", 1, MOST_BYTES, NEEDED),
    FIGURE(pm_level, block_bytes, "line", BYTES, "bytes", 1, 2097152, POWER_OF_TWO, NEEDED),
    FIGURE(pm_level, associativity, "ways", WHOLE, "", 0, 1e6, NEEDED),
    FIGURE(pm_level, latency_cycles, "latency", REAL, "cycles", 0, 1e5, NEEDED),
    FIGURE(pm_level, miss_penalty_cycles, "miss_penalty", REAL, "cycles", 0, 1e6, NEEDED),
    FIGURE(pm_level, exposed, "exposed", REAL, "", 0, 1, NEEDED),
    FIGURE(pm_level, read_bandwidth, "read_bandwidth", REAL, "bytes/cycle", 1e-3, 1e5),
    FIGURE(pm_level, write_bandwidth, "write_bandwidth", REAL, "bytes/cycle", 1e-3, 1e5),
    FIGURE(pm_level, copy_bandwidth, "copy_bandwidth", REAL, "bytes/cycle", 1e-3, 1e5),
    FIGURE(pm_level, misses_in_flight, "misses_in_flight", WHOLE, "", 1, 1e5),
    FIGURE(pm_level, shared_by, "shared_by", WHOLE, "cores", 1, 1e5),
    LIST("serves"),
    CHOICE(pm_level, replacement, "replacement", replacements),
    BOOL(pm_level, unified, "unified"),
    CHOICE(pm_level, indexed, "indexed", indexings),
    CHOICE(pm_level, inclusion, "inclusion", inclusions),
    CHOICE(pm_level, write, "write", write_policies),
    BOOL(pm_level, write_allocate, "write_allocate"),
};

static const struct pm_machine_field tlb[] = {
    FIGURE(pm_level, entries, "entries", WIDE, "", 1, 1e9, NEEDED),
    FIGURE(pm_level, block_bytes, "page", BYTES, "bytes", 1, MOST_BYTES, POWER_OF_TWO, NEEDED),
    FIGURE(pm_level, associativity, "ways", WHOLE, "", 0, 1e6),
    FIGURE(pm_level, miss_penalty_cycles, "miss_penalty", REAL, "cycles", 0, 1e6, NEEDED),
    FIGURE(pm_level, exposed, "exposed", REAL, "", 0, 1, NEEDED),
    CHOICE(pm_level, replacement, "replacement", replacements),
    BOOL(pm_level, unified, "unified"),
};

static const struct pm_machine_field memory[] = {
    FIGURE(pm_memory, latency_cycles, "latency", REAL, "cycles", 0, 1e6),
    FIGURE(pm_memory, latency_dirty_cycles, "latency_dirty", REAL, "cycles", 0, 1e6),
    FIGURE(pm_memory, back_to_back_cycles, "back_to_back", REAL, "cycles", 0, 1e6),
    FIGURE(pm_memory, restart_cycles, "restart", REAL, "cycles", 0, 1e6),
    FIGURE(pm_memory, misses_in_flight, "misses_in_flight", WHOLE, "", 1, 1e5),
    FIGURE(pm_memory, bandwidth_gbs, "bandwidth_gbs", REAL, "GB/s", 1e-3, 1e5),
    FIGURE(pm_memory, bandwidth_all_gbs, "bandwidth_all_gbs", REAL, "GB/s", 1e-3, 1e6),
    FIGURE(pm_memory, write_bandwidth_gbs, "write_bandwidth_gbs", REAL, "GB/s", 1e-3, 1e6),
    FIGURE(pm_memory, write_bandwidth_all_gbs, "write_bandwidth_all_gbs", REAL, "GB/s", 1e-3, 1e6),
    FIGURE(pm_memory, copy_bandwidth_gbs, "copy_bandwidth_gbs", REAL, "GB/s", 1e-3, 1e6),
    FIGURE(pm_memory, copy_bandwidth_all_gbs, "copy_bandwidth_all_gbs", REAL, "GB/s", 1e-3, 1e6),
};

static const struct pm_machine_field prefetcher[] = {
    NEEDED_TEXT(pm_prefetcher, level, "level"),
    FIGURE(pm_prefetcher, min_stride_bytes, "min_stride", BYTES, "bytes", 1, MOST_BYTES),
    FIGURE(pm_prefetcher, max_stride_bytes, "max_stride", BYTES, "bytes", 1, MOST_BYTES, NEEDED),
    FIGURE(pm_prefetcher, streams, "streams", WHOLE, "", 1, 1e5),
    FIGURE(pm_prefetcher, covers, "covers", REAL, "", 0, 1),
    BOOL(pm_prefetcher, crosses_pages, "crosses_pages"),
    BOOL(pm_prefetcher, down, "down"),
};

static const struct pm_machine_field curve[] = {
    NEEDED_TEXT(pm_curve, of, "of"),
    FIGURE(pm_curve, stride_bytes, "stride", REAL, "bytes", 0, MOST_BYTES),
    FIGURE(pm_curve, threads, "threads", WHOLE, "", 1, 1e5),
    FIGURE(pm_curve, page_bytes, "page", BYTES, "bytes", 1, MOST_BYTES, POWER_OF_TWO),
    LIST("working_set"),
    LIST("value"),
    LIST("low"),
    LIST("high"),
};

#define SECTION(name_, fields_, of)                                                                \
    {                                                                                              \
        .name = name_, .fields = fields_, .n_fields = sizeof fields_ / sizeof fields_[0],          \
        .trust_offset = offsetof(struct of, trust)                                                 \
    }
const struct pm_machine_section pm_sections[PM_N_SECTIONS] = {
    [PM_SECTION_ROOT] = SECTION("root", root, pm_machine),
    [PM_SECTION_UNIT] = SECTION("unit", unit, pm_unit),
    [PM_SECTION_COST] = SECTION("cost", cost, pm_cost),
    [PM_SECTION_BYPASS] = SECTION("bypass", bypass, pm_bypass),
    [PM_SECTION_FOREIGN] = SECTION("foreign", foreign, pm_foreign),
    [PM_SECTION_CACHE] = SECTION("cache", cache, pm_level),
    [PM_SECTION_TLB] = SECTION("tlb", tlb, pm_level),
    [PM_SECTION_MEMORY] = SECTION("memory", memory, pm_memory),
    [PM_SECTION_PREFETCHER] = SECTION("prefetcher", prefetcher, pm_prefetcher),
    [PM_SECTION_CURVE] = SECTION("curve", curve, pm_curve),
};

const struct pm_machine_section *pm_section_named(const char *name) {
    for (size_t i = 0; i < PM_N_SECTIONS; i++)
        if (strcmp(pm_sections[i].name, name) == 0)
            return &pm_sections[i];
    return NULL;
}

int pm_field_named(const struct pm_machine_section *section, const char *name) {
    for (size_t i = 0; i < section->n_fields; i++)
        if (strcmp(section->fields[i].name, name) == 0)
            return (int)i;
    return -1;
}

struct pm_trust *pm_trust_of(const struct pm_machine_section *section, void *content) {
    return (struct pm_trust *)((char *)content + section->trust_offset);
}

bool pm_field_is_figure(const struct pm_machine_field *field) {
    return field->type != PM_FIELD_TEXT && !field->is_key;
}

/* ---- words outside the reader ---------------------------------------------------------------- */

const char *pm_replacement_word(enum pm_replacement replacement) {
    return replacements[replacement];
}

const char *pm_branch_predictor_word(enum pm_branch_predictor predictor) {
    return branch_predictors[predictor];
}

const char *pm_indexing_word(enum pm_indexing indexing) { return indexings[indexing]; }

const char *pm_foreign_word(enum pm_foreign_kind kind) {
#define WORD(id, word) [id] = (word),
    static const char *const words[] = {PM_FOREIGNS(WORD)};
#undef WORD
    return words[kind];
}

const char *pm_elimination_word(uint32_t bit) {
    switch (bit) {
    case PM_ELIMINATES_MOVES:
        return "moves";
    case PM_ELIMINATES_VECTOR_MOVES:
        return "vector_moves";
    case PM_ELIMINATES_ZEROING:
        return "zeroing";
    case PM_ELIMINATES_ADDITIONS:
        return "additions";
    case PM_ELIMINATES_BORROWS:
        return "borrows";
    case PM_ELIMINATES_STACK_MOVES:
        return "stack_moves";
    default:
        return NULL;
    }
}

/* The number of WORD among WORDS; −1: it is none. */
static int number_of(const char *const *words, const char *word, size_t length) {
    for (int i = 0; words[i]; i++)
        if (strlen(words[i]) == length && strncmp(words[i], word, length) == 0)
            return i;
    return -1;
}

bool pm_replacement_of(const char *word, size_t length, enum pm_replacement *replacement) {
    int number = number_of(replacements, word, length);
    if (number >= 0)
        *replacement = (enum pm_replacement)number;
    return number >= 0;
}

bool pm_indexing_of(const char *word, size_t length, enum pm_indexing *indexing) {
    int number = number_of(indexings, word, length);
    if (number >= 0)
        *indexing = (enum pm_indexing)number;
    return number >= 0;
}
