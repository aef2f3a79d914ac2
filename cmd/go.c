/* `pmodel go`: the whole way in one command.

   plan → run (all sizes but the largest) → fit → validate (the largest) → report → page.  Each step
   is a command of pmodel, is printed as one would type it, and can be repeated alone. */
#define _GNU_SOURCE
#include <ctype.h>
#include <jansson.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/options.h"
#include "core/parameters.h"
#include "measure/command/command.h"
#include "measure/timing/timing.h"

extern char **environ;

struct request {
    PM_ARRAY(const char *, sizes); /* of -P */
    const char *machine, *to, *most_time, *name;
    char *const *command; /* NULL behind the last */
    /* Made of these; owned. */
    char *store, *kept, *page, *fitted, *held_out;
    const char *on; /* the machine */
};

static const char usual_machine[] = "sapphire-rapids";

/* ---- a step ---------------------------------------------------------------------------------- */

struct step {
    PM_ARRAY(const char *, words); /* NULL behind the last */
};

static void add(struct step *step, const char *word) { *PM_PUSH(step, words) = word; }

static void add_all(struct step *step, char *const *words) {
    for (; *words; words++)
        add(step, *words);
}

/* The exit status; OUTPUT (NULL: none is kept) gets what the step printed, owned by the caller. */
static int take_step(struct step *step, const char *what, char **output) {
    int ends[2] = {-1, -1}, status = 0;
    pid_t process;
    add(step, NULL);
    char *text = pm_command_text((char **)(uintptr_t)step->words);
    printf("\n# %s\n$ %s\n", what, text);
    fflush(stdout);
    free(text);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (output && pipe2(ends, 0) == 0) {
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
        posix_spawn_file_actions_addclose(&actions, ends[0]);
    }
    bool began = posix_spawn(&process, "/proc/self/exe", &actions, NULL,
                             (char **)(uintptr_t)step->words, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    free(step->words);
    if (output) {
        char block[4096];
        close(ends[1]);
        *output = pm_strdup("");
        for (ssize_t n; began && (n = read(ends[0], block, sizeof block)) > 0;)
            pm_append(output, "%.*s", (int)n, block);
        close(ends[0]);
    }
    if (!began || waitpid(process, &status, 0) < 0)
        return PM_EXIT_SYSTEM;
    return WIFEXITED(status) ? WEXITSTATUS(status) : PM_EXIT_SYSTEM;
}

static struct step step_of(const char *command) {
    struct step step = {0};
    add(&step, "pmodel");
    add(&step, command);
    return step;
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static bool is_formula(const void *context, const char *name) {
    (void)context;
    (void)name;
    return false;
}

/* FROM to before END of the plan's runs, as -P takes them. */
static char *sizes_text(const json_t *runs, size_t from, size_t end) {
    struct pm_parameters *points = pm_alloc(end - from, sizeof *points);
    for (size_t i = from; i < end; i++) {
        const char *name;
        json_t *value;
        json_object_foreach(json_object_get(json_array_get(runs, i), "parameters"), name, value) {
            pm_parameters_set(&points[i - from], name, json_number_value(value), NULL);
        }
    }
    char *text = pm_points_text(points, end - from, is_formula, NULL);
    free(points);
    return text;
}

/* Without -P: a range for each parameter that the command mentions. */
static void find_sizes(struct request *request) {
    if (request->n_sizes > 0)
        return;
    for (char *const *word = request->command; *word; word++)
        for (const char *at = *word; (at = strchr(at, '{')); at++) {
            size_t length = strcspn(at + 1, "}");
            if (at[1 + length] == '}' && length && isalpha((unsigned char)at[1]))
                *PM_PUSH(request, sizes) = pm_sprintf("%.*s=16:1024:16", (int)length, at + 1);
        }
}

/* The plan's runs, the largest of which is held out. */
static int plan(struct request *request, struct pm_error *err) {
    struct step step = step_of("plan");
    char *output = NULL;
    add(&step, "--format");
    add(&step, "json");
    for (size_t i = 0; i < request->n_sizes; i++) {
        add(&step, "-P");
        add(&step, request->sizes[i]);
    }
    if (request->most_time) {
        add(&step, "--time");
        add(&step, request->most_time);
    }
    add(&step, "-m");
    add(&step, request->on);
    add(&step, "--");
    add_all(&step, request->command);
    int status = take_step(&step, "which sizes to measure", &output);
    json_t *document = status == 0 ? json_loads(output, 0, NULL) : NULL,
           *runs = json_object_get(document, "runs");
    size_t n = json_array_size(runs);
    enum { FEWEST = 4 }; /* three for models, and one to try them on */
    if (status == 0 && n < FEWEST) {
        pm_fail(err,
                "the plan has %zu sizes, and models need three and one to try them on: give more "
                "with -P NAME=LOW:HIGH:STEP, or more --time",
                n);
        status = pm_complain(err);
    } else if (status == 0) {
        request->fitted = sizes_text(runs, 0, n - 1);
        request->held_out = sizes_text(runs, n - 1, n);
        printf("%s; then %s, to see how far off the models are\n", request->fitted,
               request->held_out);
    }
    json_decref(document);
    free(output);
    return status;
}

/* ---- the way --------------------------------------------------------------------------------- */

static int measure(const struct request *request) {
    struct step step = step_of("run");
    const char *const words[] = {"-o", request->store,  "-m", request->on,
                                 "-P", request->fitted, "--", NULL};
    add_all(&step, (char *const *)(uintptr_t)words);
    add_all(&step, request->command);
    return take_step(&step, "runs of these, counted", NULL);
}

static int fit(const struct request *request) {
    struct step step = step_of("fit");
    add(&step, request->store);
    return take_step(&step, "functions of the size", NULL);
}

static int validate(const struct request *request) {
    struct step step = step_of("validate");
    const char *const words[] = {"-s",       request->store,
                                 "--keep",   request->kept,
                                 "-m",       request->on,
                                 "-P",       request->held_out,
                                 "--caches", "512,16384",
                                 "--top",    "3",
                                 "--",       NULL};
    add_all(&step, (char *const *)(uintptr_t)words);
    add_all(&step, request->command);
    return take_step(&step, "how sure that is: a larger size that the models do not know", NULL);
}

static int report(const struct request *request) {
    struct step step = step_of("report");
    const char *const words[] = {"-m",           request->on,
                                 "-P",           request->to ? request->to : request->held_out,
                                 request->store, NULL};
    add_all(&step, (char *const *)(uintptr_t)words);
    return take_step(&step, "where the time goes", NULL);
}

static int write_page(const struct request *request) {
    struct step step = step_of("report");
    const char *const words[] = {"--as", "page",        "-m",           request->on,
                                 "-o",   request->page, request->store, NULL};
    add_all(&step, (char *const *)(uintptr_t)words);
    return take_step(&step, "all of it, for a browser", NULL);
}

static int go(struct request *request, struct pm_error *err) {
    int status = plan(request, err);
    if (status == 0)
        status = measure(request);
    if (status == 0)
        status = fit(request);
    if (status == 0)
        status = validate(request);
    if (status == 0)
        status = report(request);
    if (status == 0)
        status = write_page(request);
    if (status == 0)
        printf("\n%s has the runs and models, %s the page.\n", request->store, request->page);
    return status;
}

/* ---- the command line ------------------------------------------------------------------------ */

static bool add_size(void *to, char *value, struct pm_error *err) {
    struct request *request = to;
    (void)err;
    *PM_PUSH(request, sizes) = value;
    return true;
}

#define AT(field) offsetof(struct request, field)
static const struct pm_option options[] = {
    PM_ADDED(NULL, 'P', "NAME=LOW:HIGH[:STEP]", add_size, 0,
             "sizes that may be run (16:1024:16 of each {NAME})", .repeats = true),
    PM_TEXT("time", 0, "T", AT(most_time), "how long the runs may take: 90s, 10m (the default)"),
    PM_TEXT("to", 0, "NAME=VALUE[,...]", AT(to), "the size to report; else the largest that ran"),
    PM_TEXT("machine", 'm', "MACHINE", AT(machine),
            "the machine; else the nearest one that is described"),
    PM_OPTION_OUTPUT("NAME", AT(name), "NAME.pmdb and NAME.html; else as the program is called"),
    {0},
};

static const char *program_name(char *const *command) {
    char *launched = pm_launched_program(command); /* kept until the process ends */
    return pm_base_name(launched ? launched : command[0]);
}

static int run(const struct pm_command *self, int argc, char **argv) {
    struct request request = {0};
    struct pm_command_line line = {.command = self, .request = &request};
    struct pm_error err = {0};
    int status = pm_read_options(&line, argc, argv);
    request.command = line.arguments;
    if (status == 0 && line.n_arguments == 0)
        status = pm_usage_error(self->name, "give a command after --");
    if (status == 0)
        find_sizes(&request);
    if (status == 0 && request.n_sizes == 0)
        status = pm_usage_error(self->name, "no word of the command has a {NAME} for the size");
    if (status)
        return status;
    const char *name = request.name ? request.name : program_name(request.command);
    char *nearest = request.machine ? NULL : pm_core_here(true, &err);
    if (err.text[0])
        return pm_complain(&err);
    request.on = request.machine ? request.machine : nearest ? nearest : usual_machine;
    if (!request.machine)
        printf("# this machine was not probed; the nearest one that is described is %s (`pmodel "
               "probe -o here.conf`, then -m ./here.conf)\n",
               request.on);
    request.store = pm_sprintf("%s.pmdb", name);
    request.kept = pm_sprintf("%s.held-out.pmdb", name);
    request.page = pm_sprintf("%s.html", name);
    status = go(&request, &err);
    free(request.store);
    free(request.kept);
    free(request.page);
    free(request.fitted);
    free(request.held_out);
    free(request.sizes);
    free(nearest);
    return status;
}

const struct pm_command pm_command_go = {
    .name = "go",
    .purpose = "the whole way: sizes, runs, models, how sure they are, a report and a page",
    .usage = "[OPTION]... -- COMMAND [ARGUMENT]...",
    .examples = "pmodel go -- ./heat {N}    # {N}: the size",
    .options = options,
    .runs_program = true,
    .run = run,
};
