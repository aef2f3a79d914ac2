/* `pmodel probe`: measures the machine that it runs on, and writes a machine file. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/probing/private.h"
#include "machines/probe/probe.h"

static volatile sig_atomic_t interrupted;

static void note_interrupt(int signal) {
    (void)signal;
    interrupted = 1;
}

static bool is_interrupted(void *context) {
    (void)context;
    return interrupted;
}

struct progress {
    double began, said;
    bool is_terminal;
};

/* On a terminal a line that is written over, elsewhere one every ten seconds. */
static void show_progress(void *context, const char *what, double share) {
    struct progress *progress = context;
    double now = pm_clock_now(), passed = now - progress->began;
    if (now - progress->said < (progress->is_terminal ? 0.2 : 10))
        return;
    progress->said = now;
    fprintf(stderr, "%spmodel probe: %3.0f%%, %s", progress->is_terminal ? "\r\033[K" : "",
            100 * share, what);
    if (share > 0.05)
        fprintf(stderr, ", about %.0f s to go", passed * (1 - share) / share);
    fputs(progress->is_terminal ? "" : "\n", stderr);
    fflush(stderr);
}

/* Where the machine file goes: whole, or as it was.  Opened before anything is measured, because
   that takes minutes. */
struct output {
    const char *path; /* NULL: standard output */
    char *temporary;
    FILE *file;
};

static bool open_output(struct output *output, struct pm_error *err) {
    output->file = stdout;
    if (!output->path)
        return true;
    output->temporary = pm_sprintf("%s.%ld", output->path, (long)getpid());
    output->file = fopen(output->temporary, "we");
    return output->file || pm_fail_errno(err, "%s", output->path);
}

/* KEEP: false where nothing was measured. */
static bool close_output(struct output *output, bool keep, struct pm_error *err) {
    bool ok = true;
    if (output->path && output->file) {
        ok = !ferror(output->file);
        ok = fclose(output->file) == 0 && ok;
        if (keep)
            ok = ok && rename(output->temporary, output->path) == 0;
        if (!ok)
            pm_fail_errno(err, "%s", output->path);
        if (!keep || !ok)
            unlink(output->temporary);
    }
    free(output->temporary);
    return ok;
}

static int probe_network(const struct pm_probe_network_request *request, struct output *output) {
    struct pm_error err = {0};
    bool ok = open_output(output, &err);
    if (ok) {
        bool measured = pm_probe_network(request, output->file, &err);
        struct pm_error of_file = {0};
        ok = close_output(output, measured, &of_file) && measured;
        if (measured && !ok)
            err = of_file;
    }
    return ok ? PM_EXIT_OK : pm_complain(&err);
}

/* ---- cores ----------------------------------------------------------------------------------- */

/* The described core that the processor says it has, and those that it might have instead. */
struct cores {
    struct pm_machine *core; /* NULL: none */
    PM_ARRAY(struct pm_machine *, others);
};

static void free_cores(struct cores *cores) {
    pm_machine_free(cores->core);
    for (size_t i = 0; i < cores->n_others; i++)
        pm_machine_free(cores->others[i]);
    free(cores->others);
}

static bool find_cores(struct cores *cores, struct pm_error *err) {
    char *name = pm_core_here(false, err), **names;
    size_t n_names;
    if (!name)
        return err->text[0] == '\0'; /* it is not described */
    cores->core = pm_find_machine(name, NULL, 0, NULL, err);
    bool ok = cores->core && pm_machine_names(&names, &n_names, err);
    for (size_t i = 0; ok && i < n_names; i++) {
        struct pm_error ignored = {0};
        struct pm_machine *other =
            strcmp(names[i], name) == 0 ? NULL : pm_find_machine(names[i], NULL, 0, NULL, &ignored);
        if (other && other->isa && strcmp(other->isa, "x86-64") == 0)
            *PM_PUSH(cores, others) = other;
        else
            pm_machine_free(other);
        free(names[i]);
    }
    if (ok)
        free(names);
    free(name);
    return ok;
}

#define WAYS "they are ways to measure"

struct request {
    struct output output;
    struct pm_probe_network_request of_network;
    bool network, infer;
};

