/* `pmodel doctor`: what of pmodel works on this system, what does not, and how to mend it.

   What can be tried is tried: compilers compile a few lines with the plugin, and pmodel measures
   the program that they make.  Nothing is changed; files are made in a temporary folder only. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/options.h"
#include "measure/timing/timing.h"

struct health {
    PM_ARRAY(struct pm_health_check, checks);
    char *folder;  /* temporary */
    char *plugin;  /* NULL: it is not there */
    char *program; /* marked, made by a compiler here; NULL: none could */
};

/* FOUND and MEND are taken over. */
static void add(struct health *health, const char *name, enum pm_health state, char *found,
                char *mend) {
    *PM_PUSH(health, checks) = (struct pm_health_check){name, (uint8_t)state, found, mend};
}

/* ---- running things -------------------------------------------------------------------------- */

/* Runs ARGV with its output in OUT (freed by the caller, without the last line end); the exit
   status, or -1 if it could not be run or did not end by itself. */
static int run(char *const *argv, char **out) {
    int ends[2];
    *out = pm_strdup("");
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        int nothing = open("/dev/null", O_RDONLY);
        dup2(nothing, STDIN_FILENO);
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        execvp(argv[0], argv);
        _exit(127);
    }
    close(ends[1]);
    char buffer[4096];
    for (ssize_t n; child > 0 && (n = read(ends[0], buffer, sizeof buffer)) > 0;)
        pm_append(out, "%.*s", (int)n, buffer);
    close(ends[0]);
    int status = -1;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    for (size_t n = strlen(*out); n > 0 && (*out)[n - 1] == '\n';)
        (*out)[--n] = '\0';
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static char *first_line(const char *text) {
    return pm_sprintf("%.*s", (int)strcspn(text, "\n"), text);
}

/* Does what TRY does, in a process of its own, succeed? */
static bool works_in_child(bool (*try)(void)) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(try() ? 0 : 1);
    int status = 1;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

/* ---- the machine ----------------------------------------------------------------------------- */

