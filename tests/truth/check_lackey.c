/* Compares the recorded accesses of a program with those that valgrind's lackey saw: the same
   instructions in the same order, and for each the same bytes loaded and stored.

     check_lackey STORE TRACE DISASSEMBLY LACKEY END

   TRACE: of record_trace.c.  DISASSEMBLY: objdump -d --no-show-raw-insn of the program.  LACKEY:
   log of valgrind --tool=lackey --trace-mem=yes.  The program is linked at a fixed address and has
   its data in static arrays.

   Accesses of one instruction that follow each other are taken together as sets of bytes, because
   one tool may split what the other has whole (elements of a gather, iterations of a string
   instruction).  Named differences:

     elsewhere  addresses of the stack and of allocated memory differ from run to run: where they
                are beyond END, only numbers of bytes are compared

     gathers    of an element that is masked off, lackey shows a load from the top of the stack

     locked     of a read-modify-write with a lock, lackey shows two loads, of xchg a load and a
                store: only the stores are compared

     called     what memcpy and its like access belongs to the caller's instruction only here

     uncounted  routines without counters are not recorded

   Status 3 where anything else differs. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/probe_abi.h"
#include "core/store/store.h"
#include "tests/truth/touches.h"

/* Where valgrind puts the stack, and Linux too. */
#define LEAST_STACK_ADDRESS (1ull << 32)
enum { TEXT_BYTES = 1 << 24 }; /* addresses of code below this */

static struct code { /* of the instruction at an address */
    bool counted, gather, locked;
} code[TEXT_BYTES];

struct bytes {
    uint64_t count, hash;
};
struct run { /* accesses of one instruction without others between them */
    uint64_t address;
    struct bytes loads, stores;
};
struct runs {
    PM_ARRAY(struct run, run);
};

static uint64_t end_of_data;

/* A sum over the bytes, so that their order does not matter. */
static void add_bytes(struct bytes *bytes, uint64_t address, uint64_t size) {
    bytes->count += size;
    for (uint64_t i = 0; i < size && address < end_of_data; i++) {
        uint64_t x = (address + i) * 0x9e3779b97f4a7c15u;
        bytes->hash += (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;
    }
}

static void add_access(struct runs *runs, uint64_t instruction, unsigned kind, uint64_t address,
                       uint64_t size) {
    if (!runs->n_run || runs->run[runs->n_run - 1].address != instruction)
        PM_PUSH(runs, run)->address = instruction;
    struct run *run = &runs->run[runs->n_run - 1];
    if (kind & PM_ACCESS_LOAD && !code[instruction].locked)
        add_bytes(&run->loads, address, size);
    if (kind & PM_ACCESS_STORE)
        add_bytes(&run->stores, address, size);
}

/* ---- what is known of the code --------------------------------------------------------------- */

static void mark_code(const struct pm_structure *structure) {
    for (size_t r = 0; r < structure->n_routines; r++) {
        const struct pm_routine *routine = &structure->routines[r];
        for (uint64_t i = 0; i < routine->size_bytes && routine->address + i < TEXT_BYTES; i++)
            code[routine->address + i].counted = routine->counted;
    }
}

static bool is_one_of(const char *name, const char *const *prefixes) {
    while (*prefixes && strncmp(name, *prefixes, strlen(*prefixes)) != 0)
        prefixes++;
    return *prefixes != NULL;
}

static void name_differences(struct code *of_instruction, const char *name) {
    static const char *const gathers[] = {"vgather", "vpgather", NULL};
    static const char *const locked[] = {"lock", "xchg", NULL};
    of_instruction->gather = is_one_of(name, gathers);
    of_instruction->locked = is_one_of(name, locked);
}

static bool read_disassembly(const char *path, struct pm_error *err) {
    FILE *file = fopen(path, "r");
    char line[512], name[32];
    uint64_t address;
    if (!file)
        return pm_fail_errno(err, "%s", path);
    while (fgets(line, sizeof line, file))
        if (sscanf(line, " %" SCNx64 ":\t%31s", &address, name) == 2 && address < TEXT_BYTES)
            name_differences(&code[address], name);
    fclose(file);
    return true;
}

/* ---- the two traces -------------------------------------------------------------------------- */

static bool read_lackey(const char *path, struct runs *runs, struct pm_error *err) {
    FILE *file = fopen(path, "r");
    char line[256], kind;
    uint64_t address, size, instruction = 0;
    if (!file)
        return pm_fail_errno(err, "%s", path);
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, " %c %" SCNx64 ",%" SCNu64, &kind, &address, &size) != 3 ||
            !strchr("ILSM", kind))
            continue;
        if (kind == 'I') {
            instruction = address;
            continue;
        }
        if (instruction >= TEXT_BYTES || !code[instruction].counted)
            continue;
        unsigned access = kind == 'L' ? PM_ACCESS_LOAD : PM_ACCESS_STORE;
        if (kind == 'M')
            access = PM_ACCESS_BOTH;
        bool on_stack = address >= LEAST_STACK_ADDRESS;
        if (!on_stack || !code[instruction].gather)
            add_access(runs, instruction, access, address, size);
    }
    fclose(file);
    return true;
}

