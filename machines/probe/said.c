/* What cpuid and sysfs say (probe.h: it decides nothing). */
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "machines/probe/probe.h"

#if defined(__x86_64__)
static void read_processor(struct pm_said *said) {
    unsigned a, b, c, d;
    if (__get_cpuid(0, &a, &b, &c, &d)) {
        memcpy(said->vendor, &b, 4);
        memcpy(said->vendor + 4, &d, 4);
        memcpy(said->vendor + 8, &c, 4);
    }
    if (__get_cpuid(1, &a, &b, &c, &d)) {
        unsigned family = a >> 8 & 15, model = a >> 4 & 15;
        said->stepping = a & 15;
        said->is_guest = c >> 31 & 1;
        /* Extended fields count for these families. */
        said->model = family == 6 || family == 15 ? model + ((a >> 16 & 15) << 4) : model;
        said->family = family == 15 ? family + (a >> 20 & 255) : family;
    }
    for (unsigned i = 0; i < 3; i++)
        if (__get_cpuid(0x80000002 + i, &a, &b, &c, &d)) {
            unsigned words[4] = {a, b, c, d};
            memcpy(said->brand + 16 * i, words, 16);
        }
}
#else
static void read_processor(struct pm_said *said) { strcpy(said->vendor, "unknown"); }
#endif

static bool read_word(int index, const char *file, char *word, size_t size) {
    char *path = pm_sprintf("/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, file);
    FILE *stream = fopen(path, "re");
    bool ok = stream && fgets(word, (int)size, stream);
    if (ok)
        word[strcspn(word, "\n")] = '\0';
    if (stream)
        fclose(stream);
    free(path);
    return ok;
}

static uint64_t read_number(int index, const char *file) {
    char word[64], *end;
    if (!read_word(index, file, word, sizeof word))
        return 0;
    uint64_t number = strtoull(word, &end, 10);
    return *end == 'K' ? number << 10 : *end == 'M' ? number << 20 : number;
}

/* "0-3,8": how many. */
static uint64_t count_list(const char *list) {
    uint64_t n = 0;
    while (*list >= '0' && *list <= '9') {
        char *end;
        unsigned long first = strtoul(list, &end, 10), last = first;
        if (*end == '-')
            last = strtoul(end + 1, &end, 10);
        n += last - first + 1;
        list = *end == ',' ? end + 1 : end;
    }
    return n;
}

static void read_caches(struct pm_said *said) {
    char type[16], sharing[256];
    for (int index = 0; read_word(index, "type", type, sizeof type); index++) {
        struct pm_said_cache *cache = PM_PUSH(said, caches);
        memcpy(cache->type, type, sizeof type);
        cache->level = (unsigned)read_number(index, "level");
        cache->size_bytes = read_number(index, "size");
        cache->line_bytes = read_number(index, "coherency_line_size");
        cache->ways = read_number(index, "ways_of_associativity");
        if (read_word(index, "shared_cpu_list", sharing, sizeof sharing))
            cache->sharing_cpus = count_list(sharing);
    }
}

struct pm_said pm_what_is_said(void) {
    struct pm_said said = {0};
    cpu_set_t allowed;
    read_processor(&said);
    read_caches(&said);
    CPU_ZERO(&allowed);
    sched_getaffinity(0, sizeof allowed, &allowed);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed))
            *PM_PUSH(&said, cpus) = cpu;
    return said;
}

void pm_said_free(struct pm_said *said) {
    free(said->caches);
    free(said->cpus);
    memset(said, 0, sizeof *said);
}
