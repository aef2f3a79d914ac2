/* What is each step of fit/ worth, and each of its constants (fit/heuristics.h)?  Everything is
   read once; then the models of all cases are made and compared in one process, hundreds of times.

     ablation CASES STEPS CONSTANTS ERRORS

   CASES: a file with lines NAME PART CLASS MODELS.pmdb MEASURED.pmdb FIT, FIT being the values of N
   to fit (ablation.sh makes it).  Of PART `apart` nothing is tried: no step or constant is chosen
   by it.  STEPS, CONSTANTS: names to try, separated by commas; empty: all,
   `-`: none.  Prints a page of tables.

   Compared are, at each measured size above the fitted ones, the program's misses of fully
   associative caches of 64 … 131072 blocks, for lines and for pages, and the executed instructions
   of all basic blocks.  The relative error of one comparison is taken as at least FLOOR and at most
   CEILING; a change is the geometric mean, over the comparisons of a case and then over the cases,
   of the error with it over that without.  "Worst" is the same of each case's worst error. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/histogram.h"
#include "core/store/store.h"
#include "fit/fit.h"

#define FLOOR 1e-3   /* below, no decision depends on it */
#define CEILING 10.0 /* ten times too many are as useless as a hundred times */
#define LEAST_MISSES 50.0
#define NOISE 0.01 /* of a geometric mean: no change */

enum { LINES, PAGES, COUNTS, N_KINDS };
enum { DEVELOP, JUDGE, APART, N_PARTS };
enum { N_TRIED = APART }; /* parts that changes are tried on */
static const char *const part_names[N_PARTS] = {"develop", "judge", "apart"};
enum { N_CACHES = 12, SMALLEST_CACHE = 64, MOST_SIZES = 32, MOST_CLASSES = 12 };
static const char *const kind_names[N_KINDS] = {"lines", "pages", "instructions"};
static const double block_bytes[] = {[LINES] = 64, [PAGES] = 4096};

/* Errors of one case: NAN where nothing is compared. */
struct errors {
    double of[N_KINDS][MOST_SIZES * N_CACHES];
    size_t inside, known, unknown; /* misses against their intervals of 80% */
    double log_width;              /* sum over the known */
};

struct one_case {
    char name[64], class[32];
    int part;
    struct pm_structure *structure;
    const struct pm_profile **fitted;
    size_t n_fitted;
    struct pm_profile **measured; /* above the fitted sizes */
    size_t n_measured;
    struct errors now;   /* with all steps, constants as they are */
    struct errors tried; /* with the change in hand */
};

/* A change: a step left out, or a constant scaled. */
struct change {
    const char *without, *constant;
    double factor;
    double mean[N_TRIED][N_KINDS], worst[N_TRIED][N_KINDS]; /* logarithms */
    double of_class[MOST_CLASSES][N_KINDS];
    char harmed[64]; /* the case whose error in lines or pages grows most */
    double harm;
};

static struct one_case *cases;
static size_t n_cases;
static char classes[MOST_CLASSES][32];
static size_t n_classes;

static void stop(const char *what, const char *why) {
    fprintf(stderr, "ablation: %s: %s\n", what, why);
    exit(2);
}

/* ---- reading --------------------------------------------------------------------------------- */

static double size_of(const struct pm_profile *profile) {
    double n = 0;
    pm_parameters_get(&profile->parameters, "N", &n);
    return n;
}

static struct pm_profile **read_profiles(const char *path, struct pm_structure **structure,
                                         size_t *n) {
    struct pm_error err = {0};
    struct pm_parameters *runs = NULL;
    struct pm_store *store = pm_store_open(path, PM_STORE_READ, &err);
    *structure = store ? pm_store_structure(store, &err) : NULL;
    if (!*structure || !pm_store_runs(store, &runs, n, &err))
        stop(path, err.text);
    struct pm_profile **profiles = pm_alloc(*n, sizeof(struct pm_profile *));
    for (size_t k = 0; k < *n; k++) {
        profiles[k] = pm_store_profile(store, &runs[k], &err);
        if (!profiles[k])
            stop(path, err.text);
    }
    free(runs);
    pm_store_close(store);
    return profiles;
}

