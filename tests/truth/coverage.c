/* How much of what a program executed was counted: callgrind's executions of each instruction of
   PROGRAM beside the count of the basic block that holds it.

     coverage STORE N=8 PROGRAM CALLGRIND...

   prints "COVERED OWN ALL": executions that were counted, those in PROGRAM's own file (with its
   linkage tables), and those in all files.  An instruction is covered as often as its basic block
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
#include "core/store.h"

struct executions {
    uint64_t low, high; /* addresses of the program's code */
    uint64_t *times;    /* [high - low] */
    uint64_t own, all;
};

static int fail(const char *what, const char *why) {
    fprintf(stderr, "coverage: %s%s\n", what, why);
    return 2;
}

static void find_code(const struct pm_image *image, struct executions *executions) {
    executions->low = UINT64_MAX;
    for (size_t s = 0; s < image->n_sections; s++) {
        const Elf64_Shdr *header = &image->sections[s].header;
        if (!pm_section_is_code(&image->sections[s]))
            continue;
        if (header->sh_addr < executions->low)
            executions->low = header->sh_addr;
        if (header->sh_addr + header->sh_size > executions->high)
            executions->high = header->sh_addr + header->sh_size;
    }
    executions->times = pm_alloc(executions->high - executions->low, sizeof(uint64_t));
}

/* Lines of costs are "ADDRESS LINE COST"; the one after calls= has the cost of the callee. */
static bool read_callgrind(const char *path, const char *program, struct executions *executions) {
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t n_bytes = 0;
    bool own = false, is_call = false;
    while (file && getline(&line, &n_bytes, file) > 0) {
        uint64_t address, source_line, cost;
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "ob=", 3) == 0) {
            own = strcmp(line + 3, program) == 0;
        } else if (strncmp(line, "calls=", 6) == 0) {
            is_call = true;
        } else if (sscanf(line, "0x%" SCNx64 " %" SCNu64 " %" SCNu64, &address, &source_line,
                          &cost) == 3) {
            if (!is_call) {
                executions->all += cost;
                if (own && address >= executions->low && address < executions->high) {
                    executions->own += cost;
                    executions->times[address - executions->low] += cost;
                }
            }
            is_call = false;
        }
    }
    free(line);
    if (!file)
        return false;
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

/* Takes what the basic block accounts for from the executions; returns how many those are. */
static uint64_t cover_block(const struct pm_image *image, const struct pm_block *block,
                            uint64_t count, struct executions *executions) {
    uint64_t covered = 0;
    if (block->address < executions->low || block->address >= executions->high ||
        block->size_bytes > executions->high - block->address)
        return 0;
    for (uint64_t a = block->address; a < block->address + block->size_bytes; a++) {
        uint64_t *times = &executions->times[a - executions->low], here = *times;
        if (here > count && !(count > 0 && is_repeated_string(image, a)))
            here = count;
        covered += here;
        *times -= here;
    }
    return covered;
}

static const char *reason_at(const struct pm_structure *structure, const struct pm_image *image,
                             uint64_t address) {
    static char text[256];
    const struct pm_section *section = pm_image_section_at(image, address);
    for (size_t r = 0; r < structure->n_routines; r++) {
        const struct pm_routine *routine = &structure->routines[r];
        if (address < routine->address || address - routine->address >= routine->size_bytes)
            continue;
        snprintf(text, sizeof text, "%s (%s): %s", routine->name, section ? section->name : "?",
                 routine->reason ? routine->reason : "counted less often");
        return text;
    }
    snprintf(text, sizeof text, "no routine (%s)", section ? section->name : "?");
    return text;
}

static void print_missed(const struct pm_structure *structure, const struct pm_image *image,
                         struct executions *executions) {
    for (int i = 0; i < 20; i++) {
        uint64_t most = 0;
        for (uint64_t a = 0; a < executions->high - executions->low; a++)
            if (executions->times[a] > executions->times[most])
                most = a;
        if (executions->times[most] == 0)
            return;
        uint64_t address = executions->low + most;
        printf("0x%" PRIx64 " %" PRIu64 " %s\n", address, executions->times[most],
               reason_at(structure, image, address));
        executions->times[most] = 0;
    }
}

int main(int argc, char **argv) {
    struct pm_error err = {0};
    struct pm_parameters size = {0};
    if (argc < 5)
        return fail("usage: ", "coverage STORE N=8 PROGRAM CALLGRIND...");
    struct pm_image image = {0};
    struct pm_store *store = NULL;
    if (pm_read_image(argv[3], &image, &err))
        store = pm_store_open(argv[1], PM_STORE_READ, &err);
    struct pm_structure *structure = store ? pm_store_structure(store, &err) : NULL;
    struct pm_profile *profile = NULL;
    if (structure && pm_parameters_parse(argv[2], &size, &err))
        profile = pm_store_profile(store, &size, &err);
    if (!profile)
        return fail(err.text[0] ? err.text : "there is no such run", "");

    struct executions executions = {0};
    find_code(&image, &executions);
    for (int i = 4; i < argc; i++)
        if (!read_callgrind(argv[i], argv[3], &executions))
            return fail("cannot read ", argv[i]);
    uint64_t covered = 0;
    double *counts = pm_alloc(structure->n_blocks + 1, sizeof *counts);
    for (size_t e = 0; e < structure->n_edges; e++)
        if (structure->edges[e].to != PM_NONE)
            counts[structure->edges[e].to] += profile->edge_counts[e];
    for (size_t b = 0; b < structure->n_blocks; b++) {
        const struct pm_block *block = &structure->blocks[b];
        if (structure->routines[block->routine].counted)
            covered += cover_block(&image, block, (uint64_t)counts[b], &executions);
    }
    printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", covered, executions.own, executions.all);
    print_missed(structure, &image, &executions);
    free(counts);
    free(executions.times);
    pm_profile_free(profile);
    pm_structure_free(structure);
    pm_store_close(store);
    pm_image_release(&image);
    return 0;
}
