/* How fast models of many reference groups are made: `make bench` builds and runs it (bench.sh).

     gcc -O2 -fopenmp -I. -o fit_groups bench/cost/fit_groups.c -Wl,--start-group build/libpm_*.a \
         -Wl,--end-group $(cat build/ldlibs)
     ./fit_groups STORE N_GROUPS N_THREADS

   Of the groups that STORE recorded, one for each block size, those with at least LEAST_BINS bins
   at every size are drawn, with replacement, until there are N_GROUPS; groups that are cut together
   are drawn together.  Their histograms are copied, so that each is in memory of its
   own. Then one fit of all of them, with the program's edges.  Prints a JSON object: elapsed and
   CPU seconds of the fit, its bins, and the memory in use at its height beyond what was in use
   before, in bytes a group. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/store/store.h"
#include "fit/histogram/histogram.h"

enum { LEAST_BINS = 5 };

/* What was recorded. */
struct recorded {
    struct pm_structure *structure;
    struct pm_profile **profiles;
    size_t n; /* of them */
    uint32_t *scopes;
};

/* What is to be fitted, filled as groups are drawn. */
struct drawn {
    struct pm_structure structure; /* shares all but scopes, groups and references */
    struct pm_profile *profiles;
    size_t n_histograms, capacity;
};

static void stop(const char *why) {
    fprintf(stderr, "fit_groups: %s\n", why);
    exit(2);
}

static void read_store(const char *path, struct recorded *r) {
    struct pm_error err = {0};
    struct pm_parameters *sizes = NULL;
    struct pm_store *store = pm_store_open(path, PM_STORE_READ, &err);
    r->structure = store ? pm_store_structure(store, &err) : NULL;
    if (!r->structure || !pm_store_runs(store, &sizes, &r->n, &err))
        stop(err.text);
    r->profiles = pm_alloc(r->n, sizeof *r->profiles);
    for (size_t k = 0; k < r->n; k++) {
        r->profiles[k] = pm_store_profile(store, &sizes[k], &err);
        if (!r->profiles[k])
            stop(err.text);
    }
    free(sizes);
    pm_store_close(store);
    r->scopes = pm_joint_scopes(r->structure);
}

/* ---- drawing ----------------------------------------------------------------------------------
 */

static uint64_t random_state = 88172645463325252u;

static size_t draw(size_t n) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (size_t)((double)(random_state >> 11) / 9007199254740992.0 * (double)n);
}

static bool is_rich(const struct recorded *r, uint32_t group, uint64_t block_bytes) {
    for (size_t k = 0; k < r->n; k++) {
        const struct pm_histogram *h = pm_profile_histogram(r->profiles[k], group, block_bytes);
        if (!h || h->n_bins < LEAST_BINS)
            return false;
    }
    return true;
}

/* Groups that are cut together at one block size: those with enough bins. */
struct choice {
    uint32_t scope;
    uint64_t block_bytes;
    size_t n;
    uint32_t *groups;
};

static size_t list_choices(const struct recorded *r, struct choice **choices) {
    size_t n = 0;
    const struct pm_profile *last = r->profiles[r->n - 1];
    struct choice *list = pm_alloc(last->n_histograms + 1, sizeof *list);
    for (size_t h = 0; h < last->n_histograms; h++) {
        uint32_t group = last->histograms[h].group, scope = r->scopes[group];
        uint64_t block_bytes = last->histograms[h].histogram.block_bytes;
        if (!is_rich(r, group, block_bytes))
            continue;
        size_t c = 0;
        while (c < n && (list[c].scope != scope || list[c].block_bytes != block_bytes))
            c++;
        if (c == n)
            list[n++] = (struct choice){.scope = scope, .block_bytes = block_bytes};
        list[c].groups = pm_realloc(list[c].groups, list[c].n + 1, sizeof *list[c].groups);
        list[c].groups[list[c].n++] = group;
    }
    *choices = list;
    return n;
}

/* A copy of SCOPE for a groups of its own. */
static uint32_t copy_scope(struct drawn *d, uint32_t scope, uint32_t parent) {
    struct pm_scope *copy = PM_PUSH(&d->structure, scopes);
    *copy = d->structure.scopes[scope];
    copy->parent = parent;
    return (uint32_t)(d->structure.n_scopes - 1);
}

static void copy_histograms(const struct recorded *r, struct drawn *d, uint32_t group,
                            uint64_t block_bytes, uint32_t new_group) {
    for (size_t k = 0; k < r->n; k++) {
        const struct pm_histogram *from = pm_profile_histogram(r->profiles[k], group, block_bytes);
        struct pm_group_histogram *to = &d->profiles[k].histograms[d->n_histograms];
        *to = (struct pm_group_histogram){.group = new_group, .histogram = *from};
        to->histogram.bins = pm_alloc(from->n_bins, sizeof *from->bins);
        memcpy(to->histogram.bins, from->bins, from->n_bins * sizeof *from->bins);
        d->profiles[k].n_histograms = d->n_histograms + 1;
    }
    d->n_histograms++;
}

/* References by group: those of group g are order[first[g]] … order[first[g + 1] − 1]. */
struct references {
    size_t *first, *order;
};

static struct references by_group(const struct pm_structure *s) {
    struct references by = {.first = pm_alloc(s->n_groups + 2, sizeof *by.first),
                            .order = pm_alloc(s->n_references + 1, sizeof *by.order)};
    for (size_t i = 0; i < s->n_references; i++)
        if (s->references[i].group < s->n_groups)
            by.first[s->references[i].group + 2]++;
    for (size_t g = 0; g < s->n_groups; g++)
        by.first[g + 2] += by.first[g + 1];
    for (size_t i = 0; i < s->n_references; i++)
        if (s->references[i].group < s->n_groups)
            by.order[by.first[s->references[i].group + 1]++] = i;
    return by;
}

