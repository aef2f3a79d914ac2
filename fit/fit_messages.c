/* Models of messages: series of one's own, one value for each run; see fit.h and
   core/messages/messages.h. */
#include "fit/fit.h"

#include <stdlib.h>
#include <string.h>

#include "core/messages/messages.h"
#include "core/store/store.h"

/* Values of all runs. */
struct series {
    struct pm_message_item item;
    double *values; /* [quantity · n_runs + run]; owned */
};

struct collection {
    struct pm_store *store;
    struct pm_parameters *runs;
    size_t n_runs;
    PM_ARRAY(struct series, list); /* by path and operation */
    bool is_traced;                /* in all runs so far */
};

static struct series *series_of(struct collection *c, const struct pm_event_kind *kind) {
    size_t at = PM_LOWER_BOUND(
        c->n_list, i,
        c->list[i].item.path < kind->path ||
            (c->list[i].item.path == kind->path && c->list[i].item.operation < kind->operation));
    if (at < c->n_list && c->list[at].item.path == kind->path &&
        c->list[at].item.operation == kind->operation)
        return &c->list[at];
    PM_PUSH(c, list);
    memmove(&c->list[at + 1], &c->list[at], (c->n_list - 1 - at) * sizeof *c->list);
    c->list[at] =
        (struct series){.item = {.path = kind->path, .operation = kind->operation},
                        .values = pm_alloc(PM_N_MESSAGE_QUANTITIES * c->n_runs, sizeof(double))};
    return &c->list[at];
}

static void add_value(struct collection *c, struct series *series, enum pm_message_quantity q,
                      size_t run, uint64_t bytes, double events) {
    if (bytes == PM_UNKNOWN_BYTES)
        series->item.unknown[q] = true;
    else
        series->values[q * c->n_runs + run] += (double)bytes * events;
}

bool pm_is_message(const struct pm_event_kind *kind) {
    return kind->partner != PM_NULL_PARTNER ||
           (pm_operation_way(kind->operation) == PM_WAY_EXCHANGES &&
            kind->source != PM_NULL_PARTNER);
}

static bool is_selected(const struct pm_ranks *ranks, uint32_t role, uint32_t process) {
    for (size_t i = 0; i < ranks->n_ranks; i++)
        if (ranks->ranks[i].process == process)
            return role == PM_NONE || ranks->ranks[i].role == role;
    return role == PM_NONE;
}

static bool add_run(struct collection *c, size_t run, uint32_t role, struct pm_error *err) {
    struct pm_ranks ranks = {0};
    struct pm_communication *communication = pm_store_communication(c->store, &c->runs[run], err);
    bool ok = pm_store_ranks(c->store, &c->runs[run], &ranks, err) && err->kind == PM_ERROR_NONE;
    double n_ranks = role == PM_NONE ? 1 : pm_ranks_count(&ranks, role, PM_NONE);
    c->is_traced = communication != NULL;
    for (size_t i = 0; ok && communication && i < communication->n_counts; i++) {
        const struct pm_event_count *count = &communication->counts[i];
        if (!pm_is_message(&count->kind) || !is_selected(&ranks, role, count->process))
            continue;
        struct series *series = series_of(c, &count->kind);
        double events = (double)count->n / n_ranks;
        add_value(c, series, PM_MESSAGE_EVENTS, run, 1, events);
        add_value(c, series, PM_MESSAGE_BYTES_SENT, run, count->kind.bytes_sent, events);
        add_value(c, series, PM_MESSAGE_BYTES_RECEIVED, run, count->kind.bytes_received, events);
    }
    pm_communication_free(communication);
    pm_ranks_free(&ranks);
    return ok;
}

static struct pm_message_models *fit(const struct collection *c,
                                     const struct pm_fit_options *options, struct pm_error *err) {
    size_t per_item = PM_N_MESSAGE_QUANTITIES * c->n_runs;
    double *counts = pm_alloc(c->n_list * per_item, sizeof *counts);
    struct pm_message_models *messages = pm_alloc(1, sizeof *messages);
    for (size_t i = 0; i < c->n_list; i++) {
        *PM_PUSH(messages, items) = c->list[i].item;
        memcpy(counts + i * per_item, c->list[i].values, per_item * sizeof *counts);
    }
    messages->models = pm_fit_counts(c->runs, c->n_runs, counts,
                                     c->n_list * PM_N_MESSAGE_QUANTITIES, options, err);
    free(counts);
    if (messages->models)
        return messages;
    pm_message_models_free(messages);
    return NULL;
}

struct pm_message_models *pm_fit_messages(struct pm_store *store,
                                          const struct pm_fit_options *options,
                                          struct pm_error *err) {
    struct collection c = {.store = store, .is_traced = true};
    struct pm_message_models *messages = NULL;
    bool ok = pm_store_runs(store, &c.runs, &c.n_runs, err);
    uint32_t role = pm_store_selection(store).role;
    for (size_t run = 0; ok && c.is_traced && run < c.n_runs; run++)
        ok = add_run(&c, run, role, err);
    if (ok && c.is_traced && c.n_list > 0)
        messages = fit(&c, options, err);
    for (size_t i = 0; i < c.n_list; i++)
        free(c.list[i].values);
    free(c.list);
    free(c.runs);
    return messages;
}