static bool has_flag(const char *flags, const char *flag) {
    size_t length = strlen(flag);
    for (const char *at = flags; at && (at = strstr(at, flag)); at += length)
        if ((at == flags || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

static void check_processor(struct health *health) {
    static const char *const vectors[] = {"avx2", "fma", "avx512f", "avx512_fp16", "amx_tile"};
    struct utsname system;
    uname(&system);
    if (strcmp(system.machine, "x86_64") != 0) {
        add(health, "processor", PM_HEALTH_LIMITED, pm_strdup(system.machine),
            pm_strdup("programs can be measured on x86-64 only; stores that were measured there "
                      "are read, fitted and reported here as well"));
        return;
    }
    char *model = pm_processor_says("model name"), *flags = pm_processor_says("flags");
    char *found =
        pm_sprintf("%s, %ld cores", model ? model : "x86-64", sysconf(_SC_NPROCESSORS_ONLN));
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        if (has_flag(flags, vectors[i]))
            pm_append(&found, ", %s", vectors[i]);
    bool is_virtual = has_flag(flags, "hypervisor");
    if (is_virtual)
        pm_append(&found, "; a virtual machine");
    add(health, "processor", PM_HEALTH_FINE, found,
        is_virtual ? pm_strdup("virtual machines often report wrong caches and clocks; `pmodel "
                               "probe -o here.conf` measures them, and -m ./here.conf uses them")
                   : NULL);
    free(model);
    free(flags);
}

static void check_system(struct health *health) {
    struct utsname system;
    uname(&system);
    add(health, "system", PM_HEALTH_FINE, pm_sprintf("%s %s", system.sysname, system.release),
        NULL);
}

static bool make_namespace(void) {
    uid_t uid = getuid();
    if (unshare(CLONE_NEWNS) == 0)
        return true;
    return uid != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0;
}

static void check_namespaces(struct health *health) {
    if (works_in_child(make_namespace))
        add(health, "mount namespaces", PM_HEALTH_FINE, pm_strdup("they can be made"), NULL);
    else
        add(health, "mount namespaces", PM_HEALTH_LIMITED, pm_strdup("the system refuses them"),
            pm_strdup("the instrumented copy then lies beside the program while it runs, so the "
                      "program's folder must be writable, and the program must find its files "
                      "whatever its own name is; `sysctl kernel.unprivileged_userns_clone=1` (or "
                      "a container with CAP_SYS_ADMIN) allows them"));
}

static void check_room(struct health *health) {
    enum { LITTLE_MIB = 512 };
    struct statvfs room;
    if (statvfs(health->folder, &room) != 0)
        return;
    double mib = (double)room.f_bavail * (double)room.f_frsize / (1 << 20);
    add(health, "room for temporary files", mib < LITTLE_MIB ? PM_HEALTH_LIMITED : PM_HEALTH_FINE,
        pm_sprintf("%.0f MiB in %s", mib, getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp"),
        mib < LITTLE_MIB ? pm_strdup("copies of large programs and their results may not fit: name "
                                     "another folder with TMPDIR")
                         : NULL);
}

/* ---- this installation ----------------------------------------------------------------------- */

/* "libsqlite3.so.0.8.6, …": the libraries in this very process that pmodel is linked with. */
static char *linked_libraries(void) {
    static const char *const names[] = {"libdw",      "libZydis",   "libcapstone",
                                        "libgsl.",    "libsqlite3", "libconfuse",
                                        "libjansson", "libzstd",    "libxxhash"};
    FILE *maps = fopen("/proc/self/maps", "r");
    char *line = NULL, *found = pm_strdup("");
    size_t size = 0;
    while (maps && getline(&line, &size, maps) > 0) {
        char *file = strrchr(line, '/');
        if (!file)
            continue;
        file[strcspn(file, "\n")] = '\0';
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (strncmp(file + 1, names[i], strlen(names[i])) == 0 && !strstr(found, file + 1))
                pm_append(&found, "%s%s", *found ? ", " : "", file + 1);
    }
    free(line);
    if (maps)
        fclose(maps);
    return found;
}

static void check_installation(struct health *health) {
    struct pm_error err = {0};
    struct pm_copies_request request = {0};
    char **names = NULL;
    size_t n_names = 0, n_bad = 0;
    add(health, "libraries", PM_HEALTH_FINE, linked_libraries(), NULL);
    if (pm_find_instrumenting(&request, &err))
        add(health, "runtime library", PM_HEALTH_FINE, pm_strdup("it is there"), NULL);
    else
        add(health, "runtime library", PM_HEALTH_BROKEN, pm_strdup(err.text),
            pm_strdup("without it nothing can be measured: install pmodel again"));
    char *mend = NULL;
    bool ok = pm_machine_names(&names, &n_names, &err);
    for (size_t i = 0; i < n_names; i++) {
        struct pm_machine *machine = pm_find_machine(names[i], NULL, 0, NULL, &err);
        n_bad += !machine;
        if (!machine)
            pm_append(&mend, "%s%s", mend ? "; " : "", err.text);
        pm_machine_free(machine);
        free(names[i]);
    }
    free(names);
    if (!ok)
        mend = pm_strdup(err.text);
    add(health, "machine files",
        !ok     ? PM_HEALTH_BROKEN
        : n_bad ? PM_HEALTH_LIMITED
                : PM_HEALTH_FINE,
        pm_sprintf("%zu, of which %zu cannot be read", n_names, n_bad), mend);
}

/* ---- compilers and the plugin ---------------------------------------------------------------- */

/* The versions of GCC whose plugin bodies are here: "12". */
static char *plugin_versions(const char *plugin) {
    char *folder = pm_sprintf("%.*s", (int)(strrchr(plugin, '/') - plugin), plugin);
    DIR *entries = opendir(folder);
    char *versions = pm_strdup("");
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        int major = 0, length = 0;
        if (sscanf(entry->d_name, "pmodel-%d.so%n", &major, &length) == 1 && length &&
            !entry->d_name[length])
            pm_append(&versions, "%s%d", *versions ? ", " : "", major);
    }
    if (entries)
        closedir(entries);
    free(folder);
    return versions;
}

static void check_plugin(struct health *health) {
    struct pm_error err = {0};
    health->plugin = pm_library_path("pmodel.so", &err);
    char *versions = health->plugin ? plugin_versions(health->plugin) : pm_strdup("");
    bool fine = *versions;
    add(health, "plugin", fine ? PM_HEALTH_FINE : PM_HEALTH_LIMITED,
        fine             ? pm_sprintf("for GCC %s", versions)
        : health->plugin ? pm_strdup("for no compiler")
                         : pm_strdup(err.text),
        fine
            ? NULL
            : pm_strdup("programs can be measured without it, with less known of data and strides; "
                        "`make` builds it where GCC's plugin headers are installed"));
    free(versions);
}

struct compiler {
    const char *name, *ending, *source;
};

static const char c_source[] = "double a[4096];\n"
                               "int main(int argc, char **argv) {\n"
                               "    double sum = 0;\n"
                               "    for (int pass = 0; pass < argc; pass++)\n"
                               "        for (int i = 0; i < 4096; i++)\n"
                               "            sum += a[i] += argv[0][0];\n"
                               "    return sum == 0.5;\n"
                               "}\n";
static const struct compiler compilers[] = {
    {"gcc", "c", c_source},
    {"g++", "cc", c_source},
    {"gfortran", "f90", "program p\n  print *, 1\nend program\n"},
};

/* Compiles the compiler's few lines to TO with EXTRA (NULL none); the compiler's complaint in OUT.
 */
static bool compile(const struct health *health, const struct compiler *compiler, char *extra,
                    char *to, char **out) {
    char *source = pm_sprintf("%s/tried.%s", health->folder, compiler->ending);
    FILE *file = fopen(source, "w");
    bool written = file && fputs(compiler->source, file) >= 0;
    written = file && fclose(file) == 0 && written;
    char *argv[] = {(char *)(uintptr_t)compiler->name, "-O2", "-g", "-o", to, source, extra, NULL};
    bool ok = written && run(argv, out) == 0;
    unlink(source);
    free(source);
    return ok;
}

static void check_compiler(struct health *health, const struct compiler *compiler) {
    char *version = NULL, *complaint = NULL;
    char *argv[] = {(char *)(uintptr_t)compiler->name, "--version", NULL};
    int status = run(argv, &version);
    char *found = status == 0 ? first_line(version) : pm_strdup("not found");
    char *program = pm_sprintf("%s/tried-%s", health->folder, compiler->ending);
    char *flag = health->plugin ? pm_sprintf("-fplugin=%s", health->plugin) : NULL;
    enum pm_health state = PM_HEALTH_FINE;
    char *mend = NULL;
    if (status != 0) {
        state = PM_HEALTH_LIMITED;
        mend = pm_sprintf("programs in its language cannot be built here%s",
                          compiler == compilers ? "; apt-get install gcc-12 gcc" : "");
    } else if (flag && !compile(health, compiler, flag, program, &complaint)) {
        char *line = first_line(complaint);
        state = PM_HEALTH_LIMITED;
        mend = pm_sprintf("with the plugin it does not compile (%s); use the version that the "
                          "plugin is for, as in `gcc-12`, or build without `pmodel flags`: then "
                          "less is known of data and strides",
                          line);
        free(line);
    }
    add(health, compiler->name, state, found, mend);
    if (!health->program && access(program, X_OK) == 0)
        health->program = pm_strdup(program);
    free(complaint);
    free(version);
    free(program);
    free(flag);
}

static void check_clang(struct health *health) {
    char *version = NULL;
    char *argv[] = {"clang", "--version", NULL};
    if (run(argv, &version) == 0)
        add(health, "clang", PM_HEALTH_LIMITED, first_line(version),
            pm_strdup("its programs are measured as any program with -g, without the plugin: "
                      "strides come from the machine code alone"));
    free(version);
}

/* ---- measuring ------------------------------------------------------------------------------- */

static void check_measuring(struct health *health) {
    struct pm_error err = {0};
    if (!health->program) {
        const struct compiler *c = &compilers[0];
        char *program = pm_sprintf("%s/tried-plain", health->folder), *complaint = NULL;
        if (compile(health, c, NULL, program, &complaint))
            health->program = pm_strdup(program);
        free(complaint);
        free(program);
    }
    if (!health->program) {
        add(health, "measuring", PM_HEALTH_LIMITED, pm_strdup("not tried, for want of a program"),
            pm_strdup("`pmodel run -o a.pmdb -- PROGRAM` tries one of yours"));
        return;
    }
    char *store = pm_sprintf("%s/tried.pmdb", health->folder), *out = NULL;
    char *argv[] = {"/proc/self/exe", "run", "-q", "-o", store, "--", health->program, NULL};
    int status = run(argv, &out);
    char *line = first_line(out);
    struct pm_store *opened = status == 0 ? pm_store_open(store, PM_STORE_READ, &err) : NULL;
    if (opened)
        add(health, "measuring", PM_HEALTH_FINE, pm_strdup("a few lines of code were measured"),
            NULL);
    else
        add(health, "measuring", PM_HEALTH_BROKEN,
            pm_strdup(*line ? line : "a few lines of code could not be measured"),
            pm_strdup("containers may forbid what instrumented programs need (a segment base of "
                      "their own, set with arch_prctl, and memory that is executable): try "
                      "outside of it, or with its default seccomp profile switched off"));
    pm_store_close(opened);
    unlink(store);
    free(line);
    free(out);
    free(store);
}

static void check_programs(struct health *health) {
    static const struct {
        const char *name, *option, *for_what;
    } programs[] = {{"dot", "-V", "`pmodel loops --svg` (apt-get install graphviz)"},
                    {"man", "--version", "`man pmodel-run` (apt-get install man-db)"}};
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        char *out = NULL;
        char *argv[] = {(char *)(uintptr_t)programs[i].name, (char *)(uintptr_t)programs[i].option,
                        NULL};
        bool there = run(argv, &out) == 0;
        add(health, programs[i].name, there ? PM_HEALTH_FINE : PM_HEALTH_LIMITED,
            there ? first_line(out) : pm_strdup("not found"),
            there ? NULL : pm_sprintf("needed for %s only", programs[i].for_what));
        free(out);
    }
}

/* ---- the command ----------------------------------------------------------------------------- */

static void examine(struct health *health) {
    check_system(health);
    check_processor(health);
    check_installation(health);
    check_plugin(health);
    for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++)
        check_compiler(health, &compilers[i]);
    check_clang(health);
    check_namespaces(health);
    check_room(health);
    check_measuring(health);
    check_programs(health);
}

static void clean_up(struct health *health) {
    for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++) {
        char *program = pm_sprintf("%s/tried-%s", health->folder, compilers[i].ending);
        unlink(program);
        free(program);
    }
    char *plain = pm_sprintf("%s/tried-plain", health->folder);
    unlink(plain);
    free(plain);
    rmdir(health->folder);
    for (size_t i = 0; i < health->n_checks; i++) {
        free(health->checks[i].found);
        free(health->checks[i].mend);
    }
    free(health->checks);
    free(health->folder);
    free(health->plugin);
    free(health->program);
}