/* Whether SIZE is in LIST, "24,32,40", or `*`. */
static bool is_listed(const char *list, double size) {
    if (*list == '*')
        return true;
    for (char *end; *list; list = *end ? end + 1 : end)
        if (strtod(list, &end) == size)
            return true;
    return false;
}

static void add_class(const char *class) {
    for (size_t i = 0; i < n_classes; i++)
        if (strcmp(classes[i], class) == 0)
            return;
    if (n_classes == MOST_CLASSES)
        stop(class, "there are more classes than fit");
    snprintf(classes[n_classes++], sizeof classes[0], "%s", class);
}

static void read_case(const char *line) {
    char part[32], models[512], measured[512], fit[256];
    cases = pm_realloc(cases, n_cases + 1, sizeof *cases);
    struct one_case *c = &cases[n_cases++];
    memset(c, 0, sizeof *c);
    if (sscanf(line, "%63s %31s %31s %511s %511s %255s", c->name, part, c->class, models, measured,
               fit) != 6)
        stop(line, "a line is NAME PART CLASS MODELS MEASURED FIT");
    while (c->part < N_PARTS && strcmp(part, part_names[c->part]) != 0)
        c->part++;
    if (c->part == N_PARTS)
        stop(part, "a part is develop, judge or apart");
    add_class(c->class);
    size_t n;
    double largest = 0;
    struct pm_structure *other;
    struct pm_profile **all = read_profiles(models, &c->structure, &n);
    c->fitted = pm_alloc(n, sizeof(const struct pm_profile *));
    for (size_t k = 0; k < n; k++)
        if (is_listed(fit, size_of(all[k]))) {
            c->fitted[c->n_fitted++] = all[k];
            largest = fmax(largest, size_of(all[k]));
        }
    all = read_profiles(measured, &other, &n);
    c->measured = pm_alloc(n, sizeof(struct pm_profile *));
    for (size_t k = 0; k < n && c->n_measured < MOST_SIZES; k++)
        if (*fit == '*' || size_of(all[k]) > largest)
            c->measured[c->n_measured++] = all[k];
    pm_structure_free(other);
    if (c->n_fitted < 3 || c->n_measured == 0)
        stop(c->name, "there are not three fitted sizes and a larger one");
}

static void read_cases(const char *path) {
    char line[2048];
    FILE *file = fopen(path, "r");
    if (!file)
        stop(path, "cannot be read");
    while (fgets(line, sizeof line, file))
        read_case(line);
    fclose(file);
}

/* ---- errors ---------------------------------------------------------------------------------- */

static double relative_error(double predicted, double measured) {
    return fmin(fmax(fabs(predicted - measured) / measured, FLOOR), CEILING);
}

static double misses(const struct pm_profile *profile, double bytes, double blocks) {
    double sum = 0;
    for (size_t h = 0; h < profile->n_histograms; h++)
        if ((double)profile->histograms[h].histogram.block_bytes == bytes)
            sum += pm_fully_associative_misses(&profile->histograms[h].histogram, blocks);
    return sum;
}

/* Instructions that are executed too often or too rarely, of those measured. */
static double instruction_error(const struct pm_structure *structure,
                                const struct pm_profile *predicted,
                                const struct pm_profile *measured) {
    double *p = pm_block_executions(structure, predicted->edge_counts);
    double *m = pm_block_executions(structure, measured->edge_counts);
    double wrong = 0, all = 0;
    for (size_t b = 0; b < structure->n_blocks; b++) {
        double instructions = structure->blocks[b].n_instructions;
        wrong += instructions * fabs(p[b] - m[b]);
        all += instructions * m[b];
    }
    free(p);
    free(m);
    return fmin(fmax(wrong / all, FLOOR), CEILING);
}

