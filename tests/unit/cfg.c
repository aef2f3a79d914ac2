/* The control flow graph of compiled programs: jump tables in every form that GCC gives them, calls
   that do not return, indirect entries.  Compiles small C files with the compiler at hand. */
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

static char folder[] = "/tmp/pmodel-cfg-XXXXXX";

static const char *const source =
    "#include <setjmp.h>\n"
    "#include <stdlib.h>\n"
    "#include <stdio.h>\n"
    "int sink(int);\n"
    "__attribute__((noinline)) int sink(int x) { static volatile int s; s += x; return s; }\n"
    "__attribute__((noinline)) int choose(int k) {\n"
    "    switch (k) {\n"
    "    case 0: return sink(3); case 1: return sink(1) + 7; case 2: return sink(4) * 5;\n"
    "    case 3: sink(9); return 2; case 4: return sink(5) ^ 6; case 5: return sink(8) - 9;\n"
    "    case 6: return sink(7) << 2; case 7: return sink(2) / 3; default: return -1;\n"
    "    }\n"
    "}\n"
    "__attribute__((noinline)) void twice(const unsigned char *p, int n) {\n"
    "    for (int i = 0; i < n; i++) {\n"
    "        switch (p[i]) {\n"
    "        case 0: sink(1); break; case 1: sink(2); sink(2); break; case 2: sink(5); break;\n"
    "        case 3: sink(p[i + 1]); break; case 4: sink(77); sink(1); break;\n"
    "        case 5: sink(i); break; case 6: sink(n); break;\n"
    "        }\n"
    "        switch (p[i + 1]) {\n"
    "        case 10: sink(3); break; case 11: sink(4); sink(4); break; case 12: sink(6); break;\n"
    "        case 13: sink(p[i]); sink(0); break; case 14: sink(8); break;\n"
    "        case 15: sink(i + 1); break;\n"
    "        }\n"
    "    }\n"
    "}\n"
    "__attribute__((noinline)) static void die(int k) { sink(k); exit(k); }\n"
    "__attribute__((noinline)) int checked(int k) { if (k < 0) die(k); return sink(k) + 1; }\n"
    "__attribute__((noinline)) int maybe(int k) { int r = checked(k); return r * sink(r); }\n"
    "jmp_buf place;\n"
    "__attribute__((noinline)) int again(int k) {\n"
    "    if (setjmp(place)) return sink(k) + 1;\n"
    "    return sink(2 * k);\n"
    "}\n"
    "__attribute__((noinline)) int labels(const int *code) {\n"
    "    static void *const to[] = {&&a, &&b, &&c};\n"
    "    int s = 0;\n"
    "    goto *to[*code++];\n"
    "a:  s += sink(1); goto *to[*code++];\n"
    "b:  s ^= sink(2); goto *to[*code++];\n"
    "c:  return s;\n"
    "}\n"
    "__attribute__((noinline)) int pick(int k) {\n"
    "    void *volatile to = k > 3 ? &&a : &&b;\n"
    "    goto *to;\n"
    "a:  return sink(1) + 4;\n"
    "b:  return sink(2) * 3;\n"
    "}\n"
    "int (*hook)(int) = sink;\n"
    "__attribute__((noinline)) int forward(int k) { return hook(k + 1); }\n"
    /* The offset from the table waits on the stack, as in a switch in a loop that GCC hoists. */
    "__asm__(\".pushsection .text\\n.globl hoisted\\n.type hoisted, @function\\nhoisted:\\n\"\n"
    "        \"subq $24, %rsp\\nleaq 9f(%rip), %rax\\nmovslq (%rax,%rdi,4), %rax\\n\"\n"
    "        \"movq %rax, 8(%rsp)\\n0: movq 8(%rsp), %rsi\\nleaq 9f(%rip), %rax\\n\"\n"
    "        \"addq %rsi, %rax\\njmp *%rax\\n1: addq $24, %rsp\\nret\\n\"\n"
    "        \"2: movq $0, 8(%rsp)\\njmp 0b\\n.size hoisted, .-hoisted\\n.popsection\\n\"\n"
    "        \".pushsection .rodata\\n9: .long 1b-9b, 2b-9b\\n.popsection\");\n"
    /* Behind the return two lines of code that nothing reaches, the second a circle. */
    "__asm__(\".pushsection .text\\n.globl islands\\n.type islands, @function\\nislands:\\n\"\n"
    "        \"ret\\nincl %eax\\njmp 0f\\n0: ret\\n1: incl %eax\\njmp 2f\\n\"\n"
    "        \"2: decl %eax\\njmp 1b\\n.size islands, .-islands\\n.popsection\");\n"
    "int main(int argc, char **argv) {\n"
    "    static const int code[] = {0, 1, 2};\n"
    "    twice((unsigned char *)argv[0], argc);\n"
    "    return choose(argc) + maybe(argc) + again(argc) + labels(code) + pick(argc) +\n"
    "        forward(argc);\n"
    "}\n";

