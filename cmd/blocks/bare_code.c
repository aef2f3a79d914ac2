/* Bare loop bodies (bare_code.h): the system's assembler makes an object of them.

   The text stands in a routine of its own between a label and a jump back to it.  Where the body
   has a way back of its own, the loop found in it is the one that counts, and the jump is taken as
   given; else the jump is no part of the loop. */
#include <ctype.h>
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/blocks/bare_code.h"

extern char **environ;

static const char *const compilers[] = {"gcc", "cc", "clang"};
static const char routine[] = "bare";

void pm_bare_code_free(struct pm_bare_code *code) {
    if (code->path)
        unlink(code->path);
    if (code->folder) {
        char *source = pm_sprintf("%s/bare.s", code->folder);
        unlink(source);
        free(source);
        rmdir(code->folder);
    }
    free(code->path);
    free(code->folder);
    *code = (struct pm_bare_code){0};
}

/* ---- the text -------------------------------------------------------------------------------- */

static bool put_hex(FILE *out, const char *hex, struct pm_error *err) {
    unsigned n_digits = 0;
    char pair[3] = "";
    for (const char *at = hex; *at; at++) {
        if (at[0] == '0' && (at[1] == 'x' || at[1] == 'X')) {
            at++;
            continue;
        }
        if (isspace((unsigned char)*at) || *at == ',' || *at == '\\' || *at == 'x')
            continue;
        if (!isxdigit((unsigned char)*at))
            return pm_fail(err, "--hex takes bytes as hexadecimal digits, not \"%c\"", *at);
        pair[n_digits++ % 2] = *at;
        if (n_digits % 2 == 0)
            fprintf(out, "\t.byte 0x%s\n", pair);
    }
    if (n_digits == 0 || n_digits % 2)
        return pm_fail(err, "--hex takes whole bytes, two digits each");
    return true;
}

static bool put_file(FILE *out, const char *path, struct pm_error *err) {
    char buffer[4096];
    size_t n;
    FILE *in = fopen(path, "re");
    if (!in)
        return pm_fail_errno(err, "%s: cannot be read", path);
    while ((n = fread(buffer, 1, sizeof buffer, in)) > 0)
        fwrite(buffer, 1, n, out);
    fclose(in);
    fputc('\n', out);
    return true;
}

/* The routine around the body; a no-op before it, so that the loop is not headed by the entry. */
static bool put_text(FILE *out, const char *assembler, const char *hex, struct pm_error *err) {
    fprintf(out,
            "\t.text\n\t.globl %s\n\t.type %s, @function\n%s:\n\tnop\n\t.p2align 6\n"
            ".Lbare_begin:\n",
            routine, routine, routine);
    bool ok = hex ? put_hex(out, hex, err) : put_file(out, assembler, err);
    fprintf(out,
            "\t.text\nbare_closing:\n\tjmp .Lbare_begin\n\t.size %s, . - %s\n"
            "\t.section .note.GNU-stack,\"\",@progbits\n",
            routine, routine);
    return ok;
}

/* ---- the file -------------------------------------------------------------------------------- */

static bool assemble(const char *source, const char *to, struct pm_error *err) {
    for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++) {
        char *const argv[] = {
            (char *)(uintptr_t)compilers[i], "-shared", "-nostdlib", "-o", (char *)(uintptr_t)to,
            (char *)(uintptr_t)source,       NULL};
        pid_t child;
        int status;
        if (posix_spawnp(&child, compilers[i], NULL, NULL, argv, environ))
            continue;
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            ;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
            return true;
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 127)
            return pm_fail(err, "the loop could not be assembled (`%s` says why)", compilers[i]);
    }
    return pm_fail(err, "there is no assembler: install gcc, which --asm and --hex use");
}

static bool begin(struct pm_bare_code *code, struct pm_error *err) {
    const char *temporary = getenv("TMPDIR");
    *code = (struct pm_bare_code){
        .folder = pm_sprintf("%s/pmodel-XXXXXX", temporary && *temporary ? temporary : "/tmp")};
    if (mkdtemp(code->folder))
        return true;
    pm_fail_errno(err, "%s: cannot be made", code->folder);
    free(code->folder);
    code->folder = NULL;
    return false;
}

struct bare_text {
    const char *assembler, *hex;
    struct pm_error *err;
    bool good;
};

static void put_bare(FILE *out, void *context) {
    struct bare_text *text = context;
    text->good = put_text(out, text->assembler, text->hex, text->err);
}

bool pm_bare_code_make(const char *assembler, const char *hex, struct pm_bare_code *code,
                       struct pm_error *err) {
    struct bare_text text = {assembler, hex, err, true};
    return pm_bare_code_assemble(put_bare, &text, code, err) && text.good;
}

bool pm_bare_code_assemble(void (*put)(FILE *out, void *context), void *context,
                           struct pm_bare_code *code, struct pm_error *err) {
    if (!begin(code, err))
        return false;
    char *source = pm_sprintf("%s/bare.s", code->folder);
    code->path = pm_sprintf("%s/bare.so", code->folder);
    FILE *out = fopen(source, "we");
    bool ok = out != NULL || pm_fail_errno(err, "%s: cannot be written", source);
    if (ok)
        put(out, context);
    if (out && fclose(out))
        ok = pm_fail_errno(err, "%s: cannot be written", source);
    ok = ok && !err->text[0] && assemble(source, code->path, err);
    free(source);
    return ok;
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* Takes the jump at the end of a basic block away, of 2 or 5 bytes; false: there is none. */
static bool trim_block(struct pm_structure *structure, uint32_t number) {
    struct pm_block *block = &structure->blocks[number];
    if (block->n_ops == 0 ||
        structure->ops[block->first_op + block->n_ops - 1].op_class != PM_OP_JUMP)
        return false;
    if (block->n_ops > 1) {
        block->n_ops--;
        block->n_instructions--;
        block->size_bytes -= block->size_bytes > 127 ? 5 : 2;
    }
    return true;
}

bool pm_bare_code_trim(const struct pm_bare_code *code, struct pm_structure *structure,
                       struct pm_error *err) {
    uint32_t n_loops = 0, outer = PM_NONE;
    (void)code;
    for (uint32_t s = 0; s < structure->n_scopes; s++)
        if (structure->scopes[s].kind == PM_SCOPE_LOOP) {
            n_loops++;
            outer = outer == PM_NONE ? s : outer;
        }
    if (n_loops == 0)
        return pm_fail(err, "there is no loop in this code, and none can be made of it");
    if (n_loops > 1)
        return true; /* its own; the one that was added is around it */
    for (uint32_t b = (uint32_t)structure->n_blocks; b-- > 0;)
        if (structure->blocks[b].loop == outer && trim_block(structure, b))
            break;
    return true;
}

void pm_bare_code_trim_all(struct pm_structure *structure) {
    for (uint32_t b = 0; b < structure->n_blocks; b++)
        if (structure->blocks[b].loop != PM_NONE)
            trim_block(structure, b);
}
