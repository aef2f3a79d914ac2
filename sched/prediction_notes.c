/* Sentences that qualify a prediction: what the model assumes, and how much of the program it does
   not cover. */
#include "sched/schedule.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fit/sets/sets.h"

static const double significant_share =
    0.01; /* from this share of a figure on it is seen at once */

/* Of an interval: its upper end is so many times what is predicted, so that it says little. */
static const double wide_factor = 10;

/* Among the significant ones in the order in which they are added, or behind all. */
static void add_note(struct pm_prediction *prediction, bool is_significant, char *text) {
    prediction->notes =
        pm_realloc(prediction->notes, prediction->n_notes + 1, sizeof *prediction->notes);
    size_t at = is_significant ? prediction->n_significant_notes : prediction->n_notes;
    memmove(prediction->notes + at + 1, prediction->notes + at,
            (prediction->n_notes - at) * sizeof *prediction->notes);
    prediction->notes[at] = text;
    prediction->n_notes++;
    prediction->n_significant_notes += is_significant;
}

void pm_prediction_note(struct pm_prediction *prediction, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add_note(prediction, false, pm_vsprintf(format, arguments));
    va_end(arguments);
}

void pm_prediction_note_of(struct pm_prediction *prediction, double share, const char *format,
                           ...) {
    va_list arguments;
    va_start(arguments, format);
    add_note(prediction, !(fabs(share) < significant_share), pm_vsprintf(format, arguments));
    va_end(arguments);
}

bool pm_is_worth_a_note(double part, double whole) {
    const double rounding = 1e-9;
    return part > rounding * whole;
}

static double share_of(double part, double whole) { return whole > 0 ? part / whole : 0; }
static double percent(double part, double whole) { return 100 * share_of(part, whole); }