static bool take_trace(const struct pm_structure *structure, const struct trace *trace,
                       struct runs *runs, struct pm_error *err) {
    for (size_t i = 0; i < trace->n; i++) {
        const struct pmodel_access *access = &trace->accesses[i];
        if (access->reference >= structure->n_references ||
            structure->references[access->reference].address >= TEXT_BYTES)
            return pm_fail(err, "access %zu is of no instruction of the program", i);
        if (structure->references[access->reference].kind == PM_ACCESS_CALLED)
            continue;
        add_access(runs, structure->references[access->reference].address, access->kind,
                   access->address, access->size_bytes);
    }
    return true;
}

/* ---- comparison ------------------------------------------------------------------------------ */

static bool bytes_equal(struct bytes a, struct bytes b) {
    return a.count == b.count && a.hash == b.hash;
}

static void print_run(const char *who, const struct runs *runs, size_t i) {
    if (i >= runs->n_run)
        fprintf(stderr, "  %s: nothing more\n", who);
    else
        fprintf(stderr,
                "  %s: instruction 0x%" PRIx64 " loads %" PRIu64 " bytes, stores %" PRIu64
                " (hashes %" PRIx64 ", %" PRIx64 ")\n",
                who, runs->run[i].address, runs->run[i].loads.count, runs->run[i].stores.count,
                runs->run[i].loads.hash, runs->run[i].stores.hash);
}

static int compare(const struct runs *recorded, const struct runs *lackey) {
    size_t i = 0, n = recorded->n_run > lackey->n_run ? recorded->n_run : lackey->n_run;
    uint64_t loads = 0, stores = 0;
    for (; i < recorded->n_run && i < lackey->n_run; i++) {
        const struct run *a = &recorded->run[i], *b = &lackey->run[i];
        if (a->address != b->address || !bytes_equal(a->loads, b->loads) ||
            !bytes_equal(a->stores, b->stores))
            break;
        loads += a->loads.count;
        stores += a->stores.count;
    }
    printf("    %zu runs of accesses equal, %" PRIu64 " bytes loaded, %" PRIu64 " stored\n", i,
           loads, stores);
    if (i == n && n > 0)
        return 0;
    fprintf(stderr, "the traces part after %zu runs of accesses:\n", i);
    print_run("recorded", recorded, i);
    print_run("lackey", lackey, i);
    return 3;
}

static struct pm_structure *read_structure(const char *path, struct pm_error *err) {
    struct pm_store *store = pm_store_open(path, PM_STORE_READ, err);
    struct pm_structure *structure = store ? pm_store_structure(store, err) : NULL;
    if (store)
        pm_store_close(store);
    return structure;
}

int main(int argc, char **argv) {
    struct pm_error err = {0};
    struct trace trace = {0};
    struct runs recorded = {0}, lackey = {0};
    if (argc != 6) {
        fprintf(stderr, "usage: check_lackey STORE TRACE DISASSEMBLY LACKEY END\n");
        return 2;
    }
    end_of_data = strtoull(argv[5], NULL, 16);
    struct pm_structure *structure = read_structure(argv[1], &err);
    if (structure)
        mark_code(structure);
    if (!structure || !trace_read(argv[2], &trace, &err) || !read_disassembly(argv[3], &err) ||
        !take_trace(structure, &trace, &recorded, &err) || !read_lackey(argv[4], &lackey, &err)) {
        fprintf(stderr, "check_lackey: %s\n", err.text);
        return err.kind == PM_ERROR_SYSTEM ? 1 : 2;
    }
    int status = compare(&recorded, &lackey);
    free(recorded.run);
    free(lackey.run);
    free(trace.accesses);
    pm_structure_free(structure);
    return status;
}
