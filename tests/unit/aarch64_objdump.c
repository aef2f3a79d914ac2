/* AArch64 programs against what objdump reads in them: every instruction is there, has the control
   flow and target that the text says, names the registers that the text names and no other, and
   has a class; direct targets within a routine start basic blocks.  The programs are the cross
   compiler's: examples at several levels, with scalable vectors and atomics, and a C library. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "binlift/binlift.h"
#include "binlift/lifted.h"

#define COMPILER "aarch64-linux-gnu-gcc-12"
#define C_LIBRARY "/usr/aarch64-linux-gnu/lib/libc.so.6"

static char folder[] = "/tmp/pmodel-a64-XXXXXX";

static struct pm_lifted *lift(const char *path) {
    struct pm_error err;
    struct pm_lift_options options = {.classes_folder = "machines"};
    struct pm_lifted *lifted = pm_lift(path, &options, &err);
    if (!lifted)
        fail_msg("%s", err.text);
    return lifted;
}

static struct pm_lifted *compile(const char *flags, const char *source) {
    char command[512], path[128];
    snprintf(path, sizeof path, "%s/program", folder);
    snprintf(command, sizeof command, COMPILER " %s -o %s %s -lm", flags, path, source);
    assert_int_equal(system(command), 0);
    return lift(path);
}

/* What does not agree is counted, and the first few are shown. */
static unsigned n_differences;

#define DIFFER(...)                                                                                \
    do {                                                                                           \
        if (n_differences++ < 20)                                                                  \
            print_message(__VA_ARGS__);                                                            \
    } while (0)

/* ---- objdump's text ------------------------------------------------------------------------- */

struct named { /* registers that the text names */
    uint32_t general, vector, predicate;
    bool has_scalable;
};

static unsigned number_at(const char *text) { return (unsigned)strtoul(text, NULL, 10); }

/* A register's name at TEXT, which begins a word; SP is number 31, the zero register none. */
static void add_name(const char *text, struct named *named) {
    size_t digits = strspn(text + 1, "0123456789");
    bool is_numbered = digits > 0 && !isalnum((unsigned char)text[1 + digits]);
    unsigned number = is_numbered ? number_at(text + 1) : 0;
    if (strncmp(text, "sp", 2) == 0 || strncmp(text, "wsp", 3) == 0)
        named->general |= UINT32_C(1) << 31;
    else if (!is_numbered || number > 31 || text[2 + digits] == '<') /* b30 <symbol> */
        return;
    else if (*text == 'x' || *text == 'w')
        named->general |= UINT32_C(1) << number;
    else if (*text == 'p')
        named->predicate |= UINT32_C(1) << number;
    else if (strchr("bhsdqvz", *text))
        named->vector |= UINT32_C(1) << number;
    named->has_scalable |= is_numbered && *text == 'z';
}

/* {v0.8h-v3.8h}: those in between. */
static void add_list(const char *text, struct named *named) {
    const char *open = strchr(text, '{'), *dash = open ? strchr(open, '-') : NULL;
    if (!dash || !isalpha((unsigned char)dash[1]))
        return;
    for (unsigned i = number_at(open + 2); i != number_at(dash + 2); i = (i + 1) % 32)
        named->vector |= UINT32_C(1) << i;
}

static struct named names_in(const char *operands) {
    struct named named = {0};
    bool in_word = false;
    for (const char *at = operands; *at && *at != '<' && strncmp(at, "//", 2) != 0; at++) {
        bool is_word = isalnum((unsigned char)*at) || *at == '_' || *at == '#';
        if (is_word && !in_word && *at != '#')
            add_name(at, &named);
        in_word = is_word || *at == '.';
    }
    add_list(operands, &named);
    return named;
}

struct line {
    uint64_t address;
    char mnemonic[32];
    const char *operands; /* in the line that was read */
};

static bool read_line(char *text, struct line *line) {
    char *end;
    line->address = strtoull(text, &end, 16);
    if (*end != ':' || end == text || !isspace((unsigned char)*text))
        return false;
    char *word = end + 1 + strspn(end + 1, " \t");
    size_t length = strcspn(word, " \t\n");
    snprintf(line->mnemonic, sizeof line->mnemonic, "%.*s", (int)length, word);
    line->operands = word + length;
    return length > 0;
}

/* ---- one instruction ------------------------------------------------------------------------ */

static bool is_one_of(const char *name, const char *const *names) {
    for (; *names; names++) {
        size_t length = strlen(*names);
        bool is_prefix = (*names)[length - 1] == '*';
        if (is_prefix ? strncmp(name, *names, length - 1) == 0 : strcmp(name, *names) == 0)
            return true;
    }
    return false;
}

