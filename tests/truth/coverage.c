/* How much of what a program executed was counted: callgrind's executions of each instruction of
   PROGRAM, and of libraries that were measured with it, beside the count of the basic block that
   holds it.

     coverage STORE N=8 PROGRAM [LIBRARY...] -- CALLGRIND...

   prints "COVERED OWN ALL": executions that were counted, those in these files (with their linkage
   tables), and those in all files.  An instruction is covered as often as its basic block
   is counted, and never more often than callgrind saw it, so that what is counted too often in one
   place does not stand for what is missed in another.  Then, a line each, the places with most
   executions that were not counted, "ADDRESS COUNT REASON".

   CALLGRIND: out files, one a process, of --dump-instr=yes --compress-pos=no
   --compress-strings=no --skip-plt=no.  Of a string instruction with a repeat prefix callgrind
   counts the iterations: it is covered if it is counted at all. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binlift/lifted.h"
#include "core/store/store.h"

struct object {
    const char *path; /* as callgrind names it */
    struct pm_image image;
    uint32_t module;    /* in the structure; PM_NONE if it is not there */
    uint64_t low, high; /* addresses of its code */
    uint64_t *times;    /* [high - low]: executions that no basic block accounts for */
};

enum { MAX_OBJECTS = 16 };
static struct object objects[MAX_OBJECTS];
static unsigned n_objects;
static uint64_t n_covered, n_own, n_all;

static uint32_t find_module(const struct pm_structure *structure, const char *path) {
    const char *slash = strrchr(path, '/');
    for (uint32_t m = 1; m < structure->n_modules; m++)
        if (strcmp(structure->modules[m].name, slash ? slash + 1 : path) == 0)
            return m;
    return PM_NONE;
}

/* The first object is the program. */
static bool add_object(const char *path, const struct pm_structure *structure,
                       struct pm_error *err) {
    struct object *object = &objects[n_objects];
    if (n_objects == MAX_OBJECTS)
        return pm_fail(err, "too many files; the first that is left out is %s", path);
    if (!pm_read_image(path, &object->image, err))
        return false;
    object->path = path;
    object->module = n_objects == 0 ? 0 : find_module(structure, path);
    object->low = UINT64_MAX;
    for (size_t s = 0; s < object->image.n_sections; s++) {
        const Elf64_Shdr *header = &object->image.sections[s].header;
        if (!pm_section_is_code(&object->image.sections[s]))
            continue;
        if (header->sh_addr < object->low)
            object->low = header->sh_addr;
        if (header->sh_addr + header->sh_size > object->high)
            object->high = header->sh_addr + header->sh_size;
    }
    object->times = pm_alloc(object->high - object->low, sizeof(uint64_t));
    n_objects++;
    return true;
}

static struct object *object_at(const char *path) {
    for (unsigned o = 0; o < n_objects; o++)
        if (strcmp(objects[o].path, path) == 0)
            return &objects[o];
    return NULL;
}

/* Lines of costs are "ADDRESS LINE COST"; the one after calls= has the cost of the callee. */
static bool read_callgrind(const char *path, struct pm_error *err) {
    FILE *file = fopen(path, "r");
    if (!file)
        return pm_fail_errno(err, "cannot read %s", path);
    struct object *object = NULL;
    char *line = NULL;
    size_t n_bytes = 0;
    bool is_call = false;
    while (getline(&line, &n_bytes, file) > 0) {
        uint64_t address, source_line, cost;
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "ob=", 3) == 0) {
            object = object_at(line + 3);
        } else if (strncmp(line, "calls=", 6) == 0) {
            is_call = true;
        } else if (sscanf(line, "0x%" SCNx64 " %" SCNu64 " %" SCNu64, &address, &source_line,
                          &cost) == 3) {
            if (!is_call) {
                n_all += cost;
                if (object && address >= object->low && address < object->high) {
                    n_own += cost;
                    object->times[address - object->low] += cost;
                }
            }
            is_call = false;
        }
    }
    free(line);
    fclose(file);
    return true;
}

static bool is_repeated_string(const struct pm_image *image, uint64_t address) {
    bool repeats = false;
    for (int i = 0; i < 4; i++, address++) {
        const uint8_t *byte = pm_image_at(image, address, 1);
        if (!byte)
            return false;
        if (*byte == 0xf3 || *byte == 0xf2)
            repeats = true;
        else if (*byte != 0x66 && *byte != 0x67 && (*byte & 0xf0) != 0x40)
            return repeats &&
                   ((*byte >= 0xa4 && *byte <= 0xa7) || (*byte >= 0xaa && *byte <= 0xaf));
    }
    return false;
}