static struct pm_lifted *compile_and_lift(const char *flags) {
    char command[512], path[128];
    snprintf(path, sizeof path, "%s/program.c", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(source, file);
    fclose(file);
    snprintf(command, sizeof command, "gcc %s -w -o %s/program %s", flags, folder, path);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s/program", folder);
    struct pm_error err = {0};
    struct pm_lifted *lifted = pm_lift(path, NULL, &err);
    if (!lifted)
        fail_msg("%s", err.text);
    return lifted;
}

static const struct pm_routine *find(struct pm_lifted *lifted, const char *name) {
    struct pm_structure *structure = pm_lifted_structure(lifted);
    for (size_t i = 0; i < structure->n_routines; i++)
        if (strcmp(structure->routines[i].name, name) == 0)
            return &structure->routines[i];
    fail_msg("no routine %s", name);
    return NULL;
}

static unsigned count_edges(struct pm_lifted *lifted, const struct pm_routine *routine,
                            enum pm_edge_kind kind) {
    unsigned n = 0;
    for (uint32_t e = 0; e < routine->n_edges; e++)
        n += lifted->structure->edges[routine->first_edge + e].kind == kind;
    return n;
}

/* Every block has a way in and a way out; edges stay within their routine. */
static void check_graph(struct pm_lifted *lifted) {
    struct pm_structure *s = lifted->structure;
    uint8_t *in = calloc(s->n_blocks + 1, 1), *out = calloc(s->n_blocks + 1, 1);
    for (size_t i = 0; i < s->n_edges; i++) {
        const struct pm_edge *edge = &s->edges[i];
        const struct pm_routine *routine = &s->routines[edge->routine];
        assert_true(i >= routine->first_edge && i < routine->first_edge + routine->n_edges);
        assert_true(edge->from != PM_NONE || edge->to != PM_NONE);
        if (edge->from != PM_NONE) {
            assert_int_equal(s->blocks[edge->from].routine, edge->routine);
            out[edge->from] = 1;
        }
        if (edge->to != PM_NONE) {
            assert_int_equal(s->blocks[edge->to].routine, edge->routine);
            in[edge->to] = 1;
        }
    }
    for (size_t b = 0; b < s->n_blocks; b++) {
        assert_true(in[b] && out[b]);
        const struct pm_block_code *code = &lifted->block_codes[b];
        uint64_t bytes = 0;
        for (uint32_t k = 0; k < code->n_insns; k++) {
            bytes += lifted->insns[code->first_insn + k].length;
            assert_int_equal(lifted->insn_block[code->first_insn + k], b);
        }
        assert_int_equal(bytes, s->blocks[b].size_bytes);
        assert_int_equal(pm_block_at(lifted, s->blocks[b].address), b);
    }
    free(in);
    free(out);
}

static const struct pm_jump_table *table_in(struct pm_lifted *lifted,
                                            const struct pm_routine *routine, unsigned number) {
    uint32_t r = (uint32_t)(routine - lifted->structure->routines);
    for (size_t i = 0; i < lifted->n_tables; i++)
        if (pm_routine_at(lifted, lifted->insns[lifted->tables[i].insn].address) == r &&
            number-- == 0)
            return &lifted->tables[i];
    return NULL;
}

static void check_switches(const char *flags) {
    struct pm_lifted *lifted = compile_and_lift(flags);
    check_graph(lifted);
    const struct pm_routine *choose = find(lifted, "choose");
    const struct pm_jump_table *table = table_in(lifted, choose, 0);
    if (!table)
        fail_msg("no table with %s", flags);
    assert_int_equal(table->n_targets, 8);
    assert_int_equal(choose->state, PM_ROUTINE_LIFTED);
    assert_int_equal(count_edges(lifted, choose, PM_EDGE_TABLE), 8);
    const struct pm_routine *twice = find(lifted, "twice");
    assert_non_null(table_in(lifted, twice, 0));
    assert_non_null(table_in(lifted, twice, 1));
    assert_int_equal(twice->state, PM_ROUTINE_LIFTED);
    unsigned n = table_in(lifted, twice, 0)->n_targets + table_in(lifted, twice, 1)->n_targets;
    assert_int_equal(n, 7 + 6);
    pm_lifted_free(lifted);
}

static void switches_of_every_form(void **state) {
    (void)state;
    check_switches("-O0");
    check_switches("-O1");
    check_switches("-O2");
    check_switches("-Os");
    check_switches("-O3 -march=x86-64-v4 -funroll-loops");
    check_switches("-O0 -no-pie -fno-pie");
    check_switches("-O2 -no-pie -fno-pie");
    check_switches("-O2 -fcf-protection=none -fno-asynchronous-unwind-tables");
}

static void stripped_program_has_its_tables(void **state) {
    (void)state;
    struct pm_lifted *named = compile_and_lift("-O2"), *lifted = compile_and_lift("-O2 -s");
    check_graph(lifted);
    assert_true(named->n_tables >= 3);
    assert_int_equal(lifted->n_tables, named->n_tables);
    assert_int_equal(lifted->n_table_targets, named->n_table_targets);
    pm_lifted_free(named);
    pm_lifted_free(lifted);
}

static void calls_that_do_not_return(void **state) {
    (void)state;
    struct pm_lifted *lifted = compile_and_lift("-O1 -fno-ipa-pure-const");
    const struct pm_routine *die = find(lifted, "die"), *checked = find(lifted, "checked");
    assert_int_equal(count_edges(lifted, die, PM_EDGE_NO_RETURN), 1);
    assert_int_equal(count_edges(lifted, die, PM_EDGE_EXIT), 0);
    assert_int_equal(count_edges(lifted, checked, PM_EDGE_NO_RETURN), 1);
    const struct pm_routine *maybe = find(lifted, "maybe"), *sink = find(lifted, "sink");
    assert_int_equal(count_edges(lifted, maybe, PM_EDGE_NO_RETURN), 1);
    assert_int_equal(count_edges(lifted, maybe, PM_EDGE_FALLTHROUGH), 1);
    assert_int_equal(count_edges(lifted, sink, PM_EDGE_NO_RETURN), 0);
    assert_true(lifted->routine_codes[maybe - lifted->structure->routines].may_not_return);
    assert_false(lifted->routine_codes[sink - lifted->structure->routines].may_not_return);
    pm_lifted_free(lifted);
}

static void second_returns_and_labels_are_indirect_entries(void **state) {
    (void)state;
    struct pm_lifted *lifted = compile_and_lift("-O1");
    const struct pm_routine *again = find(lifted, "again"), *labels = find(lifted, "labels");
    assert_int_equal(count_edges(lifted, again, PM_EDGE_INDIRECT_ENTRY), 1);
    assert_int_equal(count_edges(lifted, again, PM_EDGE_ENTRY), 1);
    assert_int_equal(labels->state, PM_ROUTINE_LIFTED); /* an array of labels is a table */
    assert_true(count_edges(lifted, labels, PM_EDGE_TABLE) >= 3);
    const struct pm_routine *pick = find(lifted, "pick");
    assert_int_equal(pick->state, PM_ROUTINE_LIFTED); /* the two labels that its code takes */
    assert_int_equal(count_edges(lifted, pick, PM_EDGE_TABLE), 2);
    assert_int_equal(count_edges(lifted, pick, PM_EDGE_INDIRECT_ENTRY), 2);
    assert_true(lifted->routine_codes[pick - lifted->structure->routines].interior_references);
    pm_lifted_free(lifted);
}

static void blocks_that_nothing_reaches_are_indirect_entries(void **state) {
    (void)state;
    struct pm_lifted *lifted = compile_and_lift("-O1");
    const struct pm_routine *islands = find(lifted, "islands");
    assert_int_equal(islands->n_blocks, 5);
    assert_int_equal(count_edges(lifted, islands, PM_EDGE_ENTRY), 1);
    assert_int_equal(count_edges(lifted, islands, PM_EDGE_INDIRECT_ENTRY), 2);
    assert_int_equal(count_edges(lifted, islands, PM_EDGE_EXIT), 2);
    pm_lifted_free(lifted);
}

static void tail_call_through_pointer_is_no_mystery(void **state) {
    (void)state;
    struct pm_lifted *lifted = compile_and_lift("-O2");
    const struct pm_routine *forward = find(lifted, "forward");
    assert_int_equal(forward->state, PM_ROUTINE_LIFTED);
    assert_int_equal(count_edges(lifted, forward, PM_EDGE_EXIT), 1);
    assert_int_equal(find(lifted, "_start")->state, PM_ROUTINE_REFUSED);
    pm_lifted_free(lifted);
}

static void jump_with_a_frame_is_no_tail_call(void **state) {
    (void)state;
    struct pm_lifted *lifted = compile_and_lift("-O1");
    assert_int_equal(find(lifted, "hoisted")->state, PM_ROUTINE_PARTIAL);
    pm_lifted_free(lifted);
}

static void expect_failure(const char *path, const char *part) {
    struct pm_error err = {0};
    assert_null(pm_lift(path, NULL, &err));
    if (!strstr(err.text, part) || !strstr(err.text, path))
        fail_msg("message \"%s\" does not name %s and \"%s\"", err.text, path, part);
}

static void other_files_are_refused_with_a_sentence(void **state) {
    (void)state;
    char command[512], path[128];
    snprintf(path, sizeof path, "%s/program.c", folder);
    pm_lifted_free(compile_and_lift("-O1"));
    expect_failure(path, "not an ELF file");
    expect_failure("/nonexistent/file", "cannot open");
    expect_failure("/tmp", "not a regular file");
    snprintf(command, sizeof command,
             "cd %s && gcc -w -c -o program.o program.c && head -c 3000 program > cut && "
             "head -c 40 program > stump && gcc -w -static -o fixed program.c",
             folder);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s/program.o", folder);
    expect_failure(path, "relocatable object");
    snprintf(path, sizeof path, "%s/cut", folder);
    expect_failure(path, "truncated");
    snprintf(path, sizeof path, "%s/stump", folder);
    expect_failure(path, "truncated");
    snprintf(path, sizeof path, "%s/fixed", folder);
    struct pm_lifted *lifted = pm_lift(path, NULL, NULL);
    assert_non_null(lifted);
    assert_non_null(pm_lifted_refusal(lifted));
    assert_non_null(strstr(pm_lifted_refusal(lifted), "statically linked"));
    pm_lifted_free(lifted);
}

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(switches_of_every_form),
        cmocka_unit_test(stripped_program_has_its_tables),
        cmocka_unit_test(calls_that_do_not_return),
        cmocka_unit_test(second_returns_and_labels_are_indirect_entries),
        cmocka_unit_test(blocks_that_nothing_reaches_are_indirect_entries),
        cmocka_unit_test(tail_call_through_pointer_is_no_mystery),
        cmocka_unit_test(jump_with_a_frame_is_no_tail_call),
        cmocka_unit_test(other_files_are_refused_with_a_sentence),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
