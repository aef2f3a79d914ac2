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

/* What contradicts itself or is missing; NULL: nothing. */
static const char *find_mistake(const struct pm_probe_network_request *request, bool network) {
    bool of_program = request->store_path || request->trace;
    if (!network &&
        (request->library || request->command || of_program || request->peak || request->n_hosts))
        return "--mpi, --mpirun, --pattern, --trace, --peak and --hosts are of --network";
    if ((request->store_path && request->trace) || (request->peak && of_program))
        return "--pattern STORE, --trace FILE and --peak are three ways to measure: take one";
    if (request->library && strcmp(request->library, "simgrid") == 0 && !request->command)
        return "name the network that is simulated: --mpirun 'smpirun -np 2 -platform FILE.xml …'";
    return NULL;
}

int pm_cmd_probe(int argc, char **argv) {
    struct output output = {0};
    struct pm_probe_network_request of_network = {0};
    bool quick = false, network = false;
    const struct pm_option options[] = {
        PM_OPTION_TEXT("output", 'o', &output.path),
        PM_OPTION_FLAG("quick", 0, &quick),
        PM_OPTION_FLAG("network", 0, &network),
        PM_OPTION_TEXT("mpi", 0, &of_network.library),
        PM_OPTION_TEXT("mpirun", 0, &of_network.command),
        PM_OPTION_TEXT("pattern", 0, &of_network.store_path),
        PM_OPTION_TEXT("trace", 0, &of_network.trace),
        PM_OPTION_FLAG("peak", 0, &of_network.peak),
        PM_OPTION_VALUE("hosts", 0, pm_read_count, &of_network.n_hosts),
        {0},
    };
    struct pm_command_line line = {.command = "probe", .options = options};
    int status = pm_read_options(&line, argc, argv);
    if (status == 0 && line.n_arguments)
        status = pm_usage_error("probe", "unexpected argument \"%s\"", line.arguments[0]);
    const char *mistake = status == 0 ? find_mistake(&of_network, network) : NULL;
    if (mistake)
        status = pm_usage_error("probe", "%s", mistake);
    if (status)
        return status;
    of_network.quick = quick;
    if (network)
        return probe_network(&of_network, &output);

    struct pm_error err = {0};
    char *forms_path = pm_share_path("machines/x86-64.probes", &err);
    if (!forms_path || !open_output(&output, &err)) {
        free(forms_path);
        free(output.temporary);
        return pm_complain(&err);
    }
    struct sigaction action = {.sa_handler = note_interrupt}, before;
    sigaction(SIGINT, &action, &before);
    struct progress progress = {.began = pm_clock_now(), .is_terminal = isatty(STDERR_FILENO)};
    const struct pm_probe_effort effort = {
        .quick = quick, .progress = show_progress, .stop = is_interrupted, .context = &progress};
    struct pm_machine_probe probe;
    bool measured = pm_probe(forms_path, &effort, &probe, &err);
    sigaction(SIGINT, &before, NULL);
    if (progress.is_terminal && progress.said > 0)
        fputs("\r\033[K", stderr);
    if (measured)
        pm_machine_probe_write(output.file, &probe);
    if (measured && probe.memory.n_caches == 0)
        fprintf(stderr, "pmodel probe: no cache was found, so this is not yet a machine file\n");
    bool ok = close_output(&output, measured, &err) && measured;
    if (measured)
        pm_machine_probe_free(&probe);
    free(forms_path);
    return ok ? PM_EXIT_OK : pm_complain(&err);
}
