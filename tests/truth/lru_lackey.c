/* Simulates fully associative LRU caches over what valgrind's lackey saw of a program, and prints
   how often each missed.

     lru_lackey STORE LACKEY BLOCK STACK TOP HEAP END CAPACITY...

   LACKEY: log of valgrind --tool=lackey --trace-mem=yes.  BLOCK in bytes, CAPACITY in blocks.
   Prints a line "CAPACITY LOADS STORES WRITE_BACKS" for each, the misses of both, and the blocks
   that were written back, at the end those that are dirty then.  The program is linked at a
   fixed address; STORE tells which of its routines are measured.  What is left out is told on
   standard error, by name:

     the C library, the dynamic linker and other code outside the program
     the linkage table (.plt)
     routines that are not measured, by name

   Under valgrind memory lies elsewhere, which matters only as far as it changes what is in one
   block:

     static data      are at the same addresses, below END
     stack            STACK is the first address of it in `main` where it was measured; if that of
   the trace has another place within a block: status 4 with nothing printed.  Then another length
   of the environment is to be tried, because code that aligns its frame does not only move with the
   stack arguments        their texts are moved to where they were measured: TOP is the highest
   address allocated        moved: HEAP is the first address that was measured.  What has a mapping
   of its own begins with a page in both */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/store/store.h"
#include "tests/truth/caches.h"

enum { TEXT_BYTES = 1 << 24 /* addresses of code below this */, MOST_CAPACITIES = 16 };
#define LEAST_STACK_ADDRESS (1ull << 32)
#define END_OF_HEAP 0x4800000 /* valgrind puts libraries and mappings behind it */

/* ---- the program's code ---------------------------------------------------------------------- */

static uint32_t routine_of[TEXT_BYTES]; /* + 1; 0: none */

static void mark_code(const struct pm_structure *structure) {
    for (size_t p = 0; p < structure->n_parts; p++)
        for (uint64_t i = 0; i < structure->parts[p].size_bytes; i++)
            if (structure->parts[p].address + i < TEXT_BYTES)
                routine_of[structure->parts[p].address + i] = structure->parts[p].routine + 1;
}

/* ---- the trace ------------------------------------------------------------------------------- */

struct access {
    uint64_t instruction, address, size;
    char kind; /* L, S, M: load, store, both */
};

/* As measured, and in the trace. */
struct places {
    uint64_t block_bytes, stack, top, heap, end_of_data;
    uint64_t trace_top, add_to_stack, add_to_heap;
};

static bool is_allocated(const struct places *places, uint64_t address) {
    return address >= places->end_of_data && address < END_OF_HEAP;
}

struct left_out {
    uint64_t outside, linkage, *of_routine;
};

/* Is the access of the instruction measured?  If not, counts it by name. */
static bool is_measured(const struct pm_structure *structure, uint64_t instruction,
                        struct left_out *left_out) {
    if (instruction >= TEXT_BYTES) {
        left_out->outside++;
        return false;
    }
    uint32_t routine = routine_of[instruction];
    if (!routine) {
        left_out->linkage++;
        return false;
    }
    left_out->of_routine[routine - 1] += !structure->routines[routine - 1].counted;
    return structure->routines[routine - 1].counted;
}

static void access_bytes(struct caches *const *caches, size_t n_caches, const struct access *access,
                         bool is_store) {
    for (size_t c = 0; c < n_caches; c++)
        caches_access(caches[c], access->address, access->size, is_store);
}

/* The next access of a measured routine; false at the end. */
static bool next_access(const struct pm_structure *structure, FILE *lackey, struct access *access,
                        struct left_out *left_out) {
    char line[256];
    while (fgets(line, sizeof line, lackey)) {
        uint64_t address;
        if (sscanf(line, " %c %" SCNx64 ",%" SCNu64, &access->kind, &address, &access->size) != 3 ||
            !strchr("ILSM", access->kind))
            continue;
        if (access->kind == 'I') {
            access->instruction = address;
            continue;
        }
        access->address = address;
        if (is_measured(structure, access->instruction, left_out))
            return true;
    }
    return false;
}

static bool is_in_main(const struct pm_structure *structure, uint64_t instruction) {
    return strcmp(structure->routines[routine_of[instruction] - 1].name, "main") == 0;
}

/* What must be known before the first access; false: the stack cannot be compared. */
static bool find_places(const struct pm_structure *structure, FILE *lackey, struct places *places,
                        struct left_out *left_out) {
    struct access access = {0};
    bool knows_stack = false, knows_heap = false;
    while (next_access(structure, lackey, &access, left_out)) {
        if (access.address > places->trace_top)
            places->trace_top = access.address;
        if (!knows_stack && access.address >= LEAST_STACK_ADDRESS &&
            is_in_main(structure, access.instruction)) {
            places->add_to_stack = places->stack - access.address;
            knows_stack = true;
        }
        if (!knows_heap && is_allocated(places, access.address)) {
            places->add_to_heap = places->heap - access.address;
            knows_heap = true;
        }
    }
    rewind(lackey);
    return knows_stack && places->add_to_stack % places->block_bytes == 0;
}

