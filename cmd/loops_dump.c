/* `pmodel loops --dump` and `--svg`: what passes made, as text, for Graphviz, and as a drawing that
   `dot` of Graphviz lays out. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "binlift/binlift.h"
#include "cmd/cmd.h"
#include "cmd/loops_dump.h"

/* More basic blocks take `dot` minutes, and nobody reads them. */
enum { MOST_DRAWN_BLOCKS = 500, MOST_LAYOUT_SECONDS = 120, STATUS_NOT_FOUND = 127 };

int pm_dump_program(const char *path, const struct pm_dump_request *request) {
    struct pm_lift_options options = {.ignore_metadata = request->ignore_metadata,
                                      .end = (uint8_t)pm_dump_needs(request->pass)};
    struct pm_error err = {0};
    struct pm_lifted *lifted =
        pm_find_classes(&options, &err) ? pm_lift(path, &options, &err) : NULL;
    bool done =
        lifted && pm_dump(lifted, request->pass, request->format, request->routine, stdout, &err);
    pm_lifted_free(lifted);
    return done ? PM_EXIT_OK : pm_complain(&err);
}

/* ---- drawing --------------------------------------------------------------------------------- */

/* In the child: becomes `dot`, from GRAPH to DRAWN, with an end to its patience. */
static void become_dot(FILE *graph, FILE *drawn) {
    struct rlimit limit = {MOST_LAYOUT_SECONDS, MOST_LAYOUT_SECONDS};
    setrlimit(RLIMIT_CPU, &limit);
    if (dup2(fileno(graph), STDIN_FILENO) >= 0 && dup2(fileno(drawn), STDOUT_FILENO) >= 0)
        execlp("dot", "dot", "-Tsvg", (char *)NULL);
    _exit(errno == ENOENT ? STATUS_NOT_FOUND : 1);
}

static bool lay_out(FILE *graph, FILE *drawn, struct pm_error *err) {
    int status = 0;
    if (fflush(graph) != 0 || fseek(graph, 0, SEEK_SET) != 0)
        return pm_fail_errno(err, "cannot write a temporary file");
    pid_t child = fork();
    if (child < 0)
        return pm_fail_errno(err, "cannot start dot of Graphviz");
    if (child == 0)
        become_dot(graph, drawn);
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return pm_fail_errno(err, "cannot wait for dot of Graphviz");
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    if (WIFEXITED(status) && WEXITSTATUS(status) == STATUS_NOT_FOUND)
        return pm_fail(err,
                       "--svg needs the command `dot` of Graphviz, which is not in PATH: install "
                       "it (on Debian the package graphviz), or take `--dump loops "
                       "--dump-format dot` elsewhere");
    if (WIFSIGNALED(status))
        return pm_fail(err,
                       "dot of Graphviz did not finish within %d s or crashed (%s); "
                       "`--max-blocks` with a smaller number draws the loops alone",
                       MOST_LAYOUT_SECONDS, strsignal(WTERMSIG(status)));
    return pm_fail(err, "dot of Graphviz failed; its message stands above");
}

static bool copy_to_stdout(FILE *from, struct pm_error *err) {
    char bytes[65536];
    rewind(from);
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, from)) > 0;)
        fwrite(bytes, 1, n, stdout);
    return !ferror(from) || pm_fail_errno(err, "cannot read a temporary file");
}

int pm_draw_routine(const char *path, const struct pm_draw_request *request) {
    struct pm_lift_options options = {.ignore_metadata = request->ignore_metadata,
                                      .end = PM_LIFT_SCOPES};
    struct pm_drawing drawing = {.instructions = request->instructions,
                                 .max_blocks =
                                     request->max_blocks ? request->max_blocks : MOST_DRAWN_BLOCKS};
    struct pm_error err = {0};
    bool coarse = false, done = false;
    FILE *graph = tmpfile(), *drawn = tmpfile();
    struct pm_lifted *lifted = NULL;
    if (!graph || !drawn)
        pm_fail_errno(&err, "cannot make a temporary file");
    else if ((lifted = pm_lift(path, &options, &err)))
        done = pm_draw(lifted, request->routine, &drawing, graph, &coarse, &err) &&
               lay_out(graph, drawn, &err) && copy_to_stdout(drawn, &err);
    pm_lifted_free(lifted);
    if (graph)
        fclose(graph);
    if (drawn)
        fclose(drawn);
    if (!done)
        return pm_complain(&err);
    if (coarse)
        fprintf(stderr,
                "pmodel: %s has more than %u basic blocks, so only its loops are drawn "
                "(--max-blocks N draws more)\n",
                request->routine, drawing.max_blocks);
    return PM_EXIT_OK;
}
