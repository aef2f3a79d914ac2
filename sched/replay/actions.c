/* Lists of actions, and whether they fit together. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sched/replay/private.h"

static const struct {
    const char *name;
    enum pm_meeting meeting;
} kinds[] = {
#define PM_ACTION_KIND(kind, name, meeting) {name, PM_MEETING_##meeting},
    PM_ACTIONS(PM_ACTION_KIND)
#undef PM_ACTION_KIND
};

const char *pm_action_name(enum pm_action_kind kind) { return kinds[kind].name; }
enum pm_meeting pm_action_meeting(enum pm_action_kind kind) { return kinds[kind].meeting; }

void pm_actions_free(struct pm_actions *actions) {
    for (size_t r = 0; r < actions->n_ranks; r++)
        free(actions->ranks[r].actions);
    for (size_t i = 0; i < actions->n_labels; i++)
        free(actions->labels[i]);
    for (size_t i = 0; i < actions->n_lines; i++)
        free(actions->lines[i]);
    free(actions->ranks);
    free(actions->labels);
    free(actions->lines);
    *actions = (struct pm_actions){0};
}

uint32_t pm_actions_label(struct pm_actions *actions, const char *label) {
    for (size_t i = 0; i < actions->n_labels; i++)
        if (strcmp(actions->labels[i], label) == 0)
            return (uint32_t)i;
    *PM_PUSH(actions, labels) = pm_strdup(label);
    return (uint32_t)actions->n_labels - 1;
}

uint64_t pm_actions_count(const struct pm_actions *actions) {
    uint64_t n = 0;
    for (size_t r = 0; r < actions->n_ranks; r++)
        n += actions->ranks[r].n_actions;
    return n;
}

double pm_actions_work(const struct pm_actions *actions) {
    double work = 0;
    for (size_t r = 0; r < actions->n_ranks; r++)
        for (size_t i = 0; i < actions->ranks[r].n_actions; i++)
            work += actions->ranks[r].actions[i].work;
    return work;
}

void pm_actions_scale_work(struct pm_actions *actions, double factor) {
    for (size_t r = 0; r < actions->n_ranks; r++)
        for (size_t i = 0; i < actions->ranks[r].n_actions; i++)
            actions->ranks[r].actions[i].work *= factor;
}

/* ---- messages -------------------------------------------------------------------------------- */

static int by_channel(const void *left, const void *right) {
    const struct pm_message_end *a = left, *b = right;
    int order = PM_COMPARE(a->from, b->from);
    if (order == 0)
        order = PM_COMPARE(a->to, b->to);
    if (order == 0)
        order = PM_COMPARE(a->tag, b->tag);
    if (order == 0)
        order = PM_COMPARE(a->action, b->action);
    return order;
}

struct pm_messages pm_messages_of(const struct pm_actions *actions) {
    struct pm_messages messages = {0};
    for (size_t r = 0; r < actions->n_ranks; r++) {
        const struct pm_rank_actions *rank = &actions->ranks[r];
        for (size_t i = 0; i < rank->n_actions; i++) {
            const struct pm_action *action = &rank->actions[i];
            if (action->kind == PM_ACTION_SEND || action->kind == PM_ACTION_ISEND)
                *PM_PUSH(&messages, sends) = (struct pm_message_end){(int32_t)r, action->partner,
                                                                     action->tag, i, action->bytes};
            else if (action->kind == PM_ACTION_RECV || action->kind == PM_ACTION_IRECV)
                *PM_PUSH(&messages, receives) = (struct pm_message_end){
                    action->partner, (int32_t)r, action->tag, i, action->bytes};
        }
    }
    PM_SORT(messages.sends, messages.n_sends, by_channel);
    PM_SORT(messages.receives, messages.n_receives, by_channel);
    return messages;
}

void pm_messages_free(struct pm_messages *messages) {
    free(messages->sends);
    free(messages->receives);
    *messages = (struct pm_messages){0};
}

static int compare_channels(const struct pm_message_end *a, const struct pm_message_end *b) {
    int order = PM_COMPARE(a->from, b->from);
    if (order == 0)
        order = PM_COMPARE(a->to, b->to);
    return order ? order : PM_COMPARE(a->tag, b->tag);
}

static bool fail_alone(const struct pm_message_end *end, bool is_send, struct pm_error *err) {
    return pm_fail(err,
                   is_send ? "rank %" PRId32 " sends more to rank %" PRId32 " with tag %" PRId32
                             " than is received: action %zu has no receive"
                           : "rank %2$" PRId32 " receives more from rank %1$" PRId32
                             " with tag %3$" PRId32 " than is sent: action %4$zu waits for ever",
                   end->from, end->to, end->tag, end->action + 1);
}

static bool check_messages(const struct pm_actions *actions, struct pm_error *err) {
    struct pm_messages messages = pm_messages_of(actions);
    bool ok = true;
    for (size_t i = 0; ok && (i < messages.n_sends || i < messages.n_receives); i++) {
        const struct pm_message_end *send = i < messages.n_sends ? &messages.sends[i] : NULL;
        const struct pm_message_end *receive =
            i < messages.n_receives ? &messages.receives[i] : NULL;
        int order = !send ? 1 : !receive ? -1 : compare_channels(send, receive);
        if (order != 0)
            ok = fail_alone(order < 0 ? send : receive, order < 0, err);
    }
    pm_messages_free(&messages);
    return ok;
}

/* ---- collectives ----------------------------------------------------------------------------- */

static bool is_collective(const struct pm_action *action) {
    return action->kind >= PM_ACTION_BARRIER;
}

/* The next one from *I on; NULL: there is none. */
static const struct pm_action *next_collective(const struct pm_rank_actions *rank, size_t *i) {
    while (*i < rank->n_actions)
        if (is_collective(&rank->actions[(*i)++]))
            return &rank->actions[*i - 1];
    return NULL;
}

static bool check_collectives(const struct pm_actions *actions, struct pm_error *err) {
    for (size_t r = 1; r < actions->n_ranks; r++) {
        const struct pm_action *first, *other;
        size_t at_first = 0, at_other = 0, n = 0;
        do {
            n++;
            first = next_collective(&actions->ranks[0], &at_first);
            other = next_collective(&actions->ranks[r], &at_other);
            if (!first != !other || (first && first->kind != other->kind))
                return pm_fail(err,
                               "ranks do not meet: as collective operation %zu rank 0 has %s, rank "
                               "%zu has %s",
                               n, first ? pm_action_name(first->kind) : "none", r,
                               other ? pm_action_name(other->kind) : "none");
        } while (first);
    }
    return true;
}

static bool has_root(const struct pm_action *action) {
    enum pm_meeting meeting = pm_action_meeting(action->kind);
    return meeting == PM_MEETING_ROOT || meeting == PM_MEETING_AT_ROOT;
}

bool pm_actions_check(const struct pm_actions *actions, struct pm_error *err) {
    for (size_t r = 0; r < actions->n_ranks; r++)
        for (size_t i = 0; i < actions->ranks[r].n_actions; i++) {
            const struct pm_action *action = &actions->ranks[r].actions[i];
            if (((action->kind >= PM_ACTION_SEND && action->kind <= PM_ACTION_WAIT) ||
                 has_root(action)) &&
                (action->partner < 0 || (size_t)action->partner >= actions->n_ranks))
                return pm_fail(err,
                               "rank %zu communicates with rank %" PRId32
                               " in action %zu, and there are %zu ranks",
                               r, action->partner, i + 1, actions->n_ranks);
        }
    return check_messages(actions, err) && check_collectives(actions, err);
}