static void add_interval(struct errors *errors, const struct pm_profile *const ends[2],
                         double bytes, double blocks, double measured) {
    double low = misses(ends[0], bytes, blocks), high = misses(ends[1], bytes, blocks);
    if (!isfinite(high) || !(low > 0)) {
        errors->unknown++;
        return;
    }
    errors->known++;
    errors->inside += measured >= fmin(low, high) && measured <= fmax(low, high);
    errors->log_width += fabs(log(high / low));
}

static void compare_size(const struct one_case *c, const struct pm_model_set *set, size_t k,
                         bool intervals, struct errors *errors) {
    struct pm_error err = {0};
    const struct pm_profile *measured = c->measured[k];
    struct pm_profile *predicted =
        pm_fit_instantiate(c->structure, set, &measured->parameters, &err);
    struct pm_profile *ends[2] = {NULL, NULL};
    for (int end = 0; intervals && end < 2; end++)
        ends[end] = pm_fit_instantiate_end(c->structure, set, &measured->parameters,
                                           pm_heuristics.interval_level, end, &err);
    if (!predicted || (intervals && (!ends[0] || !ends[1])))
        stop(c->name, err.text);
    errors->of[COUNTS][k * N_CACHES] = instruction_error(c->structure, predicted, measured);
    for (int kind = LINES; kind <= PAGES; kind++)
        for (size_t i = 0; i < N_CACHES; i++) {
            double blocks = SMALLEST_CACHE << i, bytes = block_bytes[kind];
            double m = misses(measured, bytes, blocks);
            if (m < LEAST_MISSES)
                continue;
            errors->of[kind][k * N_CACHES + i] =
                relative_error(misses(predicted, bytes, blocks), m);
            if (intervals)
                add_interval(errors, (const struct pm_profile *const *)ends, bytes, blocks, m);
        }
    for (int end = 0; intervals && end < 2; end++)
        pm_profile_free(ends[end]);
    pm_profile_free(predicted);
}

static void evaluate(const struct one_case *c, bool intervals, struct errors *errors) {
    struct pm_error err = {0};
    const struct pm_fit_options options = {.n_threads = 1,
                                           .drop_outliers = strcmp(c->class, "disturbed") == 0};
    struct pm_model_set *set = pm_fit(c->structure, c->fitted, c->n_fitted, &options, NULL, &err);
    if (!set)
        stop(c->name, err.text);
    if (intervals)
        pm_fit_hold_out(c->structure, c->fitted, c->n_fitted, &options, set);
    *errors = (struct errors){.inside = 0};
    for (int kind = 0; kind < N_KINDS; kind++)
        for (size_t i = 0; i < MOST_SIZES * N_CACHES; i++)
            errors->of[kind][i] = NAN;
    for (size_t k = 0; k < c->n_measured; k++)
        compare_size(c, set, k, intervals, errors);
    pm_model_set_free(set);
}

/* All cases, as the heuristics are now; those that stand apart only where no change is tried (NOW).
 */
static void evaluate_all(bool intervals, bool now) {
#pragma omp parallel for schedule(dynamic)
    for (size_t i = 0; i < n_cases; i++)
        if (now || cases[i].part < N_TRIED)
            evaluate(&cases[i], intervals, now ? &cases[i].now : &cases[i].tried);
}

/* One line for each comparison, for who compares two versions of fit/. */
static void write_errors(const char *path) {
    FILE *file = fopen(path, "w");
    if (!file)
        stop(path, "cannot be written");
    for (size_t i = 0; i < n_cases; i++)
        for (int kind = 0; kind < N_KINDS; kind++)
            for (size_t k = 0; k < MOST_SIZES * N_CACHES; k++)
                if (!isnan(cases[i].now.of[kind][k]))
                    fprintf(file, "%s %d %s %zu %.6g\n", cases[i].name, cases[i].part,
                            kind_names[kind], k, cases[i].now.of[kind][k]);
    fclose(file);
}

/* ---- changes --------------------------------------------------------------------------------- */