static void append(char *list, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void append(char *list, size_t size, const char *format, ...) {
    size_t used = strlen(list);
    if (used)
        used += (size_t)snprintf(list + used, size - used, ", ");
    if (used >= size)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(list + used, size - used, format, arguments);
    va_end(arguments);
}

/* Is NAME one of the words in LIST? */
static bool is_listed(const char *list, const char *name) {
    size_t length = strlen(name);
    for (const char *at = list; (at = strstr(at, name)); at += length)
        if ((at == list || at[-1] == ' ') && (!at[length] || at[length] == ','))
            return true;
    return false;
}

/* Appends the executed instructions that have no class, " (vfoo, vbar)", as many as there is room
   for. */
static void name_unknown(const struct pm_frequencies *frequencies, char *list, size_t size) {
    const struct pm_structure *structure = frequencies->structure;
    char names[256] = "";
    for (size_t i = 0; i < structure->n_unknowns; i++) {
        const struct pm_unknown *unknown = &structure->unknowns[i];
        if (frequencies->blocks[unknown->block] > 0 && !is_listed(names, unknown->mnemonic) &&
            strlen(names) + strlen(unknown->mnemonic) + 3 < sizeof names)
            append(names, sizeof names, "%s", unknown->mnemonic);
    }
    size_t used = strlen(list);
    if (*names && used + strlen(names) + 4 < size)
        snprintf(list + used, size - used, " (%s)", names);
}

/* Names the classes without a row, most frequent first. */
static void note_unknown(const struct pm_frequencies *frequencies,
                         const struct pm_target_machine *target, struct pm_prediction *prediction) {
    const struct pm_structure *structure = frequencies->structure;
    const struct pm_cost_sum *total = &prediction->scopes[0].total;
    if (!pm_is_worth_a_note(total->unknown_operations, total->operations))
        return;
    double executed[PM_N_OP_CLASSES] = {0};
    for (uint32_t b = 0; b < structure->n_blocks; b++)
        for (uint32_t i = 0; i < structure->blocks[b].n_ops && frequencies->blocks[b] > 0; i++) {
            uint32_t op = structure->blocks[b].first_op + i;
            struct pm_need need;
            pm_op_need(target, op, &need);
            if (!need.known)
                executed[structure->ops[op].op_class] += frequencies->blocks[b];
        }
    char list[512] = "";
    for (;;) {
        int most = 0;
        for (int c = 1; c < PM_N_OP_CLASSES; c++)
            if (executed[c] > executed[most])
                most = c;
        if (executed[most] <= 0)
            break;
        append(list, sizeof list, "%s", pm_op_class_name((enum pm_op_class)most));
        if (most == PM_OP_UNKNOWN)
            name_unknown(frequencies, list, sizeof list);
        executed[most] = 0;
    }
    pm_prediction_note_of(
        prediction, share_of(total->unknown_operations, total->operations),
        "%.3g%% of the executed operations have no cost in machine file %s, and their time is "
        "missing: %s.",
        percent(total->unknown_operations, total->operations), target->machine->name, list);
}

/* Names loops and routines with FLAG, and says WHAT of them. */
static void note_flagged(const struct pm_structure *structure, uint16_t flag, const char *what,
                         struct pm_prediction *prediction) {
    size_t n = 0;
    char names[256] = "";
    for (size_t i = 0; i < structure->n_scopes; i++) {
        const struct pm_scope *scope = &structure->scopes[i];
        if (!(scope->flags & flag) || scope->routine >= structure->n_routines)
            continue;
        const char *routine = structure->routines[scope->routine].display_name;
        if (n++ < 3)
            append(names, sizeof names, "%.64s:%u", routine, scope->line_first);
    }
    if (n)
        pm_prediction_note_of(
            prediction, NAN,
            "%zu loops or routines are not the same in the builds of all sizes, and "
            "%s (%s%s).",
            n, what, names, n > 3 ? ", …" : "");
}

static void note_unmatched(const struct pm_structure *structure, struct pm_prediction *prediction) {
    note_flagged(structure, PM_SCOPE_UNMATCHED, "their time is missing, how much is not known",
                 prediction);
    note_flagged(structure, PM_SCOPE_ROUGH,
                 "are taken as the build of the last size has them, executed as often as their "
                 "work tells",
                 prediction);
}

/* Measured counts break flow conservation where control leaves in a way that no counter sees;
   models of counts because they are not exact. */
static void note_inexact(const struct pm_profile *profile, struct pm_prediction *prediction) {
    if (profile->n_inexact_routines && profile->predicted)
        pm_prediction_note_of(
            prediction, NAN,
            "In %zu routines the models of counts contradict each other at this size, "
            "and were made to agree: their figures are approximate.",
            profile->n_inexact_routines);
    else if (profile->n_inexact_routines)
        pm_prediction_note_of(
            prediction, NAN,
            "The counts of %zu routines break flow conservation (longjmp, threads that were cut "
            "off): their figures are approximate.",
            profile->n_inexact_routines);
}

/* Share of the code in routines without counters, of whose time nothing is known. */
static double not_counted_share(const struct pm_structure *structure) {
    double not_counted = 0, all = 0;
    for (size_t i = 0; i < structure->n_routines; i++) {
        double bytes = (double)structure->routines[i].size_bytes;
        all += bytes;
        not_counted += structure->routines[i].counted ? 0 : bytes;
    }
    return share_of(not_counted, all);
}

static void note_coverage(const struct pm_frequencies *frequencies,
                          const struct pm_profile *profile, struct pm_prediction *prediction) {
    const struct pm_structure *structure = frequencies->structure;
    const struct pm_cost_sum *total = &prediction->scopes[0].total;
    size_t not_counted = 0;
    char names[256] = "";
    for (size_t i = 0; i < structure->n_routines; i++)
        if (!structure->routines[i].counted) {
            if (not_counted++ < 3)
                append(names, sizeof names, "%.64s", structure->routines[i].display_name);
        }
    if (not_counted)
        pm_prediction_note_of(
            prediction, not_counted_share(structure),
            "%zu of %zu routines have no counters, and their time is missing, how much is not "
            "known (%s%s); `pmodel loops` gives the reasons.",
            not_counted, structure->n_routines, names, not_counted > 3 ? ", …" : "");
    note_unmatched(structure, prediction);
    for (unsigned reason = 0; reason < PM_N_SKIPPED; reason++) {
        char *sentence = pm_skipped_sentence(&profile->skipped[reason], reason);
        if (sentence)
            pm_prediction_note_of(prediction, NAN, "In the run %s.", sentence);
        free(sentence);
    }
    note_inexact(profile, prediction);
    double accesses = total->unrecorded_accesses + total->accesses;
    if (prediction->without_memory)
        pm_prediction_note_of(
            prediction, NAN,
            "%s (`pmodel run --no-memory`): misses are not known, and times marked > "
            "are lower bounds, as if all accesses hit the first level.",
            profile->predicted ? "Not all runs recorded memory accesses"
                               : "Memory accesses were not recorded");
    else if (pm_is_worth_a_note(total->unrecorded_accesses, accesses))
        pm_prediction_note_of(
            prediction, share_of(total->unrecorded_accesses, accesses),
            "%.3g%% of the executed memory operations were not recorded: they count as hits.",
            percent(total->unrecorded_accesses, accesses));
}

static void note_misses(const struct pm_machine *machine, struct pm_prediction *prediction) {
    const struct pm_cost_sum *total = &prediction->scopes[0].total;
    char shares[256] = "";
    for (size_t i = 0; i < machine->n_levels; i++)
        append(shares, sizeof shares, "%s %g%%", machine->levels[i].name,
               100 * machine->levels[i].exposed);
    if (prediction->is_simple)
        pm_prediction_note_of(
            prediction, share_of(total->memory_cycles, total->cycles),
            "Of each miss penalty this share counts as not hidden: %s (`exposed` in "
            "the machine file).",
            shares);
    else
        pm_prediction_note_of(
            prediction, share_of(total->upper_cycles - total->lower_cycles, total->cycles),
            "Had every miss been prefetched in time it would be %.3g s, with each "
            "miss alone %.3g s.",
            total->lower_cycles / machine->clock_hz, total->upper_cycles / machine->clock_hz);
    if (prediction->is_synthesised)
        pm_prediction_note_of(
            prediction, share_of(total->memory_cycles, total->cycles),
            "What misses cost is from a signature that was made from the machine's "
            "description: nobody measured its curves.");
    for (size_t i = 0; i < machine->n_levels; i++) {
        char *serves = pm_level_serves_text(&machine->levels[i]);
        if (serves)
            pm_prediction_note_of(prediction, share_of(total->level_cycles[i], total->cycles), "%s",
                                  serves);
        else if (machine->levels[i].shared_by > 1)
            pm_prediction_note(prediction,
                               "%s is shared by %u cores; the program has it to itself here.",
                               machine->levels[i].name, (unsigned)machine->levels[i].shared_by);
        free(serves);
    }
    if (machine->memory_bandwidth_bytes_per_cycle <= 0)
        pm_prediction_note_of(prediction, share_of(total->memory_cycles, total->cycles),
                              "Machine file %s gives no memory bandwidth, so there is no bandwidth "
                              "bound.",
                              machine->name);
    else if (pm_is_worth_a_note(total->causes[PM_CAUSE_BANDWIDTH], total->cycles))
        pm_prediction_note_of(prediction,
                              share_of(total->causes[PM_CAUSE_BANDWIDTH], total->cycles),
                              "Where the bytes that a level moves need longer than all else, their "
                              "cycles are taken: %.3g%% of all cycles come from that.",
                              percent(total->causes[PM_CAUSE_BANDWIDTH], total->cycles));
}

static void note_interpolated(struct pm_prediction *prediction) {
    char levels[256] = "";
    for (size_t l = 0; l < prediction->n_levels; l++)
        if (prediction->level_interpolated_from[l])
            append(levels, sizeof levels, "%s from blocks of %llu bytes instead of %llu",
                   prediction->level_names[l],
                   (unsigned long long)prediction->level_interpolated_from[l],
                   (unsigned long long)prediction->level_block_bytes[l]);
    if (*levels)
        pm_prediction_note_of(prediction, NAN,
                              "Marked ~: misses are interpolated, as if all data were walked over "
                              "from end to end (%s); times, their shares and what binds come from "
                              "them.",
                              levels);
}

/* How many of the figures that were used are unverified, and which matter most. */
static void note_doubts(const struct pm_machine *machine, struct pm_prediction *prediction) {
    char most[256] = "";
    double most_share = 0; /* of the time, by a tenth of a figure */
    if (!prediction->n_unverified)
        return;
    for (size_t i = 0; i < prediction->n_doubts; i++) {
        const struct pm_doubtful_figure *doubt = &prediction->doubts[i];
        double percents = 10 * doubt->elasticity;
        most_share = fmax(most_share, fabs(percents) / 100);
        if (doubt->is_word)
            append(most, sizeof most, "%s = %s (up to %.2g%% of the time)", doubt->name,
                   doubt->value, fabs(percents));
        else
            append(most, sizeof most, "%s = %s (10%% more: %+.2g%% time)", doubt->name,
                   doubt->value, percents);
    }
    bool is_one = prediction->n_unverified == 1;
    pm_prediction_note_of(prediction, most_share,
                          "%zu figure%s of machine file %s that the times come from %s unverified; "
                          "%s%s.",
                          prediction->n_unverified, is_one ? "" : "s", machine->name,
                          is_one ? "is" : "are",
                          *most ? "most hangs on " : "little hangs on any of them", most);
}

static void note_machine(const struct pm_machine *machine, double split_operations,
                         struct pm_prediction *prediction) {
    const struct pm_cost_sum *total = &prediction->scopes[0].total;
    if (pm_is_worth_a_note(split_operations, total->operations))
        pm_prediction_note_of(
            prediction, share_of(split_operations, total->operations),
            "%.3g%% of the operations are split, because the machine has no vectors so wide or no "
            "multiply-add.",
            percent(split_operations, total->operations));
    if (!machine->out_of_order)
        pm_prediction_note(prediction,
                           "The machine is in order: loops count as software pipelined by its "
                           "compiler, and stop where a value is not there in time.");
    note_doubts(machine, prediction);
}

static void note_branches(const struct pm_machine *machine, struct pm_prediction *prediction) {
    const struct pm_cost_sum *total = &prediction->scopes[0].total;
    if (machine->mispredict_cycles <= 0 &&
        pm_is_worth_a_note(total->mispredictions, total->instructions))
        pm_prediction_note_of(
            prediction, share_of(total->mispredictions, total->cycles),
            "Machine file %s does not say what a branch that is predicted wrongly "
            "costs: up to %.3g of them cost nothing here.",
            machine->name, total->mispredictions);
    double cycles = total->causes[PM_CAUSE_MISPREDICTIONS];
    double assumed =
        total->mispredictions > 0 ? total->assumed_mispredictions / total->mispredictions : 1;
    if (assumed > 0)
        pm_prediction_note_of(
            prediction, share_of(assumed * cycles, total->cycles),
            "Branches on loaded data count as wrong as often as they go the rarer way, at most "
            "(how "
            "often was not measured); misses of instruction caches are not counted.");
    if (assumed < 1)
        pm_prediction_note_of(
            prediction, share_of((1 - assumed) * cycles, total->cycles),
            "Branches count as wrong as often as a reference predictor (%s) was in the measured "
            "runs; misses of instruction caches are not counted.",
            pm_branch_predictor_word(machine->branch_predictor));
}

/* Where edge counts leave open which ways through a loop's branches go together. */
static void note_paths(struct pm_prediction *prediction) {
    double assumed = 0, all = prediction->scopes[0].total.cycles;
    for (size_t s = 0; s < prediction->n_scopes; s++)
        if (prediction->scopes[s].is_assumed)
            assumed += prediction->scopes[s].self.schedule_cycles;
    if (assumed > 0.01 * all)
        pm_prediction_note_of(
            prediction, share_of(assumed, all),
            "In code with %.2g%% of the time, counts of edges leave open which ways "
            "through several branches go together: the frequent with the frequent.",
            percent(assumed, all));
}

/* Code that was not simulated with its misses, though the rest was. */
static void note_fallback(struct pm_prediction *prediction) {
    const double worth_telling = 0.01;
    const struct pm_cost_sum *total = &prediction->scopes[0].total;
    if (prediction->is_simple || !(total->fallback_cycles > worth_telling * total->cycles))
        return;
    pm_prediction_note_of(
        prediction, share_of(total->fallback_cycles, total->cycles),
        "%.2g%% of the time is of code that is too small, or of operations too "
        "little known, to simulate its misses: there they cost what the window does "
        "not hide of their latency, by the misses in flight.",
        percent(total->fallback_cycles, total->cycles));
}

/* What the machine file does not have, and what there is none of. */
static void note_nothing(const struct pm_machine *machine, struct pm_prediction *prediction) {
    char *gap = pm_machine_gap(machine);
    if (gap)
        pm_prediction_note_of(prediction, NAN, "%s", gap);
    free(gap);
    if (pm_prediction_is_without_misses(prediction))
        pm_prediction_note_of(prediction, NAN,
                              "No access misses any level: the time is that of the "
                              "schedule.");
}

/* What of the caches' organisation is not modelled. */
static void note_sets(const struct pm_structure *structure, const struct pm_profile *profile,
                      const struct pm_machine *machine, struct pm_prediction *prediction) {
    bool has_sets = false, is_placed = false, is_inclusive = false;
    for (size_t l = 0; l < machine->n_levels; l++) {
        const struct pm_level *level = &machine->levels[l];
        has_sets |= pm_level_sets(level) > 1;
        is_placed |= pm_level_sets(level) > 1 && level->indexed == PM_INDEXED_PHYSICAL;
        is_inclusive |= level->inclusion == PM_INCLUSION_INCLUSIVE;
    }
    if (has_sets && !profile->strides.n_references)
        pm_prediction_note_of(
            prediction, NAN,
            "Caches and TLBs are taken as fully associative, so that conflict misses "
            "are not counted: the runs say nothing of strides.");
    else if (has_sets) {
        double unknown = pm_set_unknown_share(structure, profile);
        if (unknown >= 0.001)
            pm_prediction_note_of(
                prediction, unknown,
                "The strides of %.2g%% of the accesses are not known: they count as "
                "anywhere in the sets.",
                100 * unknown);
    }
    if (is_placed && profile->strides.n_references)
        pm_prediction_note(prediction,
                           "Which sets of a cache with physical addresses a page is in, "
                           "is random: its misses are those of an average run.");
    if (is_inclusive)
        pm_prediction_note(prediction, "What an inclusive cache takes from the caches nearer the "
                                       "core when it replaces it, is not counted.");
}

void pm_note_wide_interval(const struct pm_structure *structure, struct pm_prediction *prediction) {
    const struct pm_cost_sum *total = &prediction->scopes[0].total;
    const struct pm_cost_change *high = &total->spread.high;
    const struct pm_scope_prediction *widest = NULL;
    for (size_t s = 0; s < prediction->n_scopes; s++) {
        const struct pm_scope_prediction *scope = &prediction->scopes[s];
        if (structure->scopes[scope->scope].routine != PM_NONE &&
            (!widest || scope->self.spread.high.cycles > widest->self.spread.high.cycles))
            widest = scope;
    }
    if (!widest || !(high->cycles > (wide_factor - 1) * total->cycles))
        return;
    const struct pm_scope *scope = &structure->scopes[widest->scope];
    const struct pm_cost_change *own = &widest->self.spread.high;
    pm_prediction_note_of(
        prediction, NAN,
        "The upper end of the time is %.2g times the time, %.0f%% of it by %.64s:%u: %s. Runs of "
        "more "
        "sizes, near the one that is asked for, narrow it; `pmodel fit --flagged` lists models "
        "that "
        "are off.",
        1 + high->cycles / total->cycles, percent(own->cycles, high->cycles),
        structure->routines[scope->routine].display_name, scope->line_first,
        own->schedule_cycles > own->cycles / 2
            ? "how often that is executed follows no function of the size"
            : "how often that misses is another by models without the largest measured sizes");
}

void pm_add_notes(const struct pm_frequencies *frequencies, const struct pm_profile *profile,
                  double *const *misses, const struct pm_target_machine *target,
                  double split_operations, struct pm_prediction *prediction) {
    const struct pm_machine *machine = target->machine;
    note_coverage(frequencies, profile, prediction);
    note_unknown(frequencies, target, prediction);
    if (!prediction->without_memory)
        note_sets(frequencies->structure, profile, machine, prediction);
    note_branches(machine, prediction);
    note_paths(prediction);
    note_fallback(prediction);
    note_nothing(machine, prediction);
    pm_add_memory_notes(frequencies->structure, profile, misses, machine, prediction);
    if (!prediction->without_memory)
        note_misses(machine, prediction);
    note_interpolated(prediction);
    note_machine(machine, split_operations, prediction);
}
