/* Time-independent traces as `smpirun -trace-ti` writes them: a list of files, in the order of the
   ranks (one name only: all ranks' actions are in that file), each with lines

       RANK NAME ARGUMENT…

   Numbers of elements become bytes; operations of reductions, which SimGrid's tracing does not
   know, are left out. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sched/replay/private.h"

/* How SimGrid writes MPI_PROC_NULL. */
enum { TRACED_PROC_NULL = -333, MOST_ARGUMENTS = 8, MOST_RANKS = 1 << 20 };

#define MOST_ELEMENTS 1e15

/* Bytes of SimGrid's types, by the numbers that stand in traces. */
static const uint8_t type_bytes[] = {8, 4, 1, 2, 8, 4, 1, 8, 1, 1, 2, 4,  8,  8, 16,
                                     4, 1, 1, 2, 4, 8, 1, 2, 4, 8, 8, 16, 32, 8, 8};

unsigned pm_traced_type_bytes(unsigned type) {
    return type < sizeof type_bytes ? type_bytes[type] : 0;
}

struct reading {
    struct pm_actions *actions;
    const char *path;
    size_t line;
    PM_ARRAY(bool, is_complete); /* by rank: FINALIZE was read; owned */
    unsigned default_type;       /* of a line that names none */
};

/* The arguments of a line behind its name. */
struct arguments {
    char *texts[MOST_ARGUMENTS];
    size_t n; /* of all arguments, also those that `texts` has no room for */
};

static bool fail_line(const struct reading *reading, const char *why, struct pm_error *err) {
    return pm_fail(err, "%s, line %zu: %s", reading->path, reading->line, why);
}

static bool take_number(const struct reading *reading, const char *text, double *number,
                        struct pm_error *err) {
    char *end;
    *number = strtod(text, &end);
    if (end == text || *end || isnan(*number))
        return fail_line(reading, "a number is expected; the trace is damaged or truncated", err);
    return true;
}

/* Arguments as numbers; those that are not there are NAN. */
static bool take_numbers(const struct reading *reading, const struct arguments *from, size_t least,
                         double numbers[MOST_ARGUMENTS], struct pm_error *err) {
    if (from->n < least)
        return fail_line(reading, "the line is truncated: it has too few arguments", err);
    for (size_t i = 0; i < MOST_ARGUMENTS; i++) {
        numbers[i] = NAN;
        if (i < from->n && !take_number(reading, from->texts[i], &numbers[i], err))
            return false;
        if (fabs(numbers[i]) > MOST_ELEMENTS)
            return fail_line(reading, "a number that is too large; the trace is damaged", err);
    }
    return true;
}

static bool to_bytes(const struct reading *reading, double count, double type, uint64_t *bytes,
                     struct pm_action *action, struct pm_error *err) {
    unsigned number = isnan(type)               ? reading->default_type
                      : type >= 0 && type < 256 ? (unsigned)type
                                                : 256;
    if (!(count >= 0 && count < MOST_ELEMENTS))
        return fail_line(reading, "no number of elements; the trace is damaged", err);
    if (!pm_traced_type_bytes(number))
        return fail_line(reading, "a type of data that is not known here", err);
    action->type = (uint8_t)number;
    *bytes = (uint64_t)count * pm_traced_type_bytes(number);
    return true;
}