/* Mean and worst logarithm of what the change in hand does to errors of a KIND; false if none is
   compared. */
static bool change_of_case(const struct one_case *c, int kind, double *mean, double *worst) {
    double sum = 0, before = 0, after = 0;
    size_t n = 0;
    for (size_t i = 0; i < MOST_SIZES * N_CACHES; i++) {
        if (isnan(c->now.of[kind][i]) || isnan(c->tried.of[kind][i]))
            continue;
        sum += log(c->tried.of[kind][i] / c->now.of[kind][i]);
        before = fmax(before, c->now.of[kind][i]);
        after = fmax(after, c->tried.of[kind][i]);
        n++;
    }
    *mean = n ? sum / (double)n : 0;
    *worst = n ? log(after / before) : 0;
    return n > 0;
}

static size_t class_of(const struct one_case *c) {
    size_t i = 0;
    while (strcmp(classes[i], c->class) != 0)
        i++;
    return i;
}

static void sum_up(struct change *change) {
    for (int kind = 0; kind < N_KINDS; kind++) {
        size_t in_part[N_TRIED] = {0}, in_class[MOST_CLASSES] = {0};
        for (size_t i = 0; i < n_cases; i++) {
            double mean, worst;
            if (cases[i].part >= N_TRIED || !change_of_case(&cases[i], kind, &mean, &worst))
                continue;
            change->mean[cases[i].part][kind] += mean;
            change->worst[cases[i].part][kind] += worst;
            change->of_class[class_of(&cases[i])][kind] += mean;
            in_part[cases[i].part]++;
            in_class[class_of(&cases[i])]++;
            if (mean > change->harm) {
                change->harm = mean;
                snprintf(change->harmed, sizeof change->harmed, "%s", cases[i].name);
            }
        }
        for (int part = 0; part < N_TRIED; part++) {
            change->mean[part][kind] /= fmax((double)in_part[part], 1);
            change->worst[part][kind] /= fmax((double)in_part[part], 1);
        }
        for (size_t i = 0; i < n_classes; i++)
            change->of_class[i][kind] /= fmax((double)in_class[i], 1);
    }
}

static bool is_chosen(const char *list, const char *name) {
    size_t length = strlen(name);
    if (!*list)
        return true;
    for (const char *at = list; (at = strstr(at, name)); at += length)
        if ((at == list || at[-1] == ',') && (at[length] == ',' || !at[length]))
            return true;
    return false;
}

static void try_change(struct change *change) {
    struct pm_error err = {0};
    char scale[128] = "";
    if (change->constant)
        snprintf(scale, sizeof scale, "%s:%g", change->constant, change->factor);
    if (!pm_heuristics_set(change->without, scale, &err))
        stop("change", err.text);
    evaluate_all(false, false);
    sum_up(change);
    fprintf(stderr, "%s%s ", change->without ? change->without : scale,
            change->without ? " left out" : "");
    fprintf(stderr, "%.3f %.3f %.3f | %.3f %.3f %.3f\n", exp(change->mean[0][0]),
            exp(change->mean[0][1]), exp(change->mean[0][2]), exp(change->mean[1][0]),
            exp(change->mean[1][1]), exp(change->mean[1][2]));
}

/* ---- the page -------------------------------------------------------------------------------- */

static bool matters(const struct change *change) {
    for (int part = 0; part < N_TRIED; part++)
        for (int kind = 0; kind < N_KINDS; kind++)
            if (fabs(change->mean[part][kind]) >= NOISE || fabs(change->worst[part][kind]) >= NOISE)
                return true;
    return false;
}

static void print_part(const struct change *change, int part) {
    for (int kind = 0; kind < N_KINDS; kind++)
        printf(" %.2f / %.2f |", exp(change->mean[part][kind]), exp(change->worst[part][kind]));
}

static int compare_doubles(const void *a, const void *b) {
    return *(const double *)a < *(const double *)b ? -1 : *(const double *)a > *(const double *)b;
}

