/* The `pmodel` command: the list of subcommands is the pipeline. */
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/help/help.h"
#include "core/version.h"

static const struct pm_command commands[] = {
    {"flags", "", "compiler flags that mark a program at compile time", pm_cmd_flags},
    {"loops",
     "[--groups | --check | --mix [--level block|loop|routine|module|program]]\n"
     "                    [--routine NAMES] [--plain] [--classes FILE]\n"
     "                    [--interval NAMES]... [--format table|json|csv] [--wide] PROGRAM\n"
     "       pmodel loops --time [--routine NAMES] [--plain] [--format table|json|csv] [--wide] "
     "PROGRAM\n"
     "       pmodel loops --dump PASS [--dump-format text|dot] [--routine NAMES] [--plain] "
     "PROGRAM\n"
     "       pmodel loops --svg NAME [--instructions] [--max-blocks N] [--plain] PROGRAM\n"
     "       pmodel loops --summary [--plain] [--format table|json|csv] [--wide] FILE...",
     "what the lifter finds in a program: routines, loops, reference groups, counters",
     pm_cmd_loops},
    {"plan",
     "-P NAME=VALUES... [--where EXPR] [--runs N] [--time T] [--to NAME=VALUE[,...]]\n"
     "                   [--format table|json|csv] [--wide] [options of run] -- COMMAND "
     "[ARGUMENT]...",
     "propose which sizes to measure, and what that costs", pm_cmd_plan},
    {"run",
     "-o STORE [-P NAME=VALUES]... [--design FILE] [--where EXPR]\n"
     "                  [--build COMMAND]\n"
     "                  [-m MACHINE[,MACHINE]...]... [--set NAME=VALUE]...\n"
     "                  [--block SIZES] [--bin-width W]\n"
     "                  [--sample 1/R] [--max-blocks M]\n"
     "                  [--env NAME=TEXT]... [--input TEMPLATE:FILE]... [--scratch DIR]\n"
     "                  [--include FILE] [--exclude FILE] [--weights STORE]\n"
     "                  [--lib NAME]... [--all-libs] [--classes FILE]\n"
     "                  [--start-at NAMES]... [--stop-after NAMES]...\n"
     "                  [--interval NAMES|FILE|mpi|none]... [--interval-memory]\n"
     "                  [--sockets NAMES|FILE]...\n"
     "                  [--timeout SECONDS] [--checkpoint SECONDS] [--keep-partial]\n"
     "                  [--rank-tolerance PERCENT]\n"
     "                  [--no-memory] [--no-communication] [--second-core] [--shared]\n"
     "                  [--carry] [--bytes] [--write-backs]\n"
     "                  [--profile] [--simulate MACHINE[,MACHINE]...]... [--stride-window N]\n"
     "                  [--time] [--time-runs N] [--time-cost PERCENT]\n"
     "                  [--outside] [--again] [--unused NAMES] [--dry-run] [-q | --quiet]\n"
     "                  [-j K | --jobs K] [--launcher local|NAME|FILE] [--submit-options TEXT]\n"
     "                  [--detach]\n"
     "                  -- COMMAND [ARGUMENT]...\n"
     "       pmodel run --handler FILE [--events routines|loops|all|none] [--interval NAMES]...\n"
     "                  [options] -- COMMAND [ARGUMENT]...",
     "measure a program at one or more problem sizes", pm_cmd_run},
    {"merge", "-o STORE [-q | --quiet] STORE...",
     "join the runs of one program that were measured in different places", pm_cmd_merge},
    {"instrument",
     "-o COPY [--no-memory] [--events routines|loops|all|none]\n"
     "                         [--interval NAMES]... [--start-at NAMES]... [--stop-after "
     "NAMES]...\n"
     "                         [--include FILE] [--exclude FILE] [--weights STORE]\n"
     "                         [--classes FILE] [-q | --quiet] PROGRAM",
     "make the instrumented copy of a program, to run it by hand", pm_cmd_instrument},
    {"profile",
     "[-P NAME=VALUE[,...]] [--strides | --mix] [--random] [--min-percent PERCENT]\n"
     "                      [--format table|json|csv] [--wide] STORE",
     "what each basic block does with memory: strides, operations, hits in simulated caches",
     pm_cmd_profile},
    {"communication",
     "[-P NAME=VALUE[,...]] [--by-rank | --rank R | --matrix | --trace R]\n"
     "                            [--paths] [--format table|json|csv] [--wide] STORE",
     "what the ranks of an MPI program said to each other: by call, from rank to rank, in order",
     pm_cmd_communication},
    {"bound",
     "[-o STORE] [-P NAME=VALUE]... [--threshold PERCENT] [--loops NAMES] [--every K]\n"
     "                    [--format table|json|csv] [--wide] [options of run] -- COMMAND "
     "[ARGUMENT]...\n"
     "       pmodel bound [--format table|json|csv] [--wide] STORE...",
     "what loop nests would take if nothing missed a cache, measured", pm_cmd_bound},
    {"fit",
     "[--basis [SCOPE=]FUNCTIONS]... [--search] [--in NAMES] [--drop-divergent]\n"
     "                  [--with-partial] [--threads N]\n"
     "                  [--role NAME] [--interval KIND [--ordinal NAME]]\n"
     "                  [--models | --flagged [--top N]] [--format table|json|csv] [--wide] STORE",
     "make models of the measurements", pm_cmd_fit},
    {"model",
     "[--classes LIST] [--level program|module|routine|loop] [--elements] [--edges]\n"
     "                    [--sort place|count] [--threshold P%|N] [--interval NAMES]\n"
     "                    [--routine NAMES] [--include FILE] [--exclude FILE]\n"
     "                    [-P NAME=VALUE[,...]] [--basis FUNCTIONS] [--search] [--threads N]\n"
     "                    [--role NAME] [--ordinal NAME]\n"
     "                    [--format table|json|csv] [--wide] STORE\n"
     "       pmodel model --communication [--role NAME] [-P NAME=VALUE[,...]] [options] STORE",
     "models of how often instructions of each class are executed, for each scope", pm_cmd_model},
    {"schedule",
     "-m MACHINE [--set NAME=VALUE]... [-P NAME=VALUE[,...]] [--pessimistic]\n"
     "                       [--graph] [--format table|json|csv] [--wide] PROGRAM|STORE "
     "LOOP|--all [--causes]\n"
     "       pmodel schedule -m MACHINE [options] --asm FILE.s | --hex BYTES",
     "cycles of an iteration when nothing misses, and what holds a loop back", pm_cmd_schedule},
    {"report",
     "[-m MACHINE[,MACHINE]...]... [--set NAME=VALUE]... [-P NAME=VALUES]...\n"
     "                     [--tree] [--fields LIST] [--sort FIELD] [--filter PATTERN]\n"
     "                     [--min-percent P] [--top N] [--notes] [--cores P]\n"
     "                     [--deps optimistic|pessimistic] [--time window|simple|signature]\n"
     "                     [--threads | --carried | --ranks | --intervals] [--fits] "
     "[--interpolate]\n"
     "                     [--role NAME] [--interval KIND [--ordinal NAME]]\n"
     "                     [--format table|json|csv] [--wide] STORE",
     "time, misses and what limits each loop, at a size, on a machine", pm_cmd_report},
    {"explain",
     "-m MACHINE [--set NAME=VALUE]... [-P NAME=VALUE[,...]]\n"
     "                      [--source] [--source-dir FOLDER]... [--asm]\n"
     "                      [--deps optimistic|pessimistic] [--time window|simple]\n"
     "                      [--min-percent P] [--interpolate]\n"
     "                      [--format table|json|csv] [--wide] STORE [LOOP]",
     "all that is known of one loop, and what may be tried", pm_cmd_explain},
    {"annotate",
     "-m MACHINE [--set NAME=VALUE]... [-P NAME=VALUE[,...]]\n"
     "                       [--source-dir FOLDER]... [--deps optimistic|pessimistic]\n"
     "                       [--time window|simple] [--min-percent P] [--interpolate]\n"
     "                       [--format table|json|csv] [--wide] STORE FILE",
     "a source file with the time and misses of its lines", pm_cmd_annotate},
    {"diff",
     "-m MACHINE [--set NAME=VALUE]... [-P NAME=VALUE[,...]]\n"
     "                   [--fields time|misses|counts|causes[,...]]\n"
     "                   [--deps optimistic|pessimistic] [--time window|simple]\n"
     "                   [--min-percent P] [--top N] [--interpolate]\n"
     "                   [--format table|json|csv] [--wide] STORE STORE\n"
     "       pmodel diff [-m MACHINE] [--set NAME=VALUE]... [--top N]\n"
     "                   [--format table|json|csv] [--wide] PROGRAM PROGRAM",
     "what a change of a program did to each loop, or what a compiler made otherwise", pm_cmd_diff},
    {"compare",
     "-m MACHINE[,MACHINE]... [--set NAME=VALUE]... [-P NAME=VALUE[,...]]\n"
     "                      [--mean sum|geometric] [--deps optimistic|pessimistic]\n"
     "                      [--time window|simple] [--interpolate]\n"
     "                      [--format table|json|csv] [--wide] "
     "STORE[@NAME=VALUE[,...]][:WEIGHT]...",
     "machines ranked by several programs, and whether the ranking is sure", pm_cmd_compare},
    {"scale",
     "-P NAME=VALUES [-P NAME=VALUE|FORMULA]... -m MACHINE[,MACHINE]...\n"
     "                    [--set NAME=VALUE]... [--per EXPR] [--time window|simple|signature]\n"
     "                    [--role NAME] [--interval KIND [--ordinal NAME]]\n"
     "                    [--min-percent P] [--format table|json|csv|svg] [--wide] STORE\n"
     "       pmodel scale --platform FILE.xml [--grid NAME,...] -P NAME=VALUES... -m MACHINE\n"
     "                    [--time window|simple|signature] [--format table|json|csv|svg] STORE",
     "misses and time over a range of sizes, and where loops fall out of levels", pm_cmd_scale},
    {"replay",
     "-m MACHINE [--set NAME=VALUE]... --platform FILE.xml [-P NAME=VALUE[,...]]\n"
     "                     [--grid NAME,...] [--against MACHINE | --ratio R] [--write FOLDER]\n"
     "                     [--time window|simple|signature] [--interpolate]\n"
     "                     [--format table|json|csv|svg] [--wide] STORE\n"
     "       pmodel replay --trace FILE --platform FILE.xml [options]",
     "the parallel time on a network that is not there: traces replayed by SimGrid", pm_cmd_replay},
    {"plot",
     "--what time|misses|histogram|surface|roofline -m MACHINE [--set NAME=VALUE]...\n"
     "                   [-P NAME=VALUES]... [--sizes N] [--block SIZES] [--time window|simple]\n"
     "                   [-o FILE.svg] STORE [LOOP]",
     "a picture of a loop over sizes: time by cause, misses, reuse distances", pm_cmd_plot},
    {"html",
     "-m MACHINE[,MACHINE]... -o FILE.html [--set NAME=VALUE]... [-P NAME=VALUES]...\n"
     "                   [--sizes N] [--source-dir FOLDER]... [--time window|simple] STORE",
     "one page with the loops, their source and pictures, for a browser", pm_cmd_html},
    {"signature",
     "[--profile STORE] [-P NAME=VALUE[,...]] [--by-loops] [--set NAME=VALUE]...\n"
     "                        [--min-percent P] [--format table|json|csv|svg] [--wide] MACHINE...",
     "curves of a machine against the working set, and where a program lies on them",
     pm_cmd_signature},
    {"convolve",
     "-m MACHINE[,MACHINE]... [--set NAME=VALUE]... [-P NAME=VALUE[,...]] [--by-loops]\n"
     "                       [--min-percent P] [--top N] [--format table|json|csv] [--wide] STORE",
     "what the signatures of machines say of a program: rates, time, their ratio", pm_cmd_convolve},
    {"roofline",
     "-m MACHINE [--set NAME=VALUE]... [-P NAME=VALUE[,...]] [--time window|simple|signature]\n"
     "                       [--min-percent P] [--format table|json|csv|svg] [--wide] STORE "
     "[STORE]",
     "loops under a machine's roofs, before and after a change", pm_cmd_roofline},
    {"query",
     "[-P NAME=VALUES]... [--cache SIZES | -m MACHINE[,MACHINE]...] [--hit-ratio R[,R]...]\n"
     "                    [--scope NAME]... [--level program|routine|loop|group] [--block SIZES]\n"
     "                    [--set NAME=VALUE]... [--no-cold] [--range NAME=LOW:HIGH[:STEP]] "
     "[--interpolate]\n"
     "                    [--role NAME] [--interval KIND [--ordinal NAME]]\n"
     "                    [--min-percent P] [--top N] [--format table|json|csv] [--wide] STORE\n"
     "       pmodel query --fits [--cache SIZES | -m MACHINE[,MACHINE]...] [options] STORE",
     "of size, cache and hit ratio, the one that is not given; which sizes fit a cache",
     pm_cmd_query},
    {"export",
     "--histograms | --carried | --strides -s STORE [-P NAME=VALUE[,...]]\n"
     "                     [--block SIZES] [--routine NAMES] [--group LIST]\n"
     "                     [--threads | --shared] [--format json|csv] [-o FILE]\n"
     "       pmodel export --intervals -s STORE [-P NAME=VALUE[,...]] [--format json|csv] [-o "
     "FILE]\n"
     "       pmodel export --callgrind | --folded [--of FIGURE] | --extrap -s STORE -m MACHINE\n"
     "                     [--set NAME=VALUE]... [-P NAME=VALUE[,...]] [--time window|simple]\n"
     "                     [--role NAME] [--interval KIND [--ordinal NAME]] [-o FILE]",
     "measured histograms or strides, or predictions, for other programs", pm_cmd_export},
    {"validate",
     "-s STORE [-m MACHINE[,MACHINE]...]... [--set NAME=VALUE]... [--caches BLOCKS]\n"
     "                       [--keep STORE]\n"
     "                       [--min-percent P] [--top N] [--format table|json|csv] [--wide]\n"
     "                       [-P NAME=VALUES]... [options of run] -- COMMAND [ARGUMENT]...\n"
     "       pmodel validate --time -s STORE -m MACHINE[,MACHINE]... [--set NAME=VALUE]...\n"
     "                       [--repeat K] [--time-model window|simple|signature] [--keep STORE]\n"
     "                       [--min-percent P] [--top N]\n"
     "                       [--format table|json|csv] [--wide]\n"
     "                       -P NAME=VALUES... [options of run] -- COMMAND [ARGUMENT]...\n"
     "       pmodel validate --time --measured FILE -s STORE -m MACHINE[,MACHINE]...\n"
     "       pmodel validate --hierarchy -s STORE [--counts CLASSES] [--caches BLOCKS]\n"
     "                       [--min-percent P] [--top N] [--format table|json|csv] [--wide]\n"
     "                       [[-P NAME=VALUES]... [options of run] -- COMMAND [ARGUMENT]...]",
     "compare what the models predict with a measured run at a size that was not fitted",
     pm_cmd_validate},
    {"machines",
     "[[--check] [--set NAME=VALUE]... [--format table|json|csv] [--wide] MACHINE]\n"
     "       pmodel machines --svg FILE [--set NAME=VALUE]... MACHINE\n"
     "       pmodel machines --diff [--set NAME=VALUE]... [--format table|json|csv] [--wide] "
     "MACHINE MACHINE",
     "list the machine descriptions, show or check one, or compare two", pm_cmd_machines},
    {"probe",
     "[--quick] [-o FILE]\n"
     "       pmodel probe --network [--quick] [--mpi openmpi|mpich|simgrid] [--mpirun COMMAND]\n"
     "                    [--pattern STORE | --trace FILE | --peak] [--hosts N] [-o FILE.xml]",
     "measure this machine, and describe it as a machine file", pm_cmd_probe},
    {"doctor", "[--format table|json|csv] [--wide]",
     "what of pmodel works on this system, and how to mend the rest", pm_cmd_doctor},
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static int complain_unknown(const char *name) {
    struct pm_error err = {0};
    struct pm_nearest nearest = {0};
    for (size_t i = 0; i < N_COMMANDS; i++)
        pm_nearest_try(&nearest, name, commands[i].name);
    pm_fail(&err, "no command \"%s\" (see `pmodel --help`)", name);
    pm_fail_nearest(&err, &nearest);
    return pm_complain(&err);
}

static const struct pm_command *find_command(const char *name) {
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

int pm_complain(const struct pm_error *err) {
    fprintf(stderr, "pmodel: %s\n", err->text);
    return pm_exit_status(err);
}

int pm_exit_status(const struct pm_error *err) {
    return err->kind == PM_ERROR_SYSTEM ? PM_EXIT_SYSTEM : PM_EXIT_INPUT;
}

int pm_usage_error(const char *command, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "pmodel %s: ", command);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, " (see `pmodel %s --help`)\n", command);
    va_end(arguments);
    return PM_EXIT_INPUT;
}

