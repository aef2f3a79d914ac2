/* All tables of the store: the only place that names them and their columns.

   A table of runs begins with the column `run`, and its rows go with their run.  INDEX columns name
   scopes, reference groups, basic blocks and references of the structure by number, paths and kinds
   rows of call_path and interval_kind.  Blobs are zstd; what is in one says the function that is
   named at its field in tables.h, or in the header beside the table. */
#include "core/behaviour/behaviour.h"
#include "core/block_profile/block_profile.h"
#include "core/bounds/bounds.h"
#include "core/builds/builds.h"
#include "core/call_times/call_times.h"
#include "core/communication/communication.h"
#include "core/ranks/ranks.h"
#include "core/store/private.h"
#include "core/store/tables.h"
#include "core/streams.h"
#include "core/times.h"

/* ---- texts in place of numbers ----------------------------------------------------------------
 */

#define WORDS(name, ...)                                                                           \
    static const char *name(uint32_t number) {                                                     \
        static const char *const words[] = {__VA_ARGS__};                                          \
        return number < sizeof words / sizeof *words ? words[number] : NULL;                       \
    }
WORDS(scope_kind, "program", "module", "routine", "loop", "inlined")
WORDS(stream_kind, [PM_STREAM_THREAD] = "thread", [PM_STREAM_SHARED] = "shared",
      [PM_STREAM_SUM] = "sum")
WORDS(skipped_reason, [PM_SKIPPED_STOPPED] = "stopped", [PM_SKIPPED_LEFT_OUT] = "left out",
      [PM_SKIPPED_UNMATCHED] = "unmatched")
WORDS(difference_kind, [PM_DIFFERENT_SCOPE] = "scope", [PM_DIFFERENT_GROUP] = "group",
      [PM_DIFFERENT_STRIDES] = "strides")
WORDS(models_kind, [PM_MODELS_OF_COUNTS] = "counts", [PM_MODELS_OF_MESSAGES] = "messages")
#define REPLACEMENT_WORD(id, word) [id] = (word),
WORDS(replacement, PM_REPLACEMENTS(REPLACEMENT_WORD))

static const char *operation(uint32_t number) { return pm_operation_name((uint16_t)number); }

/* ---- columns ----------------------------------------------------------------------------------
 */

#define TYPE_OF(field)                                                                             \
    _Generic(((ROW *)0)->field,                                                                    \
        uint8_t: PM_COLUMN_U8,                                                                     \
        uint16_t: PM_COLUMN_U16,                                                                   \
        uint32_t: PM_COLUMN_U32,                                                                   \
        uint64_t: PM_COLUMN_U64,                                                                   \
        int32_t: PM_COLUMN_I32,                                                                    \
        bool: PM_COLUMN_BOOL,                                                                      \
        double: PM_COLUMN_DOUBLE,                                                                  \
        char *: PM_COLUMN_TEXT,                                                                    \
        struct pm_blob: PM_COLUMN_BLOB)
/* A field of ROW, under its own name or another; what follows says more of it (struct pm_column).
 */
#define COLUMN_OF(column, field, ...)                                                              \
    { .name = (column), .type = TYPE_OF(field), .offset = offsetof(ROW, field), __VA_ARGS__ }
#define COLUMN(field, ...) COLUMN_OF(#field, field, __VA_ARGS__)
#define INDEX(field) COLUMN(field, .null = PM_NULL_IF_NONE)
#define ORDINAL(column)                                                                            \
    { .name = (column), .type = PM_COLUMN_ORDINAL }
#define PACKED(field) COLUMN(field, .packed = true)
#define PATH(field) COLUMN_OF("path", field, .refers = PM_CALL_PATHS)
#define KIND(field) COLUMN_OF("kind", field, .refers = PM_INTERVAL_KINDS)

/* A table of rows of which one is a ROW.  N columns are the key, with the run. */
#define COLUMNS(...)                                                                               \
    .row_bytes = sizeof(ROW), .columns = (const struct pm_column[]){__VA_ARGS__},                  \
    .n_columns = sizeof((const struct pm_column[]){__VA_ARGS__}) / sizeof(struct pm_column)
#define KEY(n) .n_key = (n)