static void print_median_worst(const double *errors) {
    double sorted[MOST_SIZES * N_CACHES] = {0};
    size_t n = 0;
    for (size_t i = 0; i < MOST_SIZES * N_CACHES; i++)
        if (!isnan(errors[i]))
            sorted[n++] = errors[i];
    qsort(sorted, n, sizeof *sorted, compare_doubles);
    if (n == 0)
        printf(" - |");
    else
        printf(" %.1f%%, %.1f%% |", 100 * sorted[n / 2], 100 * sorted[n - 1]);
}

static void print_cases(void) {
    printf(
        "## Errors as things are\n\nMedian and worst over sizes and caches, at least %.1f%% and "
        "at most %.0f%%; instructions: those executed too often or\ntoo rarely.\n\n| case | part "
        "| fitted | lines | pages | instructions |\n|---|---|---:|---:|---:|---:|\n",
        100 * FLOOR, 100 * CEILING);
    for (size_t i = 0; i < n_cases; i++) {
        printf("| %s | %s | %zu sizes |", cases[i].name, part_names[cases[i].part],
               cases[i].n_fitted);
        for (int kind = 0; kind < N_KINDS; kind++)
            print_median_worst(cases[i].now.of[kind]);
        printf("\n");
    }
    printf("\n");
}

static void print_steps(const struct change *changes, size_t n) {
    printf(
        "## Without a step\n\nMean / worst. Above 1: errors are larger without it.\n\n| without |");
    for (int part = 0; part < N_TRIED; part++)
        for (int kind = 0; kind < N_KINDS; kind++)
            printf(" %s: %s |", part_names[part], kind_names[kind]);
    printf(" most harmed |\n|---|%s---|\n", "---:|---:|---:|---:|---:|---:|");
    for (size_t i = 0; i < n; i++) {
        printf("| `%s` |", changes[i].without);
        print_part(&changes[i], DEVELOP);
        print_part(&changes[i], JUDGE);
        if (changes[i].harm > NOISE)
            printf(" %s %.2f |\n", changes[i].harmed, exp(changes[i].harm));
        else
            printf(" |\n");
    }
    printf("\nMeans by class, lines / pages / instructions:\n\n| without |");
    for (size_t k = 0; k < n_classes; k++)
        printf(" %s |", classes[k]);
    printf("\n|---|");
    for (size_t k = 0; k < n_classes; k++)
        printf("---:|");
    printf("\n");
    for (size_t i = 0; i < n; i++) {
        printf("| `%s` |", changes[i].without);
        for (size_t k = 0; k < n_classes; k++)
            printf(" %.2f / %.2f / %.2f |", exp(changes[i].of_class[k][LINES]),
                   exp(changes[i].of_class[k][PAGES]), exp(changes[i].of_class[k][COUNTS]));
        printf("\n");
    }
    printf("\n");
}

static void print_constants(const struct change *changes, size_t n) {
    printf("## Constants at half and at double\n\nMean / worst. Constants that change nothing by "
           "%.0f%% either way "
           "are listed below.\n\n| constant |",
           100 * NOISE);
    for (int part = 0; part < N_TRIED; part++)
        for (int kind = 0; kind < N_KINDS; kind++)
            printf(" %s: %s |", part_names[part], kind_names[kind]);
    printf("\n|---|---:|---:|---:|---:|---:|---:|\n");
    for (size_t i = 0; i < n; i++)
        if (matters(&changes[i & ~(size_t)1]) || matters(&changes[i | 1])) {
            printf("| `%s` × %g |", changes[i].constant, changes[i].factor);
            print_part(&changes[i], DEVELOP);
            print_part(&changes[i], JUDGE);
            printf("\n");
        }
    printf("\nNo difference of %.0f%%:", 100 * NOISE);
    for (size_t i = 0; i < n; i += 2)
        if (!matters(&changes[i]) && !matters(&changes[i + 1]))
            printf(" `%s`", changes[i].constant);
    printf(".\n\n");
}

/* What steps and constants of intervals do: how many of the measured misses are inside, and how
   wide these are. */