/* To where it was measured. */
static void move(const struct places *places, struct access *access) {
    enum { ARGUMENT_BYTES = 256 };
    uint64_t address = access->address;
    if (is_allocated(places, address))
        access->address += places->add_to_heap;
    else if (address + ARGUMENT_BYTES > places->trace_top)
        access->address += places->top - places->trace_top;
    else if (address >= LEAST_STACK_ADDRESS)
        access->address += places->add_to_stack;
}

static int simulate(const struct pm_structure *structure, FILE *lackey, struct places *places,
                    struct caches *const *caches, size_t n_caches, struct left_out *left_out) {
    struct access access = {0};
    uint64_t n = 0;
    if (!find_places(structure, lackey, places, left_out))
        return 4;
    memset(left_out->of_routine, 0, structure->n_routines * sizeof *left_out->of_routine);
    left_out->outside = left_out->linkage = 0;
    for (; next_access(structure, lackey, &access, left_out); n++) {
        move(places, &access);
        if (access.kind != 'S')
            access_bytes(caches, n_caches, &access, false);
        if (access.kind != 'L')
            access_bytes(caches, n_caches, &access, true);
    }
    fprintf(stderr, "%" PRIu64 " accesses of measured routines\n", n);
    return n ? 0 : 3;
}

static void tell_left_out(const struct pm_structure *structure, const struct left_out *left_out) {
    fprintf(stderr,
            "left out: %" PRIu64
            " of the C library, the dynamic linker and other code outside the program\n",
            left_out->outside);
    fprintf(stderr, "left out: %" PRIu64 " of the linkage table\n", left_out->linkage);
    for (size_t r = 0; r < structure->n_routines; r++)
        if (left_out->of_routine[r])
            fprintf(stderr, "left out: %" PRIu64 " of %s, which is not measured\n",
                    left_out->of_routine[r], structure->routines[r].name);
}

/* A fully associative LRU cache of CAPACITY blocks. */
static struct caches *make_cache(uint64_t block_bytes, uint64_t capacity) {
    struct pm_error err = {0};
    struct pm_level level = {
        .size_bytes = capacity * block_bytes, .block_bytes = block_bytes, .write_allocate = true};
    struct caches *caches = caches_new(&level, 1, 0, &err);
    if (!caches) {
        fprintf(stderr, "lru_lackey: %s\n", err.text);
        exit(2);
    }
    return caches;
}

int main(int argc, char **argv) {
    struct pm_error err = {0};
    struct caches *caches[MOST_CAPACITIES];
    uint64_t capacities[MOST_CAPACITIES];
    if (argc < 9 || argc - 8 > MOST_CAPACITIES) {
        fprintf(stderr, "usage: lru_lackey STORE LACKEY BLOCK STACK TOP HEAP END CAPACITY...\n");
        return 2;
    }
    size_t n_caches = (size_t)argc - 8;
    uint64_t block_bytes = strtoull(argv[3], NULL, 10);
    for (size_t c = 0; c < n_caches; c++) {
        capacities[c] = strtoull(argv[c + 8], NULL, 10);
        caches[c] = make_cache(block_bytes, capacities[c]);
    }
    struct pm_store *store = pm_store_open(argv[1], PM_STORE_READ, &err);
    struct pm_structure *structure = store ? pm_store_structure(store, &err) : NULL;
    FILE *lackey = fopen(argv[2], "r");
    if (!structure || !lackey) {
        fprintf(stderr, "lru_lackey: %s\n", structure ? argv[2] : err.text);
        return 2;
    }
    mark_code(structure);
    struct left_out left_out = {.of_routine =
                                    pm_alloc(structure->n_routines, sizeof *left_out.of_routine)};
    struct places places = {.block_bytes = block_bytes,
                            .stack = strtoull(argv[4], NULL, 10),
                            .top = strtoull(argv[5], NULL, 10),
                            .heap = strtoull(argv[6], NULL, 10),
                            .end_of_data = strtoull(argv[7], NULL, 16)};
    int status = simulate(structure, lackey, &places, caches, n_caches, &left_out);
    for (size_t c = 0; c < n_caches; c++) {
        struct caches_counts counts = caches_counts(caches[c], 0);
        uint64_t dirty;
        caches_held(caches[c], 0, &dirty);
        if (status == 0)
            printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", capacities[c],
                   counts.load_misses, counts.store_misses, counts.write_backs + dirty);
        caches_free(caches[c]);
    }
    if (status == 0)
        tell_left_out(structure, &left_out);
    pm_store_close(store);
    pm_structure_free(structure);
    return status;
}
