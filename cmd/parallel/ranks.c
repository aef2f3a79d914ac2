/* `pmodel report --as ranks`: what groups of ranks take, and where they wait.

   Of a measured size each group's time is predicted from what its mean rank did.  Of another one it
   is that of each role by its models; how many ranks have a role follows from the runs in which
   some have, and a role is there if it is in the run that is nearest to the size. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/parallel/parallel.h"
#include "cmd/progress.h"
#include "fit/fit.h"
#include "report/parallel/parallel.h"

/* ---- time of one rank ------------------------------------------------------------------------ */

/* Adds ROW, which it takes, to the reports of all machines; ANSWER: NULL, its time is not known. */
static void add_row(const struct pm_parallel_request *request, const struct pm_answer *answer,
                    struct pm_rank_row *row, struct pm_ranks_report *reports) {
    const struct pm_structure *structure = request->subject->program.structure;
    for (size_t m = 0; m < request->on->n_machines; m++) {
        struct pm_rank_row *to = PM_PUSH(&reports[m], rows);
        *to = *row;
        to->calls = (struct pm_rank_calls){NAN, NAN, NAN};
        to->role = row->role ? pm_strdup(row->role) : NULL;
        to->ranks = row->ranks ? pm_strdup(row->ranks) : NULL;
        if (!answer)
            continue;
        struct pm_estimate seconds = pm_prediction_seconds(answer->predictions[m]);
        to->seconds = seconds.estimate;
        to->low = seconds.low;
        to->high = seconds.high;
        reports[m].without_memory |= pm_profile_is_without_memory(answer->profile);
        for (size_t i = 0; i < answer->spin.n_loops; i++)
            *PM_PUSH(&reports[m], loops) =
                (struct pm_rank_spin_loop){.place = {structure, answer->spin.loops[i].scope},
                                           .group = to->group,
                                           .role = to->role,
                                           .rounds = answer->spin.loops[i].rounds};
    }
    free(row->role);
    free(row->ranks);
}

/* What is selected, at AT; warns of it as far as its profile tells. */
static struct pm_answer *ask_selected(const struct pm_parallel_request *request,
                                      const struct pm_parameters *at, enum pm_answer_source source,
                                      struct pm_error *err) {
    struct pm_question question = *request->question;
    question.at = at;
    question.source = source;
    struct pm_answer *answer = pm_ask_and_say(request->subject, &question, err);
    if (answer)
        pm_warn(&(struct pm_origin){request->subject->program.structure,
                                    pm_program_known_models(&request->subject->program),
                                    answer->profile},
                request->warnings);
    return answer;
}

/* ---- of a measured size ---------------------------------------------------------------------- */

static bool add_group(const struct pm_parallel_request *request, const struct pm_parameters *run,
                      const struct pm_ranks *ranks, uint32_t group, struct pm_ranks_report *reports,
                      struct pm_error *err) {
    struct pm_selection selection = request->selection;
    selection.group = group;
    struct pm_answer *answer = pm_subject_select(request->subject, &selection, err)
                                   ? ask_selected(request, run, PM_FROM_RUN, err)
                                   : NULL;
    if (!answer)
        return false;
    struct pm_rank_row row = {.group = group,
                              .ranks = pm_ranks_text(ranks, PM_NONE, group),
                              .n_ranks = pm_ranks_count(ranks, PM_NONE, group)};
    for (size_t i = 0; i < ranks->n_ranks && !row.role; i++)
        if (ranks->ranks[i].group == group && ranks->ranks[i].role != PM_NONE)
            row.role = pm_strdup(ranks->roles[ranks->ranks[i].role].name);
    add_row(request, answer, &row, reports);
    pm_answer_free(answer);
    return true;
}

static bool may_wait(uint16_t operation) {
    const char *name = pm_operation_name(operation);
    if (!name || pm_operation_is_nonblocking(operation))
        return false;
    switch (pm_operation_way(operation)) {
    case PM_WAY_RECEIVES:
    case PM_WAY_EXCHANGES:
    case PM_WAY_PROBES:
    case PM_WAY_COLLECTIVE:
    case PM_WAY_NEIGHBOURS:
    case PM_WAY_SYNCHRONISES:
        return true;
    case PM_WAY_COMPLETES:
        return strncmp(name, "MPI_Wait", 8) == 0;
    default:
        return operation == PM_MPI_Ssend;
    }
}