static void print_intervals(void) {
    static const struct {
        const char *without, *scale;
    } tried[] = {
        {"", ""},           {"held_out", ""},      {"residual", ""},    {"", "residual:0.5"},
        {"", "residual:2"}, {"", "placement:0.5"}, {"", "placement:2"},
    };
    printf("## Intervals\n\nMeasured misses inside their interval of 80%%, over all caches, and "
           "the geometric "
           "mean of upper over lower end.\n\n| change | develop | width | judge | width | "
           "apart | width | unknown |\n|---|---:|---:|---:|---:|---:|---:|---:|\n");
    for (size_t s = 0; s < sizeof tried / sizeof *tried; s++) {
        struct pm_error err = {0};
        double inside[N_PARTS] = {0}, known[N_PARTS] = {0}, width[N_PARTS] = {0};
        size_t unknown = 0;
        if (!pm_heuristics_set(tried[s].without, tried[s].scale, &err))
            stop(tried[s].scale, err.text);
        evaluate_all(true, s == 0);
        for (size_t i = 0; i < n_cases; i++) {
            const struct errors *errors = s == 0 ? &cases[i].now : &cases[i].tried;
            if (s > 0 && cases[i].part >= N_TRIED)
                continue;
            inside[cases[i].part] += (double)errors->inside;
            known[cases[i].part] += (double)errors->known;
            width[cases[i].part] += errors->log_width;
            unknown += errors->unknown;
        }
        printf("| %s%s%s |", *tried[s].without ? "without " : "", tried[s].without,
               *tried[s].without || *tried[s].scale ? tried[s].scale : "as they are");
        for (int part = 0; part < N_PARTS; part++)
            if (known[part] > 0)
                printf(" %.0f%% | %.2f |", 100 * inside[part] / known[part],
                       exp(width[part] / known[part]));
            else
                printf(" | |");
        printf(" %zu |\n", unknown);
        fflush(stdout);
    }
}

int main(int argc, char **argv) {
    if (argc != 5)
        stop("usage", "ablation CASES STEPS CONSTANTS ERRORS");
    size_t n_steps, n_constants, n_s = 0, n_c = 0;
    const struct pm_heuristic_name *steps = pm_heuristic_steps(&n_steps);
    const struct pm_heuristic_name *constants = pm_heuristic_constants(&n_constants);
    struct change *of_steps = pm_alloc(n_steps + 1, sizeof *of_steps);
    struct change *of_constants = pm_alloc(2 * n_constants + 1, sizeof *of_constants);
    read_cases(argv[1]);
    if (n_cases == 0)
        stop(argv[1], "there are no cases");
    evaluate_all(false, true);
    write_errors(argv[4]);
    for (size_t i = 0; i < n_steps; i++)
        if (is_chosen(argv[2], steps[i].name)) {
            of_steps[n_s].without = steps[i].name;
            try_change(&of_steps[n_s++]);
        }
    for (size_t i = 0; i < n_constants; i++)
        for (int half = 1;
             half >= 0 && constants[i].models && is_chosen(argv[3], constants[i].name); half--) {
            of_constants[n_c].constant = constants[i].name;
            of_constants[n_c].factor = half ? 0.5 : 2;
            try_change(&of_constants[n_c++]);
        }
    printf(
        "# What each step and each constant of fit/ is worth\n\nMade by `make ablation` from %zu "
        "cases (`bench/ablation/ablation.conf`); what the steps and constants are is in\n"
        "`fit/heuristics.h`. A figure is the geometric mean of errors with the change over "
        "errors without it, over cases of\nequal weight. Steps and constants are chosen by "
        "`develop`, and have to hold in `judge`; by `apart` nothing is\nchosen.\n\n",
        n_cases);
    print_cases();
    if (n_s)
        print_steps(of_steps, n_s);
    if (n_c)
        print_constants(of_constants, n_c);
    if (!*argv[2] || !*argv[3] || strstr(argv[3], "intervals"))
        print_intervals();
    return 0;
}
