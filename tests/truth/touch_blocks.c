/* Runs the routines of random code that random_blocks.awk writes.  Their accesses go to the arena
   and its copy, at fixed addresses, and to the pool and a stack of their own, whose addresses are
   told on standard error.

     touch_blocks TURNS */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define ARENA 0x3800000 /* as in random_blocks.awk; below what valgrind maps */
#define ALIAS 0x700000000
enum { ARENA_BYTES = 65536 };

uint8_t pool[4096];
uint64_t own_stack[1024];
extern void (*const routines[])(int);
extern const long n_routines;

static uint8_t *map_at(uint64_t address) {
    void *wanted = (void *)address; /* NOLINT */
    void *memory = mmap(wanted, ARENA_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    return memory == wanted ? memory : NULL;
}

int main(int argc, char **argv) {
    const uint8_t *arena = map_at(ARENA), *copy = map_at(ARENA + ALIAS);
    unsigned long sum = 0;
    if (argc < 2 || !arena || !copy) {
        fprintf(stderr, "touch_blocks: no turns, or no memory at %#x\n", ARENA);
        return 2;
    }
    fprintf(stderr, "%ld %ld\n", (long)pool, (long)own_stack);
    for (int turn = 0; turn < atoi(argv[1]); turn++)
        for (long i = 0; i < n_routines; i++)
            routines[i](turn);
    for (int i = 0; i < ARENA_BYTES; i++)
        sum = sum * 31 + arena[i] + copy[i];
    printf("%lx\n", sum);
    return 0;
}