/* The row of the first group that has the role of PROCESS; NULL: its role is not known. */
static const struct pm_rank_row *row_of(const struct pm_ranks *ranks, uint32_t process,
                                        const struct pm_ranks_report *report) {
    uint32_t role = PM_NONE;
    for (size_t i = 0; i < ranks->n_ranks; i++)
        if (ranks->ranks[i].process == process)
            role = ranks->ranks[i].role;
    for (size_t i = 0; role != PM_NONE && i < ranks->n_ranks; i++)
        if (ranks->ranks[i].role == role && ranks->ranks[i].group < report->n_rows)
            return &report->rows[ranks->ranks[i].group];
    return NULL;
}

static void add_call(struct pm_ranks_report *report, const char *role, uint32_t path,
                     double calls) {
    for (size_t i = 0; i < report->n_calls; i++)
        if (strcmp(report->calls[i].role, role) == 0 && report->calls[i].number == path) {
            report->calls[i].calls += calls;
            return;
        }
    *PM_PUSH(report, calls) = (struct pm_rank_waiting_call){
        .role = role, .number = path, .calls = calls, .times = {NAN, NAN, NAN}};
}

static void name_calls(const struct pm_structure *structure, const struct pm_call_paths *paths,
                       struct pm_ranks_report *report) {
    bool *is_named = pm_alloc(paths->n_sites + 1, sizeof *is_named);
    for (size_t i = 0; i < report->n_calls; i++)
        is_named[report->calls[i].number] = true;
    char **names = pm_call_path_names(structure, paths, is_named);
    for (size_t i = 0; i < report->n_calls; i++)
        report->calls[i].call = pm_strdup(names[report->calls[i].number]);
    pm_call_path_names_free(names, paths);
    free(is_named);
}

static int by_calls(const void *left, const void *right) {
    const struct pm_rank_waiting_call *a = left, *b = right;
    int order = PM_COMPARE(b->calls, a->calls);
    order = order ? order : strcmp(a->role, b->role);
    return order ? order : PM_COMPARE(a->number, b->number);
}

static double count_ranks(const struct pm_ranks *ranks, const char *role) {
    for (uint32_t i = 0; i < ranks->n_roles; i++)
        if (strcmp(ranks->roles[i].name, role) == 0)
            return pm_ranks_count(ranks, i, PM_NONE);
    return NAN;
}

/* ---- times of calls -------------------------------------------------------------------------- */

static const struct pm_rank *rank_of(const struct pm_ranks *ranks, uint32_t rank) {
    for (size_t i = 0; i < ranks->n_ranks; i++)
        if (ranks->ranks[i].rank == rank)
            return &ranks->ranks[i];
    return NULL;
}

static struct pm_rank_calls times_of(const struct pm_call_seconds *sum, double n_ranks) {
    return (struct pm_rank_calls){.span_seconds = NAN,
                                  .seconds = sum->seconds / n_ranks,
                                  .waiting_seconds = pm_call_seconds_waiting(sum) / n_ranks};
}

/* What the mean rank of each group was in MPI, and how long it ran. */
static void add_group_times(const struct pm_ranks *ranks, const struct pm_call_times *times,
                            struct pm_ranks_report *report) {
    for (size_t r = 0; r < report->n_rows; r++) {
        struct pm_rank_row *row = &report->rows[r];
        struct pm_call_seconds sum = {0};
        double span = 0, n_spans = 0;
        for (size_t i = 0; i < times->n_calls; i++) {
            const struct pm_rank *rank = rank_of(ranks, times->calls[i].rank);
            if (rank && rank->group == row->group)
                pm_call_seconds_add(&sum, &times->calls[i]);
        }
        for (size_t i = 0; i < times->n_spans; i++) {
            const struct pm_rank *rank = rank_of(ranks, times->spans[i].rank);
            bool is_ours = rank && rank->group == row->group;
            span += is_ours ? times->spans[i].seconds : 0;
            n_spans += is_ours;
        }
        row->calls = times_of(&sum, row->n_ranks);
        row->calls.span_seconds = n_spans == row->n_ranks ? span / n_spans : NAN;
    }
}

