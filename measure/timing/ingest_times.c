/* From the raw files of one timed run (one a process) to measured times. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "measure/mpi_times/mpi_times.h"
#include "measure/raw/raw.h"
#include "measure/timing/private.h"

struct sums {
    const struct pm_structure *structure;
    const uint8_t *chosen;
    const struct pm_timed_module *modules;
    size_t n_modules;
    struct pm_scope_time *of_scope; /* [structure->n_scopes] */
    double seconds, own_seconds, outside_seconds;
    bool elapsed; /* a process measured time in which others may have run */
    bool asked;   /* a process asked the system at each event */
    struct pm_times *times;
    struct pm_call_times_sums *calls; /* NULL: not wanted */
};

/* ---- one file -------------------------------------------------------------------------------- */

static const struct pm_timed_module *find_module(const struct sums *sums,
                                                 const struct pm_raw_module *module) {
    for (size_t i = 0; i < sums->n_modules; i++)
        if (sums->modules[i].placement_hash == module->structure_hash)
            return &sums->modules[i];
    return NULL;
}

static bool add_time(struct sums *sums, const struct pm_raw *raw, const struct pm_raw_time *time) {
    sums->own_seconds += 1e-9 * time->own_ns;
    if (time->module == PM_RAW_OUTSIDE) {
        sums->outside_seconds += 1e-9 * time->ns;
        return true;
    }
    const struct pm_timed_module *module = find_module(sums, &raw->modules[time->module]);
    if (!module || time->scope == 0 || time->scope >= module->place->n_scopes)
        return false;
    uint32_t scope = module->place->first_scope + time->scope;
    if (!sums->chosen[scope])
        return false;
    struct pm_scope_time *sum = &sums->of_scope[scope];
    sum->seconds += 1e-9 * time->ns;
    sum->entries += (double)time->entries;
    sum->threads++;
    sums->seconds += 1e-9 * time->ns;
    return true;
}

/* Processes of other programs have none of our modules, and no paths. */
static bool add_calls(struct sums *sums, const struct pm_raw *raw, const char *path,
                      struct pm_error *err) {
    const struct pm_module_place **places = pm_alloc(raw->n_modules + 1, sizeof(void *));
    bool ok = true;
    for (size_t i = 0; i < raw->n_modules && ok; i++) {
        const struct pm_timed_module *module = find_module(sums, &raw->modules[i]);
        places[i] = module ? module->place : NULL;
        ok = module != NULL;
    }
    ok = !ok || pm_call_times_sums_add(sums->calls, raw, places, path, err);
    free(places);
    return ok;
}

static bool add_file(void *to, const char *path, struct pm_error *err) {
    struct sums *sums = to;
    struct pm_raw *raw = pm_raw_read(path, err);
    if (!raw)
        return false;
    bool ok = true;
    for (size_t i = 0; i < raw->n_times && ok; i++) {
        sums->elapsed |= raw->times[i].clock == PM_RAW_CLOCK_TSC_ELAPSED;
        sums->asked |= raw->times[i].clock == PM_RAW_CLOCK_SYSTEM;
        for (size_t k = 0; k < raw->times[i].n_times && ok; k++)
            ok = add_time(sums, raw, &raw->times[i].times[k]) ||
                 pm_fail(err, "%s: measured by another program than the one that was given timers",
                         path);
    }
    for (size_t i = 0; i < raw->n_notes && ok; i++)
        pm_add_note(&sums->times->notes, raw->notes[i]);
    ok = ok && (!sums->calls || add_calls(sums, raw, path, err));
    pm_raw_free(raw);
    return ok;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void make_notes(struct sums *sums, double cpu_seconds) {
    if (sums->elapsed)
        pm_add_note(&sums->times->notes,
                    "Measured times hold what other programs ran in between: neither the C library "
                    "nor the kernel tells when a thread is interrupted (rseq).");
    if (sums->asked)
        pm_add_note(&sums->times->notes,
                    "This processor has no steady time-stamp counter: the system was "
                    "asked at each event, which costs more and is less exact.");
    if (sums->own_seconds > 0.05 * cpu_seconds) {
        char *note = pm_sprintf("The timers took %.0f%% of the run themselves; what is left after "
                                "subtracting that is inexact.",
                                100 * sums->own_seconds / cpu_seconds);
        pm_add_note(&sums->times->notes, note);
        free(note);
    }
}

struct pm_times *pm_times_ingest(const char *folder, const struct pm_structure *structure,
                                 const uint8_t *chosen, const struct pm_timed_module *modules,
                                 size_t n_modules, double cpu_seconds, struct pm_call_times **calls,
                                 struct pm_error *err) {
    struct sums sums = {
        .structure = structure,
        .chosen = chosen,
        .modules = modules,
        .n_modules = n_modules,
        .of_scope = pm_alloc(structure->n_scopes, sizeof *sums.of_scope),
        .times = pm_alloc(1, sizeof *sums.times),
        .calls = calls ? pm_call_times_sums_new() : NULL,
    };
    bool ok = pm_add_raw_files(folder, "times", false, add_file, &sums, err);
    for (uint32_t scope = 0; scope < structure->n_scopes && ok; scope++)
        if (chosen[scope]) {
            sums.of_scope[scope].scope = scope;
            *PM_PUSH(sums.times, scopes) = sums.of_scope[scope];
        }
    double rest = cpu_seconds - sums.seconds - sums.own_seconds;
    sums.times->outside_seconds = rest > 0 ? rest : 0;
    sums.times->own_seconds = sums.own_seconds;
    sums.times->cpu_seconds = cpu_seconds;
    make_notes(&sums, cpu_seconds);
    free(sums.of_scope);
    if (ok && calls)
        *calls = pm_call_times_sums_end(sums.calls);
    if (ok)
        return sums.times;
    pm_call_times_sums_free(sums.calls);
    pm_times_free(sums.times);
    return NULL;
}
