/* Which loads of compiled loops with calls take their data from which stores: what is expected
   follows from the source. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binlift/binlift.h"
#include "sched/interprocedural/interprocedural.h"

static const char source[] =
    "#define F __attribute__((noipa))\n"
    "#define H static __attribute__((noinline))\n"
    "struct pair { double a, b; };\n"
    "H void scale(struct pair *p, double x) { p->a = p->a * x; }\n"
    "H void follow(struct pair *p, double x) { p->b = p->a + x; }\n"
    "F void chain(struct pair *p, double x, long n) {\n"
    "    for (long i = 0; i < n; i++) { scale(p, x); follow(p, x); }\n}\n"
    "F void apart(struct pair *p, double x, long n) {\n"
    "    for (long i = 0; i < n; i++) { scale(&p[i], x); follow(&p[i], x); }\n}\n"
    "F void behind(struct pair *p, double x, long n) {\n"
    "    for (long i = 1; i < n; i++) { follow(&p[i - 1], x); scale(&p[i], x); }\n}\n"
    "struct quad { double a[4]; };\n"
    "typedef double two __attribute__((vector_size(16), aligned(8)));\n"
    "H void set(struct quad *q, double x) { q->a[1] = x; q->a[2] = x + 1; }\n"
    "H void add(struct quad *q, two *sum) { *sum += *(two *)&q->a[1]; }\n"
    "F void parts(struct quad *q, two *sum, double x, long n) {\n"
    "    for (long i = 0; i < n; i++) { set(q, x); add(q, sum); }\n}\n"
    "struct holder { struct pair *p; };\n"
    "F void through(struct holder *h, double x) { h->p->a = h->p->a * x; }\n"
    "F void held(struct holder *h, struct pair *p, double x, long n) {\n"
    "    for (long i = 0; i < n; i++) { h->p = p; through(h, x); p++; }\n}\n"
    "int main(void) { return 0; }\n";

enum { ITERATIONS = 4 };

static struct pm_lifted *build(const char *level) {
    char path[512], command[2048];
    const char *folder = getenv("TMP") ? getenv("TMP") : "/tmp";
    snprintf(path, sizeof path, "%s/calls.c", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(source, file);
    fclose(file);
    snprintf(command, sizeof command,
             "gcc %s -fno-tree-vectorize -fno-tree-slp-vectorize -o %s/calls %s", level, folder,
             path);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s/calls", folder);
    struct pm_error err = {0};
    struct pm_lifted *lifted = pm_lift(path, NULL, &err);
    if (!lifted)
        fail_msg("%s", err.text);
    return lifted;
}

static uint32_t loop_of(const struct pm_structure *s, const char *name) {
    for (uint32_t i = 0; i < s->n_scopes; i++)
        if (s->scopes[i].kind == PM_SCOPE_LOOP &&
            strcmp(s->routines[s->scopes[i].routine].name, name) == 0)
            return i;
    fail_msg("%s has no loop", name);
    return PM_NONE;
}

/* Loads on a trace of ITERATIONS of the loop in routine NAME that are not of the stack, with the
   lifter's weights as counts. */
static struct pm_forwardings follow(const struct pm_structure *s, const char *name) {
    struct pm_frequencies frequencies;
    struct pm_forwardings found = {0};
    double *counts = pm_alloc(s->n_edges, sizeof *counts);
    struct pm_scope_prediction *scopes = pm_alloc(s->n_scopes, sizeof *scopes);
    for (uint32_t e = 0; e < s->n_edges; e++)
        counts[e] = s->edges[e].weight;
    pm_frequencies_make(s, counts, &frequencies);
    for (uint32_t i = 0; i < s->n_scopes; i++) {
        scopes[i].entries = scopes[i].iterations = pm_scope_entries(s, counts, i);
        if (s->scopes[i].kind == PM_SCOPE_LOOP)
            scopes[i].iterations = frequencies.blocks[s->scopes[i].header];
    }
    struct pm_tracer *tracer = pm_tracer_new(&frequencies, scopes);
    struct pm_step_trace trace = {.passes = pm_alloc(s->n_scopes, sizeof *trace.passes)};
    uint32_t loop = loop_of(s, name);
    assert_true(pm_tracer_is_interprocedural(tracer, loop));
    pm_tracer_begin(tracer, loop, &trace);
    for (unsigned i = 0; i < ITERATIONS; i++)
        pm_tracer_add(tracer, loop, &trace);
    pm_trace_forwardings(s, &trace, NULL, &found);
    pm_step_trace_free(&trace);
    pm_tracer_free(tracer);
    pm_frequencies_free(&frequencies);
    free(counts);
    free(scopes);
    return found;
}

/* BLOCKED of the loads, and DIFFERENCE more of routine NAME than of OTHER that are forwarded. */
static void expect(const struct pm_structure *s, const char *name, size_t forwarded,
                   size_t blocked) {
    struct pm_forwardings found = follow(s, name);
    size_t n_returns = 2 * ITERATIONS; /* each call stores where its return loads */
    if (strcmp(name, "held") == 0)
        n_returns = ITERATIONS;
    if (found.n_forwarded - n_returns != forwarded || found.n_blocked != blocked)
        fail_msg("%s: %zu loads forwarded, %zu blocked", name, found.n_forwarded - n_returns,
                 found.n_blocked);
    free(found.items);
}

static void loads_find_the_stores_of_callees(void **state) {
    (void)state;
    static const char *const levels[] = {"-O1", "-O2", "-O3 -march=x86-64-v3"};
    for (size_t l = 0; l < sizeof levels / sizeof *levels; l++) {
        struct pm_lifted *lifted = build(levels[l]);
        const struct pm_structure *s = pm_lifted_structure(lifted);
        expect(s, "chain", 2 * ITERATIONS - 1, 0); /* the first one is from before */
        expect(s, "apart", ITERATIONS, 0);
        expect(s, "behind", ITERATIONS - 1, 0);
        expect(s, "parts", 2 * ITERATIONS - 1, ITERATIONS); /* the sum, and the pairs */
        expect(s, "held", ITERATIONS, 0); /* the pointer; each pair is another one */
        pm_lifted_free(lifted);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_find_the_stores_of_callees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