/* Takes what the basic block accounts for from the executions. */
static void cover_block(struct object *object, const struct pm_block *block, uint64_t count) {
    if (block->address < object->low || block->address >= object->high ||
        block->size_bytes > object->high - block->address)
        return;
    for (uint64_t a = block->address; a < block->address + block->size_bytes; a++) {
        uint64_t *times = &object->times[a - object->low], here = *times;
        if (here > count && !(count > 0 && is_repeated_string(&object->image, a)))
            here = count;
        n_covered += here;
        *times -= here;
    }
}

static void cover(const struct pm_structure *structure, const double *edge_counts) {
    double *counts = pm_alloc(structure->n_blocks + 1, sizeof *counts);
    for (size_t e = 0; e < structure->n_edges; e++)
        if (structure->edges[e].to != PM_NONE)
            counts[structure->edges[e].to] += edge_counts[e];
    for (size_t b = 0; b < structure->n_blocks; b++) {
        const struct pm_routine *routine = &structure->routines[structure->blocks[b].routine];
        for (unsigned o = 0; o < n_objects && routine->counted; o++)
            if (objects[o].module == routine->module)
                cover_block(&objects[o], &structure->blocks[b], (uint64_t)counts[b]);
    }
    free(counts);
}

static void print_place(const struct pm_structure *structure, const struct object *object,
                        uint64_t address, uint64_t times) {
    const struct pm_section *section = pm_image_section_at(&object->image, address);
    const char *name = "no routine", *reason = "";
    for (size_t r = 0; r < structure->n_routines; r++) {
        const struct pm_routine *routine = &structure->routines[r];
        if (routine->module != object->module || address < routine->address ||
            address - routine->address >= routine->size_bytes)
            continue;
        name = routine->name;
        reason = routine->reason ? routine->reason : "counted less often";
    }
    printf("0x%" PRIx64 " %" PRIu64 " %s %s (%s) %s\n", address, times, object->path, name,
           section ? section->name : "?", reason);
}

static void print_missed(const struct pm_structure *structure) {
    for (int i = 0; i < 20; i++) {
        struct object *where = NULL;
        uint64_t at = 0, most = 0;
        for (unsigned o = 0; o < n_objects; o++)
            for (uint64_t a = 0; a < objects[o].high - objects[o].low; a++)
                if (objects[o].times[a] > most) {
                    where = &objects[o];
                    at = a;
                    most = where->times[a];
                }
        if (!where)
            return;
        print_place(structure, where, where->low + at, most);
        where->times[at] = 0;
    }
}

static bool compare(const struct pm_structure *structure, const struct pm_profile *profile,
                    int n_names, char **names, struct pm_error *err) {
    int i = 0;
    for (; i < n_names && strcmp(names[i], "--") != 0; i++)
        if (!add_object(names[i], structure, err))
            return false;
    for (i++; i < n_names; i++)
        if (!read_callgrind(names[i], err))
            return false;
    cover(structure, profile->edge_counts);
    printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", n_covered, n_own, n_all);
    print_missed(structure);
    for (unsigned o = 0; o < n_objects; o++) {
        free(objects[o].times);
        pm_image_release(&objects[o].image);
    }
    return true;
}

int main(int argc, char **argv) {
    struct pm_error err = {0};
    struct pm_parameters size = {0};
    if (argc < 5) {
        fprintf(stderr, "usage: coverage STORE N=8 PROGRAM [LIBRARY...] -- CALLGRIND...\n");
        return 2;
    }
    struct pm_store *store = pm_store_open(argv[1], PM_STORE_READ, &err);
    struct pm_structure *structure = store ? pm_store_structure(store, &err) : NULL;
    struct pm_profile *profile = NULL;
    if (structure && pm_parameters_parse(argv[2], &size, &err))
        profile = pm_store_profile(store, &size, &err);
    if (!profile || !compare(structure, profile, argc - 3, argv + 3, &err)) {
        fprintf(stderr, "coverage: %s\n", err.text[0] ? err.text : "there is no such run");
        return 2;
    }
    pm_profile_free(profile);
    pm_structure_free(structure);
    pm_store_close(store);
    return 0;
}