static const struct pm_option options[] = {PM_OPTIONS_TABLES(0), {0}};

static int examine_system(const struct pm_command *self, int argc, char **argv) {
    struct pm_report_options show = pm_default_report_options();
    struct pm_command_line line = {.command = self, .request = &show};
    struct pm_error err = {0};
    struct health health = {0};
    int status = pm_read_options(&line, argc, argv);
    if (status == 0 && line.n_arguments)
        status = pm_usage_error("doctor", "unexpected argument \"%s\"", line.arguments[0]);
    if (status)
        return status;
    const char *temporary = getenv("TMPDIR");
    health.folder =
        pm_sprintf("%s/pmodel-doctor-XXXXXX", temporary && *temporary ? temporary : "/tmp");
    if (!mkdtemp(health.folder)) {
        pm_fail_errno(&err, "cannot make a folder in %s (TMPDIR names another one)",
                      temporary && *temporary ? temporary : "/tmp");
        free(health.folder);
        return pm_complain(&err);
    }
    examine(&health);
    pm_report_health(stdout, health.checks, health.n_checks, &show);
    for (size_t i = 0; i < health.n_checks; i++)
        if (health.checks[i].state == PM_HEALTH_BROKEN)
            status = PM_EXIT_SYSTEM;
    clean_up(&health);
    return status;
}

const struct pm_command pm_command_doctor = {
    .name = "doctor",
    .purpose = "what of pmodel works on this system, and how to mend the rest",
    .usage = "[OPTION]...",
    .examples = "pmodel doctor    # what works here, and what to do about the rest",
    .options = options,
    .run = examine_system,
};