static void draw_joint(const struct recorded *r, struct drawn *d, const struct references *by,
                       const struct choice *choice) {
    /* The loop of the groups, and one copy of each scope in it. */
    uint32_t outer = choice->scope, outer_copy = PM_NONE, from[64], to[64];
    size_t n_copies = 0;
    for (size_t i = 0; i < choice->n && d->n_histograms < d->capacity; i++) {
        uint32_t scope = r->structure->groups[choice->groups[i]].scope, copy = PM_NONE;
        if (outer_copy == PM_NONE)
            outer_copy = copy_scope(d, outer, r->structure->scopes[outer].parent);
        for (size_t j = 0; j < n_copies; j++)
            if (from[j] == scope)
                copy = to[j];
        if (scope == outer)
            copy = outer_copy;
        if (copy == PM_NONE) {
            copy = copy_scope(d, scope, outer_copy);
            if (n_copies < 64) {
                from[n_copies] = scope;
                to[n_copies++] = copy;
            }
        }
        struct pm_group *group = PM_PUSH(&d->structure, groups);
        uint32_t new_group = (uint32_t)(d->structure.n_groups - 1);
        *group = r->structure->groups[choice->groups[i]];
        group->scope = copy;
        for (size_t j = by->first[choice->groups[i]]; j < by->first[choice->groups[i] + 1]; j++) {
            struct pm_reference *reference = PM_PUSH(&d->structure, references);
            *reference = r->structure->references[by->order[j]];
            reference->group = new_group;
        }
        copy_histograms(r, d, choice->groups[i], choice->block_bytes, new_group);
    }
}

static void draw_groups(const struct recorded *r, struct drawn *d, size_t n_groups) {
    struct choice *choices;
    size_t n_choices = list_choices(r, &choices);
    if (n_choices == 0)
        stop("no group of the store has enough bins at every size");
    struct references by = by_group(r->structure);
    d->structure = *r->structure;
    d->structure.groups = NULL;
    d->structure.references = NULL;
    d->structure.scopes = NULL;
    d->structure.n_groups = d->structure.cap_groups = 0;
    d->structure.n_references = d->structure.cap_references = 0;
    d->structure.n_scopes = d->structure.cap_scopes = 0;
    for (size_t s = 0; s < r->structure->n_scopes; s++)
        *PM_PUSH(&d->structure, scopes) = r->structure->scopes[s];
    d->capacity = n_groups;
    d->profiles = pm_alloc(r->n, sizeof *d->profiles);
    for (size_t k = 0; k < r->n; k++) {
        d->profiles[k] = *r->profiles[k];
        d->profiles[k].histograms = pm_alloc(n_groups, sizeof *d->profiles[k].histograms);
        d->profiles[k].n_histograms = 0;
    }
    while (d->n_histograms < n_groups)
        draw_joint(r, d, &by, &choices[draw(n_choices)]);
}

/* ---- measuring --------------------------------------------------------------------------------
 */

/* A field of /proc/self/status, in bytes. */
static double memory_of(const char *field) {
    char line[256];
    double kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (strncmp(line, field, strlen(field)) == 0)
            kib = strtod(line + strlen(field) + 1, NULL);
    if (status)
        fclose(status);
    return 1024 * kib;
}

/* From now on the largest memory in use is that of what follows. */
static void forget_height(void) {
    FILE *clear = fopen("/proc/self/clear_refs", "w");
    if (!clear || fputs("5", clear) < 0 || fclose(clear) != 0)
        stop("cannot reset the largest memory in use");
}

static double cpu_seconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static unsigned long count_of(const char *text) {
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (errno || *end || value == 0 || value > 100000000)
        stop("give a store, a number of groups and a number of threads");
    return value;
}

int main(int argc, char **argv) {
    if (argc != 4)
        stop("give a store, a number of groups and a number of threads");
    static struct recorded recorded;
    static struct drawn drawn;
    size_t n_groups = count_of(argv[2]);
    struct pm_fit_options options = {.n_threads = (unsigned)count_of(argv[3])};
    read_store(argv[1], &recorded);
    draw_groups(&recorded, &drawn, n_groups);
    const struct pm_profile **profiles = pm_alloc(recorded.n, sizeof *profiles);
    for (size_t k = 0; k < recorded.n; k++)
        profiles[k] = &drawn.profiles[k];

    struct pm_fit_statistics statistics = {0};
    struct pm_error err = {0};
    forget_height();
    double before = memory_of("VmRSS"), cpu = cpu_seconds();
    struct pm_model_set *set =
        pm_fit(&drawn.structure, profiles, recorded.n, &options, &statistics, &err);
    cpu = cpu_seconds() - cpu;
    if (!set)
        stop(err.text);
    printf("{\"groups\": %zu, \"sizes\": %zu, \"threads\": %u, \"seconds\": %.6f, "
           "\"cpu_seconds\": %.6f, \"bins\": %zu, \"models\": %zu, \"bytes_per_group\": %.0f}\n",
           n_groups, recorded.n, options.n_threads, statistics.seconds, cpu, statistics.n_bins,
           statistics.n_models, (memory_of("VmHWM") - before) / (double)n_groups);
    /* What was drawn shares memory with what was recorded: the end of the process frees both. */
    return 0;
}