static enum pm_control control_of(const struct line *line) {
    static const char *const branches[] = {"b.*", "cbz", "cbnz", "tbz", "tbnz", NULL};
    static const char *const stops[] = {"brk", "hlt", NULL};
    if (is_one_of(line->mnemonic, branches))
        return PM_CONTROL_BRANCH;
    if (is_one_of(line->mnemonic, stops))
        return PM_CONTROL_STOP;
    if (strcmp(line->mnemonic, "b") == 0)
        return PM_CONTROL_JUMP;
    if (strcmp(line->mnemonic, "bl") == 0)
        return PM_CONTROL_CALL;
    if (strcmp(line->mnemonic, "br") == 0)
        return PM_CONTROL_JUMP_INDIRECT;
    if (strcmp(line->mnemonic, "blr") == 0)
        return PM_CONTROL_CALL_INDIRECT;
    if (strcmp(line->mnemonic, "ret") == 0)
        return PM_CONTROL_RETURN;
    return PM_CONTROL_NONE;
}

/* The address before `<symbol>`. */
static uint64_t target_of(const struct line *line) {
    const char *symbol = strchr(line->operands, '<');
    const char *at = symbol;
    while (at && at > line->operands + 1 && isxdigit((unsigned char)at[-2]))
        at--;
    return at ? strtoull(at - 1, NULL, 16) : 0;
}

static void check_control(const struct pm_lifted *lifted, const struct line *line, uint32_t k) {
    const struct pm_insn *insn = &lifted->insns[k];
    enum pm_control control = control_of(line);
    if (insn->control != control)
        DIFFER("0x%llx: %s has control %u\n", (unsigned long long)line->address, line->mnemonic,
               insn->control);
    bool is_direct =
        control == PM_CONTROL_BRANCH || control == PM_CONTROL_JUMP || control == PM_CONTROL_CALL;
    if (insn->target != (is_direct ? target_of(line) : 0))
        DIFFER("0x%llx: %s goes to 0x%llx\n", (unsigned long long)line->address, line->mnemonic,
               (unsigned long long)insn->target);
    bool stays = is_direct && control != PM_CONTROL_CALL &&
                 pm_routine_at(lifted, insn->target) == pm_routine_at(lifted, insn->address);
    if (stays && pm_block_at(lifted, insn->target) == PM_NONE)
        DIFFER("0x%llx: no basic block starts at its target\n", (unsigned long long)line->address);
}

/* Registers that an instruction uses without naming them. */
static struct named unnamed(const struct line *line) {
    static const char *const links[] = {"bl", "blr", "ret", "retaa", "retab", NULL};
    static const char *const signs[] = {"hint", "pac*", "aut*", "ret*", NULL};
    static const char *const pairs[] = {"casp*", NULL};
    struct named named = {0};
    if (is_one_of(line->mnemonic, links))
        named.general |= UINT32_C(1) << 30;
    if (is_one_of(line->mnemonic, signs))
        named.general |= UINT32_C(3) << 30 | UINT32_C(3) << 16;
    if (is_one_of(line->mnemonic, pairs))
        named.general |= UINT32_MAX;
    if (strcmp(line->mnemonic, "svc") == 0)
        named.general |= 0x13f;
    return named;
}

static void check_registers(const struct pm_lifted *lifted, const struct line *line, uint32_t k) {
    const struct pm_registers *registers = lifted->insns[k].registers;
    struct named text = names_in(line->operands), more = unnamed(line);
    uint32_t general = (uint32_t)(registers->uses.general | registers->defs.general);
    uint32_t vector = (uint32_t)(registers->uses.vector | registers->defs.vector);
    uint32_t predicate =
        (uint32_t)((registers->uses.general | registers->defs.general) >> 40 & 0xffff);
    if (text.general & ~general || general & ~(text.general | more.general))
        DIFFER("0x%llx: general registers %08x of %s %s\n", (unsigned long long)line->address,
               general, line->mnemonic, line->operands);
    /* Of scalable vectors the fields that are no registers are not all told apart. */
    if (text.vector & ~vector || (!text.has_scalable && vector & ~text.vector))
        DIFFER("0x%llx: vector registers %08x of %s %s\n", (unsigned long long)line->address,
               vector, line->mnemonic, line->operands);
    if (text.predicate & ~predicate)
        DIFFER("0x%llx: predicates %04x of %s %s\n", (unsigned long long)line->address, predicate,
               line->mnemonic, line->operands);
}