/* Of the calls that are listed, and of those in which a rank waited. */
static void add_call_times(const struct pm_ranks *ranks, const struct pm_call_times *times,
                           struct pm_ranks_report *report) {
    struct pm_call_seconds *sums = NULL;
    for (size_t i = 0; i < times->n_calls; i++) {
        const struct pm_rank *rank = rank_of(ranks, times->calls[i].rank);
        const struct pm_rank_row *row = rank ? row_of(ranks, rank->process, report) : NULL;
        if (row && row->role && times->calls[i].waiting_seconds > 0)
            add_call(report, row->role, times->calls[i].path, 0);
    }
    sums = pm_alloc(report->n_calls + 1, sizeof *sums);
    for (size_t i = 0; i < times->n_calls; i++) {
        const struct pm_rank *rank = rank_of(ranks, times->calls[i].rank);
        const struct pm_rank_row *row = rank ? row_of(ranks, rank->process, report) : NULL;
        for (size_t c = 0; row && row->role && c < report->n_calls; c++)
            if (report->calls[c].number == times->calls[i].path &&
                strcmp(report->calls[c].role, row->role) == 0)
                pm_call_seconds_add(&sums[c], &times->calls[i]);
    }
    for (size_t c = 0; c < report->n_calls; c++) {
        struct pm_rank_waiting_call *call = &report->calls[c];
        double n_ranks = count_ranks(ranks, call->role);
        call->times =
            sums[c].n > 0 ? times_of(&sums[c], n_ranks) : (struct pm_rank_calls){NAN, NAN, NAN};
        /* One that is here for its waiting only. */
        call->calls = call->calls > 0 ? call->calls : sums[c].n;
    }
    free(sums);
}

/* Longest waiting first, then what is not known. */
static int by_waiting(const void *left, const void *right) {
    const struct pm_rank_waiting_call *a = left, *b = right;
    double waits_a = isnan(a->times.waiting_seconds) ? -1 : a->times.waiting_seconds;
    double waits_b = isnan(b->times.waiting_seconds) ? -1 : b->times.waiting_seconds;
    int order = PM_COMPARE(waits_b, waits_a);
    return order ? order : by_calls(left, right);
}

static void add_calls(const struct pm_structure *structure, const struct pm_ranks *ranks,
                      const struct pm_communication *communication,
                      const struct pm_call_times *times, struct pm_ranks_report *report) {
    for (size_t i = 0; i < communication->n_counts; i++) {
        const struct pm_event_count *count = &communication->counts[i];
        const struct pm_rank_row *row = row_of(ranks, count->process, report);
        if (!row || !row->role || !may_wait(count->kind.operation) ||
            !pm_is_message(&count->kind) || count->kind.path >= communication->paths.n_sites)
            continue;
        add_call(report, row->role, count->kind.path, (double)count->n);
    }
    report->times_known = times != NULL;
    if (times) {
        add_group_times(ranks, times, report);
        add_call_times(ranks, times, report);
    }
    name_calls(structure, &communication->paths, report);
    for (size_t i = 0; i < report->n_calls; i++)
        report->calls[i].calls /= count_ranks(ranks, report->calls[i].role);
    PM_SORT(report->calls, report->n_calls, times ? by_waiting : by_calls);
    report->calls_known = true;
}

static bool find_measured(const struct pm_parallel_request *request,
                          const struct pm_parameters *run, struct pm_ranks_report *reports,
                          struct pm_error *err) {
    struct pm_ranks ranks = {0};
    bool ok = pm_store_ranks(request->subject->store, run, &ranks, err);
    if (ok && ranks.n_ranks == 0)
        ok = pm_fail(err, "the store knows of no ranks at this size: it was run without MPI, or "
                          "the ranks could not be told apart (`pmodel run` said why)");
    for (uint32_t group = 0; ok && group < pm_ranks_n_groups(&ranks); group++)
        ok = add_group(request, run, &ranks, group, reports, err);
    ok = pm_subject_select(request->subject, &request->selection, ok ? err : NULL) && ok;
    struct pm_communication *communication =
        ok ? pm_store_communication(request->subject->store, run, err) : NULL;
    ok = ok && (communication || err->kind == PM_ERROR_NONE);
    struct pm_call_times *times =
        communication ? pm_store_call_times(request->subject->store, run, err) : NULL;
    ok = ok && (times || err->kind == PM_ERROR_NONE);
    for (size_t m = 0; ok && m < request->on->n_machines; m++) {
        reports[m].tolerance = ranks.tolerance;
        reports[m].at = *run;
        if (communication)
            add_calls(request->subject->program.structure, &ranks, communication, times,
                      &reports[m]);
    }
    pm_call_times_free(times);
    pm_communication_free(communication);
    pm_ranks_free(&ranks);
    return ok;
}

/* ---- of another one -------------------------------------------------------------------------- */