static int print_help(FILE *out) {
    fprintf(out, "pmodel: how will this code behave at ten times the size, on another machine, and "
                 "which loop should be mended first?\n\n");
    for (size_t i = 0; i < N_COMMANDS; i++)
        fprintf(out, "  pmodel %-10s %s\n", commands[i].name, commands[i].purpose);
    fprintf(out,
            "\nexample: pmodel run -o heat.pmdb -P N=24,32,40,48 -- ./heat {N}; pmodel fit "
            "heat.pmdb; pmodel report heat.pmdb -P N=96\n"
            "`pmodel COMMAND --help` shows a command's options, `pmodel help WORD` explains an "
            "option or a word of a report, `man pmodel` has all of it.\n");
    return out == stdout ? PM_EXIT_OK : PM_EXIT_INPUT;
}

/* `pmodel help [WORD | --list [COMMAND]]`. */
static int help(int argc, char **argv) {
    if (argc == 0)
        return print_help(stdout);
    if (strcmp(argv[0], "--list") != 0)
        return pm_help_word(commands, N_COMMANDS, argv[0]);
    if (argc == 1)
        pm_list_commands(commands, N_COMMANDS);
    else
        pm_list_options(commands, N_COMMANDS, find_command(argv[1]));
    return PM_EXIT_OK;
}

/* Large arrays, of millions of instructions, go back to the system as soon as they are freed; by
   default the C library would come to keep them. */
static void return_large_memory(void) {
    enum { LARGE = 1 << 20 };
    mallopt(M_MMAP_THRESHOLD, LARGE);
}

int main(int argc, char **argv) {
    return_large_memory();
    if (argc < 2)
        return print_help(stderr);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return print_help(stdout);
    if (strcmp(argv[1], "help") == 0)
        return help(argc - 2, argv + 2);
    if (strcmp(argv[1], "--version") == 0) {
        puts("pmodel " PM_VERSION);
        return PM_EXIT_OK;
    }
    if (strcmp(argv[1], "run-one") == 0) /* what jobs execute */
        return pm_cmd_run_one(argc - 1, argv + 1);
    const struct pm_command *command = find_command(argv[1]);
    if (!command)
        return complain_unknown(argv[1]);
    if (argc > 2 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0)) {
        pm_print_command_help(command);
        return PM_EXIT_OK;
    }
    int status = command->run(argc - 1, argv + 1);
    pm_die_of_interruption();
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "pmodel: cannot write to standard output\n");
        return PM_EXIT_SYSTEM;
    }
    return status;
}