/* A load or store by its name. */
static void check_memory(const struct pm_lifted *lifted, const struct line *line, uint32_t k) {
    static const char *const loads[] = {"ld*", NULL};
    static const char *const both[] = {"cas*",   "swp*",   "ldadd*",  "ldclr*",  "ldeor*",
                                       "ldset*", "ldsm*",  "ldum*",   "stadd*",  "stclr*",
                                       "steor*", "stset*", "stsmax*", "stumax*", NULL};
    static const char *const stores[] = {"st*", NULL};
    static const char *const tags[] = {"ldg", "stg", "st2g", "ldgm", "stgm", NULL};
    const struct pm_insn *insn = &lifted->insns[k];
    unsigned access = is_one_of(line->mnemonic, tags)     ? 0
                      : is_one_of(line->mnemonic, both)   ? PM_ACCESS_BOTH
                      : is_one_of(line->mnemonic, loads)  ? PM_ACCESS_LOAD
                      : is_one_of(line->mnemonic, stores) ? PM_ACCESS_STORE
                                                          : 0;
    unsigned found = insn->n_memory ? insn->memory[0].access : 0;
    if (found != access)
        DIFFER("0x%llx: access %u of %s %s\n", (unsigned long long)line->address, found,
               line->mnemonic, line->operands);
}

/* ---- a program ------------------------------------------------------------------------------ */

static void compare(struct pm_lifted *lifted, size_t at_least) {
    char command[512], text[1024];
    size_t n = 0;
    n_differences = 0;
    snprintf(command, sizeof command,
             "aarch64-linux-gnu-objdump -d --no-show-raw-insn -M no-aliases %s",
             lifted->image.path);
    FILE *objdump = popen(command, "r");
    assert_non_null(objdump);
    while (fgets(text, sizeof text, objdump)) {
        struct line line;
        if (!read_line(text, &line))
            continue;
        uint32_t routine = pm_routine_at(lifted, line.address);
        if (routine == PM_NONE || lifted->structure->routines[routine].state == PM_ROUTINE_REFUSED)
            continue;
        uint32_t k = pm_insn_at(lifted, line.address);
        if (k == PM_NONE)
            fail_msg("no instruction at 0x%llx", (unsigned long long)line.address);
        check_control(lifted, &line, k);
        check_registers(lifted, &line, k);
        check_memory(lifted, &line, k);
        n++;
    }
    assert_int_equal(pclose(objdump), 0);
    assert_int_equal(n_differences, 0);
    assert_int_equal(n, lifted->n_insns);
    assert_true(n >= at_least);
    for (size_t i = 0; i < lifted->structure->n_unknowns; i++)
        print_message("without a class: %s\n", lifted->structure->unknowns[i].mnemonic);
    assert_int_equal(lifted->structure->n_unknowns, 0);
    pm_lifted_free(lifted);
}

static void the_c_library(void **state) {
    (void)state;
    compare(lift(C_LIBRARY), 200000);
}

static void examples_at_every_level(void **state) {
    (void)state;
    static const char *const flags[] = {"-O0", "-O1", "-O2", "-O3", "-Os", "-O3 -funroll-loops"};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        compare(compile(flags[i], "bench/apps/heat/heat.c"), 300);
}

static void examples_with_scalable_vectors(void **state) {
    (void)state;
    static const char *const sources[] = {"heat", "fft", "matmul", "cg", "multigrid"};
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        char source[64];
        snprintf(source, sizeof source, "bench/apps/%s/%s.c", sources[i], sources[i]);
        if (access(source, R_OK) == 0)
            compare(compile("-O3 -march=armv8.2-a+sve -ffast-math", source), 300);
    }
}

static void atomics(void **state) {
    (void)state;
    static const char *const text =
        "#include <stdatomic.h>\n"
        "_Atomic long a; _Atomic int b; _Atomic char c; _Atomic short d;\n"
        "int main(int n, char **v) { (void)v; long old = n; int other = n;\n"
        "  a += n; b -= n; c |= n; d ^= n; b &= n; old = atomic_exchange(&a, old);\n"
        "  atomic_compare_exchange_strong(&a, &old, n);\n"
        "  atomic_compare_exchange_weak(&b, &other, n);\n"
        "  return (int)old + other + atomic_load(&c) + atomic_fetch_add(&d, n); }\n";
    char path[128];
    snprintf(path, sizeof path, "%s/atomics.c", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    compare(compile("-O2 -march=armv8.1-a", path), 50);
    compare(compile("-O2 -march=armv8.3-a -mbranch-protection=standard", path), 50);
    compare(compile("-O2 -mno-outline-atomics", path), 50);
}

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    char command[64];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_c_library),
        cmocka_unit_test(examples_at_every_level),
        cmocka_unit_test(examples_with_scalable_vectors),
        cmocka_unit_test(atomics),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