/* How many ranks of ROLE there are at AT, by the runs. */
static bool count_role(const struct pm_parallel_request *request, uint32_t role,
                       const struct pm_parameters *at, double *n, struct pm_error *err) {
    const struct pm_program *program = &request->subject->program;
    struct pm_parameters *runs = pm_alloc(program->n_runs, sizeof *runs);
    double *counts = pm_alloc(program->n_runs, sizeof *counts), nearest = 0;
    const struct pm_parameters *near = pm_nearest_run(program, at);
    size_t n_runs = 0;
    bool ok = true;
    for (size_t i = 0; ok && i < program->n_runs; i++) {
        struct pm_ranks ranks = {0};
        ok = pm_store_ranks(request->subject->store, &program->runs[i], &ranks, err);
        double n_ranks = pm_ranks_count(&ranks, role, PM_NONE);
        if (&program->runs[i] == near)
            nearest = n_ranks;
        if (n_ranks > 0 && program->is_whole[i]) {
            runs[n_runs] = program->runs[i];
            counts[n_runs++] = n_ranks;
        }
        pm_ranks_free(&ranks);
    }
    *n = nearest;
    bool is_known = n_runs > 0 && nearest > 0;
    for (size_t i = 1; i < n_runs; i++)
        is_known &= counts[i] == counts[0];
    const struct pm_fit_options options = {0};
    struct pm_error too_few = {0};
    struct pm_model_set *models =
        ok && nearest > 0 ? pm_fit_counts(runs, n_runs, counts, 1, &options, &too_few) : NULL;
    if (models && pm_model_evaluate(models->basis, &models->edges[0], at, n, &too_few))
        *n = round(*n);
    else if (nearest > 0 && !is_known)
        *n = NAN;
    pm_model_set_free(models);
    free(counts);
    free(runs);
    return ok;
}

/* A role that has no models has a row without time. */
static bool add_role(const struct pm_parallel_request *request, const struct pm_ranks *names,
                     uint32_t role, struct pm_ranks_report *reports, struct pm_error *err) {
    struct pm_selection selection = request->selection;
    struct pm_rank_row row = {.group = PM_NONE, .seconds = NAN, .low = NAN, .high = NAN};
    if (!count_role(request, role, request->at, &row.n_ranks, err))
        return false;
    if (row.n_ranks <= 0)
        return true;
    selection.role = role;
    bool ok = pm_subject_select(request->subject, &selection, err);
    const struct pm_model_set *models =
        ok ? pm_program_models(&request->subject->program, err) : NULL;
    struct pm_answer *answer =
        models ? ask_selected(request, request->at, PM_FROM_MODELS, err) : NULL;
    ok = ok && (answer || err->kind == PM_ERROR_NONE);
    if (ok) {
        row.role = pm_strdup(names->roles[role].name);
        add_row(request, answer, &row, reports);
    }
    pm_answer_free(answer);
    return pm_subject_select(request->subject, &request->selection, ok ? err : NULL) && ok;
}

static bool has_models(const struct pm_ranks_report *report) {
    for (size_t i = 0; i < report->n_rows; i++)
        if (!isnan(report->rows[i].seconds))
            return true;
    return false;
}

static bool find_predicted(const struct pm_parallel_request *request,
                           struct pm_ranks_report *reports, struct pm_error *err) {
    struct pm_ranks names = {0};
    bool ok = pm_check_parameter_names(&request->subject->program.runs[0], request->at, err) &&
              pm_store_roles(request->subject->store, &names, err);
    if (ok && names.n_roles == 0)
        ok = pm_fail(err, "the store knows of no ranks: its runs were made without MPI");
    for (uint32_t role = 0; ok && role < names.n_roles; role++)
        ok = add_role(request, &names, role, reports, err);
    if (ok && !has_models(&reports[0]))
        ok = pm_fail(err, "this size was not measured, and no role that is there has models: call "
                          "`pmodel fit` on the store, which says why where they cannot be made");
    for (size_t m = 0; ok && m < request->on->n_machines; m++) {
        reports[m].predicted = true;
        reports[m].tolerance = NAN;
        reports[m].at = *request->at;
    }
    pm_ranks_free(&names);
    return ok;
}

bool pm_print_ranks(const struct pm_parallel_request *request, struct pm_error *err) {
    size_t n = request->on->n_machines;
    struct pm_ranks_report *reports = pm_alloc(n, sizeof *reports);
    const struct pm_parameters *run =
        pm_program_run(&request->subject->program, request->at, false);
    bool ok =
        run ? find_measured(request, run, reports, err) : find_predicted(request, reports, err);
    for (size_t m = 0; m < n; m++) {
        reports[m].structure = request->subject->program.structure;
        reports[m].machine = pm_strdup(request->on->machines[m]->name);
        reports[m].machine_title = pm_strdup(request->on->machines[m]->title);
        pm_ranks_report_complete(&reports[m]);
    }
    if (ok)
        pm_report_ranks(stdout, reports, n, request->options);
    for (size_t m = 0; m < n; m++)
        pm_ranks_report_free(&reports[m]);
    free(reports);
    return ok;
}