const struct pm_table pm_tables[PM_N_TABLES] = {

/* ---- of the store ------------------------------------------------------------------------------
 */

/* The program: one row (core/structure/structure.h). */
#define ROW struct pm_structure_row
    [PM_STRUCTURES] = {"structure", "the program's structure", .of_store = true, KEY(1),
                       COLUMNS(COLUMN(hash), COLUMN(module), COLUMN(data))},
#undef ROW

/* Names of the scopes that other tables name by number, for other tools; all of it is in the
   structure. */
#define ROW struct pm_scope
    [PM_SCOPES] = {"scope", "the scopes", .of_store = true, KEY(1),
                   COLUMNS(ORDINAL("id"), INDEX(parent), COLUMN(kind, .word = scope_kind),
                           COLUMN(name), COLUMN(file), COLUMN(line_first, .null = PM_NULL_IF_ZERO),
                           COLUMN(line_last, .null = PM_NULL_IF_ZERO), COLUMN(depth), COLUMN(key))},
#undef ROW

/* Paths of all runs, each with one number in the store (core/call_paths/call_paths.h). */
#define ROW struct pm_call_path_row
    [PM_CALL_PATHS] = {"call_path", "the call paths", .of_store = true, .replaces = true, KEY(1),
                       COLUMNS(COLUMN(id), COLUMN(parent), COLUMN(module), COLUMN(return_address),
                               INDEX(scope), COLUMN(callee))},
#undef ROW

/* Kinds of intervals of all runs: the paths of their ends. */
#define ROW struct pm_interval_kind
    [PM_INTERVAL_KINDS] = {"interval_kind", "the kinds of intervals", .of_store = true,
                           .unique = "begin, end", KEY(1),
                           COLUMNS(COLUMN_OF("id", number, .null = PM_NULL_IF_ZERO), COLUMN(begin),
                                   COLUMN(end))},
#undef ROW

/* Of the last fit of all runs, or of a part of them. */
#define ROW struct pm_models_row
    [PM_MODELS] = {"models", "the stored models", .of_store = true, .replaces = true, KEY(2),
                   COLUMNS(COLUMN(selection), COLUMN(kind, .word = models_kind), COLUMN(made),
                           COLUMN(data))},
#undef ROW

/* ---- runs: one of each size, with the settings that must be equal for it not to be repeated ----
 */

#define ROW struct pm_run_row
    [PM_RUNS] = {"run", "the runs", .of_store = true, .unique = "parameters", KEY(1),
                 COLUMNS(COLUMN(id, .null = PM_NULL_IF_ZERO), COLUMN(parameters), COLUMN(command),
                         COLUMN(started), COLUMN(wall_seconds), COLUMN(cpu_seconds),
                         COLUMN(exit_status), COLUMN(threads), COLUMN(processes),
                         COLUMN(block_sizes), COLUMN(merged), COLUMN(settings), COLUMN(notes),
                         COLUMN(truncated))},
#undef ROW

/* How often each edge was taken; for each routine, whether that is not known exactly. */
#define ROW struct pm_edges_row
    [PM_EDGES] = {"edges", "the edge counts", COLUMNS(PACKED(counts), PACKED(inexact))},
#undef ROW

/* The same by thread, of runs of more than one. */
#define ROW struct pm_thread_edges_row
    [PM_THREAD_EDGES] = {"thread_edges", "the counts of threads", KEY(2),
                         COLUMNS(COLUMN(process), COLUMN(thread), PACKED(counts))},
#undef ROW

/* What histograms are of (core/streams.h). */
#define ROW struct pm_stream
    [PM_STREAMS] = {"stream", "the histograms", KEY(1),
                    COLUMNS(ORDINAL("stream"), COLUMN(kind, .word = stream_kind), COLUMN(process),
                            COLUMN(thread))},
#undef ROW

/* Reuse distances (core/histogram.h). */
#define ROW struct pm_histogram_row
    [PM_HISTOGRAMS] = {"histogram", "the histograms", KEY(3),
                       COLUMNS(COLUMN_OF("scope_group", group), COLUMN(block_bytes), COLUMN(stream),
                               COLUMN(cold), COLUMN(accesses), COLUMN(data))},
#undef ROW

/* Of runs in which not all blocks were watched. */
#define ROW struct pm_stream_estimate
    [PM_ESTIMATES] = {"estimate", "the estimates", KEY(3),
                      COLUMNS(COLUMN(stream), COLUMN(block_bytes), COLUMN(cache_blocks),
                              COLUMN(misses), COLUMN(standard_error))},
#undef ROW

/* Accesses that are in no histogram (core/profile.h). */
#define ROW struct pm_skipped_row
    [PM_SKIPPED] = {"skipped", "the accesses that were not analysed", KEY(1),
                    COLUMNS(COLUMN(reason, .word = skipped_reason), COLUMN(executions),
                            COLUMN(loads), COLUMN(stores))},
#undef ROW

#define ROW struct pm_strides_row
    [PM_STRIDES] = {"strides", "the strides", COLUMNS(COLUMN(n_references), COLUMN(data))},
#undef ROW

/* Conditional branches (core/behaviour/behaviour.h). */
#define ROW struct pm_measured_branch
    [PM_BRANCHES] = {"branch", "the branches", KEY(1),
                     COLUMNS(INDEX(block), COLUMN(executions), COLUMN(taken), COLUMN(analysed),
                             COLUMN_OF("wrong_bimodal", wrong[PM_PREDICTOR_BIMODAL]),
                             COLUMN_OF("wrong_gshare", wrong[PM_PREDICTOR_GSHARE]),
                             COLUMN_OF("wrong_tage", wrong[PM_PREDICTOR_TAGE]))},
#undef ROW

/* Entries of loops by their trips (core/behaviour/behaviour.h). */
#define ROW struct pm_measured_trips
    [PM_TRIPS] = {"trips", "the trip counts", KEY(2),
                  COLUMNS(INDEX(block), COLUMN(range), COLUMN(entries), COLUMN(iterations))},
#undef ROW

/* Stores by dirty distance, --write-backs (core/write_backs/write_backs.h). */
#define ROW struct pm_histogram_row
    [PM_DIRTY] = {"dirty", "the dirty distances", KEY(2),
                  COLUMNS(COLUMN_OF("scope_group", group), COLUMN(block_bytes),
                          COLUMN_OF("stores", accesses), COLUMN(data))},
    /* What goes on from block to block (core/behaviour/behaviour.h). */
    [PM_SEQUENTIAL] = {"sequential", "the sequential touches", KEY(2),
                       COLUMNS(COLUMN_OF("scope_group", group), COLUMN(block_bytes),
                               COLUMN_OF("touches", accesses), COLUMN(data))},
    /* Where reuses come from and what carries them, --carry (core/reuse_patterns.h). */
    [PM_CARRIED] = {"carried", "the reuse patterns", KEY(2),
                    COLUMNS(COLUMN_OF("scope_group", group), COLUMN(block_bytes),
                            COLUMN_OF("patterns", cold), COLUMN_OF("reuses", accesses),
                            COLUMN(data))},
#undef ROW

/* Parameters that were given as formulas of others. */
#define ROW struct pm_formula_row
    [PM_FORMULAS] = {"formula", "the formulas", KEY(1), COLUMNS(COLUMN(name), COLUMN(text))},
#undef ROW

/* In which files' code time goes (core/times.h), most first. */
#define ROW struct pm_file_time
    [PM_FILE_TIMES] = {"file_time", "the times of files", KEY(1), .order = "samples DESC, number",
                       COLUMNS(ORDINAL("number"), COLUMN(path), COLUMN(measured),
                               COLUMN(measurable), COLUMN(samples))},
#undef ROW

/* ---- runs of other builds (core/builds/builds.h) ---- */

/* What the run's build has otherwise than the store's; INDEX: only that build has it. */
#define ROW struct pm_difference_row
    [PM_DIFFERENCES] = {"build_difference", "the differences between builds", KEY(1),
                        COLUMNS(ORDINAL("number"), COLUMN_OF("place", is.place),
                                COLUMN_OF("kind", is.kind, .word = difference_kind),
                                COLUMN_OF("id", is.index, .null = PM_NULL_IF_NONE),
                                COLUMN_OF("mismatch", is.mismatch),
                                COLUMN_OF("accesses", is.accesses, .null = PM_NULL_IF_NONE),
                                COLUMN(run_accesses))},
#undef ROW

/* Groups that are one by their source. */
#define ROW struct pm_group_join
    [PM_JOINS] = {"build_join", "the differences between builds", KEY(1),
                  COLUMNS(ORDINAL("number"), COLUMN_OF("id", group), COLUMN_OF("with_id", with))},
#undef ROW

#define ROW struct pm_program_total
    [PM_TOTALS] = {"build_total", "the differences between builds", KEY(1),
                   COLUMNS(ORDINAL("number"), COLUMN(block_bytes), COLUMN(accesses), COLUMN(cold))},
#undef ROW

#define ROW struct pm_work_row
    [PM_WORK] = {"build_work", "the differences between builds",
                 COLUMNS(PACKED(group_bytes), PACKED(iterations))},
#undef ROW

/* ---- runs with timers, --time (core/times.h, core/call_times/call_times.h) ---- */

#define ROW struct pm_times
    [PM_TIMINGS] = {"timing", "the times",
                    COLUMNS(COLUMN(machine), COLUMN(cpu_seconds), COLUMN(plain_seconds),
                            COLUMN(over_plain), COLUMN(outside_seconds), COLUMN(own_seconds),
                            COLUMN(repetitions), COLUMN(core_share), COLUMN(notes))},
#undef ROW

#define ROW struct pm_scope_time
    [PM_SCOPE_TIMES] = {"time", "the times", KEY(1),
                        COLUMNS(INDEX(scope), COLUMN(seconds), COLUMN(entries), COLUMN(threads))},
#undef ROW

#define ROW struct pm_call_time
    [PM_CALL_TIMES] = {"call_time", "the times of calls", KEY(1),
                       COLUMNS(ORDINAL("id"), COLUMN(rank), PATH(path),
                               COLUMN(operation, .word = operation), COLUMN(partner),
                               COLUMN(source), COLUMN(n), COLUMN(seconds), COLUMN(least_seconds),
                               COLUMN(waiting_seconds), COLUMN(unknown_seconds))},
#undef ROW

#define ROW struct pm_rank_span
    [PM_RANK_SPANS] = {"rank_span", "the times of calls", KEY(1),
                       COLUMNS(COLUMN(rank), COLUMN(seconds))},
#undef ROW

/* ---- lower bounds, `pmodel bound` (core/bounds/bounds.h) ---- */

#define ROW struct pm_bounds
    [PM_BOUNDS] = {"bounds", "the lower bounds",
                   COLUMNS(COLUMN(machine), COLUMN(plain_seconds), COLUMN(recording_over_plain),
                           COLUMN(total_over_plain), COLUMN(timed_seconds), COLUMN(bounded_seconds),
                           COLUMN(instructions), COLUMN(cycle_seconds))},
#undef ROW

#define ROW struct pm_nest_bound
    [PM_NEST_BOUNDS] = {"nest_bound", "the lower bounds", KEY(1),
                        COLUMNS(INDEX(scope), COLUMN(refusal), COLUMN(timed_seconds),
                                COLUMN(instructions), COLUMN(executions), COLUMN(sampled),
                                COLUMN(seconds), COLUMN(sampled_seconds), COLUMN(bound_seconds),
                                COLUMN(cut), COLUMN(faults), COLUMN(unknown), COLUMN(biased),
                                COLUMN(chased), COLUMN(replayed), COLUMN(chained), COLUMN(routines),
                                COLUMN(library), COLUMN(shared), COLUMN(across))},
#undef ROW

/* ---- basic blocks, --profile (core/block_profile/block_profile.h) ---- */

#define ROW struct pm_block_profile
    [PM_PROFILINGS] = {"profiling", "the profiles of basic blocks",
                       COLUMNS(COLUMN(stride_window), COLUMN(cpu_seconds), COLUMN(notes))},
#undef ROW

#define ROW struct pm_simulated_level
    [PM_LEVELS] = {"simulated_level", "the simulated caches", KEY(1),
                   COLUMNS(ORDINAL("level"), COLUMN(machine), COLUMN(name), COLUMN(size_bytes),
                           COLUMN(line_bytes), COLUMN(ways),
                           COLUMN(replacement, .word = replacement))},
#undef ROW

#define ROW struct pm_profiled_block
    [PM_BLOCK_PROFILES] = {"block_profile", "the profiles of basic blocks", KEY(1),
                           COLUMNS(INDEX(block), COLUMN(executions),
                                   COLUMN_OF("memory_references", references), COLUMN(bytes),
                                   COLUMN(flops), COLUMN(masked_flops),
                                   COLUMN_OF("stride_0", strides[PM_STRIDE_BIN_0]),
                                   COLUMN_OF("stride_1", strides[PM_STRIDE_BIN_1]),
                                   COLUMN_OF("stride_2", strides[PM_STRIDE_BIN_2]),
                                   COLUMN_OF("stride_4", strides[PM_STRIDE_BIN_4]),
                                   COLUMN_OF("stride_8", strides[PM_STRIDE_BIN_8]),
                                   COLUMN_OF("stride_random", strides[PM_STRIDE_BIN_RANDOM]))},
#undef ROW

/* Those that are not zero. */
#define ROW struct pm_misses_row
    [PM_BLOCK_MISSES] = {"block_misses", "the simulated misses", KEY(2),
                         COLUMNS(INDEX(block), COLUMN(level), COLUMN(misses))},
#undef ROW

/* ---- MPI programs (core/ranks/ranks.h, core/communication/communication.h) ---- */

#define ROW struct pm_stored_rank
    [PM_RANKS] = {"rank", "the ranks", KEY(2),
                  COLUMNS(COLUMN_OF("rank", is.rank), COLUMN_OF("process", is.process),
                          COLUMN_OF("size", is.size), COLUMN_OF("host", is.host),
                          COLUMN_OF("member_of", is.group), COLUMN(tolerance))},
#undef ROW

/* Runs whose communication was traced, even if there was none. */
#define ROW struct pm_communication_row
    [PM_COMMUNICATIONS] = {"communication_of_run", "the communication", COLUMNS(COLUMN(lost))},
#undef ROW

#define ROW struct pm_communicator_row
    [PM_COMMUNICATORS] = {"communicator", "the communication", KEY(1),
                          COLUMNS(COLUMN(number), COLUMN(size),
                                  COLUMN(made_by, .word = operation, .null = PM_NULL_IF_NONE),
                                  PACKED(members), PACKED(remote))},
#undef ROW

#define ROW struct pm_request_list_row
    [PM_REQUEST_LISTS] = {"request_list", "the communication", KEY(1),
                          COLUMNS(COLUMN(id), PACKED(numbers))},
#undef ROW

/* NULL: bytes are not known.  Partners that are none have the negative numbers of
   core/mpi_operations.h. */
#define ROW struct pm_event_count
    [PM_EVENTS] = {"communication", "the communication", KEY(1),
                   COLUMNS(
                       ORDINAL("id"), COLUMN(process), COLUMN(thread), PATH(kind.path),
                       COLUMN_OF("operation", kind.operation, .word = operation),
                       COLUMN_OF("partner", kind.partner), COLUMN_OF("source", kind.source),
                       COLUMN_OF("communicator", kind.communicator, .null = PM_NULL_IF_NONE),
                       COLUMN_OF("tag", kind.tag), COLUMN_OF("source_tag", kind.source_tag),
                       COLUMN_OF("bytes_sent", kind.bytes_sent, .null = PM_NULL_IF_NONE),
                       COLUMN_OF("bytes_received", kind.bytes_received, .null = PM_NULL_IF_NONE),
                       COLUMN_OF("requests", kind.requests), COLUMN(n))},
#undef ROW

/* Events of a thread in their order, by their ids in `communication`. */
#define ROW struct pm_trace_row
    [PM_TRACES] = {"trace", "the communication", KEY(2),
                   COLUMNS(COLUMN(process), COLUMN(thread), COLUMN(events), COLUMN(lost),
                           PACKED(data))},
#undef ROW

/* --sockets. */
#define ROW struct pm_socket
    [PM_SOCKETS] = {"socket", "the sockets", KEY(1),
                    COLUMNS(ORDINAL("number"), COLUMN(process), COLUMN(text))},
#undef ROW

#define ROW struct pm_socket_traffic
    [PM_TRAFFIC] = {"socket_traffic", "the sockets", KEY(4),
                    COLUMNS(COLUMN(process), COLUMN(thread), PATH(path), COLUMN(socket),
                            COLUMN(sends), COLUMN(receives), COLUMN(bytes_sent),
                            COLUMN(bytes_received))},
#undef ROW

/* ---- intervals, --interval (core/intervals/intervals.h) ---- */

#define ROW struct pm_stored_interval
    [PM_INTERVALS] = {"interval", "the intervals", KEY(4),
                      COLUMNS(KIND(kind), COLUMN(process), COLUMN(thread), COLUMN(first), COLUMN(n),
                              COLUMN(edges))},
#undef ROW

/* --interval-memory. */
#define ROW struct pm_histogram_row
    [PM_INTERVAL_HISTOGRAMS] = {"interval_histogram", "the intervals", KEY(6),
                                COLUMNS(KIND(kind), COLUMN(process), COLUMN(thread), COLUMN(first),
                                        COLUMN_OF("scope_group", group), COLUMN(block_bytes),
                                        COLUMN(cold), COLUMN(accesses), COLUMN(data))},
#undef ROW
};