#define AT(field) offsetof(struct request, field)
static const struct pm_option options[] = {
    PM_FLAG("quick", 0, AT(of_network.quick), "fewer points, in half a minute"),
    PM_FLAG("infer", 0, AT(infer), "takes the core for one that no machine file describes"),
    PM_OPTION_OUTPUT("FILE", AT(output.path), "writes to FILE, not to standard output"),
    PM_HEADING("of a network"),
    PM_FLAG("network", 0, AT(network), "what messages between two ranks of MPI take instead"),
    PM_TEXT("mpi", 0, "openmpi|mpich|simgrid", AT(of_network.library), "with which library",
            .needs = "network"),
    PM_TEXT("mpirun", 0, "COMMAND", AT(of_network.command), "what starts two ranks or more",
            .needs = "network"),
    PM_TEXT("pattern", 0, "STORE", AT(of_network.store_path), "at the sizes that a run sends",
            .needs = "network", .excludes = "trace peak", .because = WAYS),
    PM_TEXT("trace", 0, "FILE", AT(of_network.trace),
            "with the message sizes of a trace of `smpirun`", .needs = "network",
            .excludes = "peak", .because = WAYS),
    PM_FLAG("peak", 0, AT(of_network.peak), "latency and bandwidth for messages of all sizes",
            .needs = "network"),
    PM_READ("hosts", 0, "N", pm_read_count, AT(of_network.n_hosts), "a platform of N hosts",
            .needs = "network"),
    {0},
};

static int run(const struct pm_command *self, int argc, char **argv) {
    struct request request = {0};
    struct output *output = &request.output;
    const struct pm_probe_network_request *of_network = &request.of_network;
    struct pm_command_line line = {.command = self, .request = &request};
    int status = pm_read_options(&line, argc, argv);
    if (status == 0 && line.n_arguments)
        status = pm_usage_error("probe", "unexpected argument \"%s\"", line.arguments[0]);
    if (status == 0 && of_network->library && strcmp(of_network->library, "simgrid") == 0 &&
        !of_network->command)
        status = pm_usage_error("probe", "name the network that is simulated: --mpirun 'smpirun "
                                         "-np 2 -platform FILE.xml …'");
    if (status)
        return status;
    if (request.network)
        return probe_network(of_network, output);

    struct pm_error err = {0};
    struct cores cores = {0};
    char *forms_path = pm_share_path("machines/x86-64.probes", &err);
    if (!forms_path || (!request.infer && !find_cores(&cores, &err)) ||
        !open_output(output, &err)) {
        free(forms_path);
        free_cores(&cores);
        free(output->temporary);
        return pm_complain(&err);
    }
    const struct pm_probe_request of_machine = {.forms_path = forms_path,
                                                .core = cores.core,
                                                .others =
                                                    (const struct pm_machine *const *)cores.others,
                                                .n_others = cores.n_others};
    struct sigaction action = {.sa_handler = note_interrupt}, before;
    sigaction(SIGINT, &action, &before);
    struct progress progress = {.began = pm_clock_now(), .is_terminal = isatty(STDERR_FILENO)};
    const struct pm_probe_effort effort = {.quick = of_network->quick,
                                           .progress = show_progress,
                                           .stop = is_interrupted,
                                           .context = &progress};
    struct pm_machine_probe probe;
    bool measured = pm_probe(&of_machine, &effort, &probe, &err);
    sigaction(SIGINT, &before, NULL);
    if (progress.is_terminal && progress.said > 0)
        fputs("\r\033[K", stderr);
    if (measured)
        pm_machine_probe_write(output->file, &probe);
    if (measured && probe.memory.n_caches == 0)
        fprintf(stderr, "pmodel probe: no cache was found, so this is not yet a machine file\n");
    bool ok = close_output(output, measured, &err) && measured;
    if (measured)
        pm_machine_probe_free(&probe);
    free_cores(&cores);
    free(forms_path);
    return ok ? PM_EXIT_OK : pm_complain(&err);
}

const struct pm_command pm_command_probe = {
    .name = "probe",
    .purpose = "measure this machine, and describe it as a machine file",
    .usage = "[OPTION]...\n--network [OPTION]...",
    .examples = "pmodel probe -o here.conf    # then `pmodel report -m ./here.conf`",
    .options = options,
    .run = run,
};