/* Fills ACTION from the numbers behind its name.  *TO_NOBODY: it is one of MPI_PROC_NULL. */
static bool take_arguments(struct reading *reading, size_t rank, const struct arguments *from,
                           struct pm_action *action, bool *to_nobody, struct pm_error *err) {
    double n[MOST_ARGUMENTS] = {0};
    bool ok = true;
    switch ((enum pm_action_kind)action->kind) {
    case PM_ACTION_INIT:
        reading->default_type = from->n > 0 ? PM_TRACED_DOUBLE : PM_TRACED_BYTE;
        return true;
    case PM_ACTION_COMPUTE:
        ok = take_numbers(reading, from, 1, n, err);
        action->work = ok ? fmax(n[0], 0) : 0;
        return ok;
    case PM_ACTION_SEND:
    case PM_ACTION_ISEND:
    case PM_ACTION_RECV:
    case PM_ACTION_IRECV:
        if (!take_numbers(reading, from, 3, n, err))
            return false;
        ok = to_bytes(reading, n[2], n[3], &action->bytes, action, err);
        action->partner = (int32_t)(int64_t)n[0];
        action->tag = (int32_t)(int64_t)n[1];
        action->type = 0; /* messages are written in bytes */
        *to_nobody = action->partner == TRACED_PROC_NULL;
        return ok;
    case PM_ACTION_WAIT:
        ok = take_numbers(reading, from, 3, n, err);
        if (!ok)
            return false;
        action->is_send = n[0] == (double)rank;
        action->partner = (int32_t)(int64_t)(action->is_send ? n[1] : n[0]);
        action->tag = (int32_t)(int64_t)n[2];
        *to_nobody = n[0] == TRACED_PROC_NULL || n[1] == TRACED_PROC_NULL;
        return ok;
    case PM_ACTION_WAITALL:
        ok = take_numbers(reading, from, 0, n, err);
        action->bytes = ok && from->n > 0 && n[0] > 0 ? (uint64_t)n[0] : 0;
        return ok;
    case PM_ACTION_BCAST:
        action->partner = from->n > 1 ? (int32_t)strtol(from->texts[1], NULL, 10) : 0;
        return take_numbers(reading, from, 1, n, err) &&
               to_bytes(reading, n[0], n[2], &action->bytes, action, err);
    case PM_ACTION_REDUCE:
        action->partner = from->n > 2 ? (int32_t)strtol(from->texts[2], NULL, 10) : 0;
        return take_numbers(reading, from, 2, n, err) &&
               to_bytes(reading, n[0], n[3], &action->bytes, action, err);
    case PM_ACTION_ALLREDUCE:
    case PM_ACTION_SCAN:
    case PM_ACTION_EXSCAN:
        return take_numbers(reading, from, 2, n, err) &&
               to_bytes(reading, n[0], n[2], &action->bytes, action, err);
    case PM_ACTION_ALLTOALL:
    case PM_ACTION_ALLGATHER:
        return take_numbers(reading, from, 2, n, err) &&
               to_bytes(reading, n[1], n[3], &action->received_bytes, action, err) &&
               to_bytes(reading, n[0], n[2], &action->bytes, action, err);
    case PM_ACTION_GATHER:
    case PM_ACTION_SCATTER:
        action->partner = from->n > 2 ? (int32_t)strtol(from->texts[2], NULL, 10) : 0;
        return take_numbers(reading, from, 2, n, err) &&
               to_bytes(reading, n[1], n[4], &action->received_bytes, action, err) &&
               to_bytes(reading, n[0], n[3], &action->bytes, action, err);
    default:
        return true;
    }
}

static bool is_kept_as_line(enum pm_action_kind kind) {
    return kind >= PM_ACTION_ALLTOALLV && kind <= PM_ACTION_REDUCE_SCATTER;
}

static bool find_kind(const struct reading *reading, const char *name, uint8_t *kind,
                      struct pm_error *err) {
    for (unsigned k = 0; k < PM_N_ACTIONS; k++)
        if (strcmp(pm_action_name(k), name) == 0) {
            *kind = (uint8_t)k;
            return true;
        }
    return pm_fail(err, "%s, line %zu: `%s` is no action that can be replayed", reading->path,
                   reading->line, name);
}

static struct pm_rank_actions *rank_of(struct reading *reading, size_t rank) {
    while (reading->actions->n_ranks <= rank) {
        PM_PUSH(reading->actions, ranks);
        PM_PUSH(reading, is_complete);
    }
    return &reading->actions->ranks[rank];
}

/* LINE is without its end, and changed. */
static bool read_line(struct reading *reading, char *line, struct pm_error *err) {
    char *rest = line, *rank_text = strsep(&rest, " "), *name = strsep(&rest, " "), *end;
    unsigned long rank = strtoul(rank_text, &end, 10);
    if (end == rank_text || *end || !name || rank >= MOST_RANKS)
        return fail_line(reading, "no action; the trace is damaged or truncated", err);
    struct pm_action action = {0};
    if (!find_kind(reading, name, &action.kind, err))
        return false;
    action.label = pm_actions_label(reading->actions, name);
    if (is_kept_as_line(action.kind)) {
        action.received_bytes = reading->actions->n_lines;
        *PM_PUSH(reading->actions, lines) = pm_strdup(rest ? rest : "");
        rest = NULL;
    }
    struct arguments arguments = {0};
    for (char *text; (text = strsep(&rest, " "));)
        if (*text && arguments.n < MOST_ARGUMENTS)
            arguments.texts[arguments.n++] = text;
    bool to_nobody = false;
    if (!take_arguments(reading, rank, &arguments, &action, &to_nobody, err))
        return false;
    struct pm_rank_actions *to = rank_of(reading, rank);
    if (!to_nobody)
        *PM_PUSH(to, actions) = action;
    reading->is_complete[rank] = action.kind == PM_ACTION_FINALIZE;
    return true;
}

static bool read_file(struct reading *reading, const char *path, struct pm_error *err) {
    FILE *file = fopen(path, "r");
    if (!file)
        return pm_fail_errno(err, "cannot read %s", path);
    reading->path = path;
    reading->line = 0;
    reading->default_type = PM_TRACED_BYTE;
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    bool ok = true;
    while (ok && (length = getline(&line, &room, file)) > 0) {
        reading->line++;
        if (line[length - 1] != '\n')
            ok = fail_line(reading, "the line has no end: the trace is truncated", err);
        line[length - 1] = '\0';
        ok = ok && (line[0] == '\0' || line[0] == '#' || read_line(reading, line, err));
    }
    free(line);
    fclose(file);
    return ok;
}

static bool check_whole(const struct reading *reading, size_t n_files, struct pm_error *err) {
    for (size_t r = 0; r < reading->actions->n_ranks; r++)
        if (!reading->is_complete[r])
            return pm_fail(
                err, "the trace of rank %zu does not end with `finalize`: it is truncated", r);
    if (n_files > 1 && n_files != reading->actions->n_ranks)
        return pm_fail(err, "%zu files have actions of %zu ranks: they do not belong together",
                       n_files, reading->actions->n_ranks);
    return reading->actions->n_ranks > 0 || pm_fail(err, "the trace has no actions");
}

bool pm_actions_read(const char *path, struct pm_actions *actions, struct pm_error *err) {
    FILE *list = fopen(path, "r");
    if (!list)
        return pm_fail_errno(err, "cannot read %s", path);
    struct reading reading = {.actions = actions};
    actions->in_flops = true;
    /* Names stand as seen from where the program ran; else they are beside the list. */
    const char *slash = strrchr(path, '/');
    int n_folder = slash ? (int)(slash - path + 1) : 0;
    char *name = NULL;
    size_t room = 0, n_files = 0;
    ssize_t length;
    bool ok = true;
    while (ok && (length = getline(&name, &room, list)) > 0) {
        name[strcspn(name, "\n")] = '\0';
        if (!name[0])
            continue;
        FILE *here = fopen(name, "r");
        char *file =
            here || name[0] == '/' ? pm_strdup(name) : pm_sprintf("%.*s%s", n_folder, path, name);
        if (here)
            fclose(here);
        ok = read_file(&reading, file, err);
        n_files++;
        free(file);
    }
    ok = ok && check_whole(&reading, n_files, err);
    free(reading.is_complete);
    free(name);
    fclose(list);
    return ok;
}
