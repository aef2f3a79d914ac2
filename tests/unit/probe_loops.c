/* The loop runner on loops written by hand, of which it is known what they take on every x86-64
   processor, or why they cannot run on made-up data. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <xxhash.h>

#include "machines/probe/loop_runner/loop_runner.h"

/* AddressSanitizer has memory of its own where loops have theirs. */
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)

/* A loop that is never called, between labels. */
#define LOOP(name, body)                                                                           \
    __asm__(".pushsection .text\n .p2align 6\n" #name ":\n" body "\n" #name                        \
            "_end:\n ud2\n .popsection\n");                                                        \
    extern const uint8_t name[], name##_end[];

#define BYTES(name) ((uintptr_t)name##_end - (uintptr_t)name)

static struct pm_loop_time run_with(const uint8_t *bytes, size_t n_bytes,
                                    const struct pm_loop_options *options) {
    struct pm_loop_set *set = pm_loop_set_empty();
    struct pm_error err = {0};
    pm_loop_set_add(set, bytes, n_bytes, 0x1000);
    bool good = pm_loops_run(set, options, &err);
    if (!good)
        print_message("%s\n", err.text);
    assert_true(good);
    assert_int_equal(set->n_times, 1);
    struct pm_loop_time time = set->times[0];
    pm_loop_set_free(set);
    return time;
}

#define RUN(name) run_with(name, BYTES(name), NULL)

static double cycles_of(struct pm_loop_time time) {
    assert_string_equal(pm_loop_refusal_name(time.why), "ran");
    assert_true(time.cycles.low <= time.cycles.estimate);
    assert_true(time.cycles.estimate <= time.cycles.high);
    return time.cycles.estimate;
}

static void refused(struct pm_loop_time time, enum pm_loop_refusal why) {
    assert_string_equal(pm_loop_refusal_name(time.why), pm_loop_refusal_name(why));
}

/* ---- loops that run -------------------------------------------------------------------------- */

LOOP(chain, "imul %eax, %eax\n imul %eax, %eax\n imul %eax, %eax\n imul %eax, %eax\n"
            "dec %ecx\n jnz chain")
LOOP(independent, "imul %eax, %ebx\n imul %eax, %edx\n imul %eax, %esi\n imul %eax, %edi\n"
                  "dec %ecx\n jnz independent")

/* 3 cycles each, one after the other, on every x86-64 server; one a cycle if they are independent.
 */
static void a_chain_takes_the_sum_of_its_latencies(void **state) {
    (void)state;
    double dependent = cycles_of(RUN(chain));
    if (dependent < 11 || dependent > 13.5) /* once more: something else may have run */
        dependent = cycles_of(RUN(chain));
    assert_true(dependent > 11 && dependent < 13.5);
    assert_true(cycles_of(RUN(independent)) < dependent - 3);
}

LOOP(sums, "addsd (%rdi), %xmm0\n add $8, %rdi\n cmp %rsi, %rdi\n jb sums")
LOOP(loads, "movsd (%rdi), %xmm0\n add $8, %rdi\n cmp %rsi, %rdi\n jb loads")

static void a_sum_in_one_register_takes_longer_than_its_loads(void **state) {
    (void)state;
    assert_true(cycles_of(RUN(sums)) > cycles_of(RUN(loads)));
}

LOOP(recurrence, "movsd -8(%rdi), %xmm0\n addsd (%rsi), %xmm0\n movsd %xmm0, (%rdi)\n"
                 "add $8, %rdi\n add $8, %rsi\n dec %ecx\n jnz recurrence")
LOOP(two_arrays, "movsd -8(%rdx), %xmm0\n addsd (%rsi), %xmm0\n movsd %xmm0, (%rdi)\n"
                 "add $8, %rdi\n add $8, %rdx\n add $8, %rsi\n dec %ecx\n jnz two_arrays")

static void a_recurrence_of_the_code_is_kept_and_none_is_added(void **state) {
    (void)state;
    assert_true(cycles_of(RUN(recurrence)) > cycles_of(RUN(two_arrays)) + 1);
}

LOOP(exits, "mov (%rdi), %rax\n test %rax, %rax\n js exits_end\n cmp $7, %eax\n je exits_end\n"
            "ucomisd (%rdi), %xmm0\n ja exits_end\n add $8, %rdi\n jmp exits")
LOOP(never_taken_back, "mov (%rdi), %rax\n add $8, %rdi\n test %rax, %rax\n js never_taken_back")

static void branches_do_not_leave_the_loop_whatever_the_data_say(void **state) {
    (void)state;
    struct pm_loop_time time = RUN(exits);
    cycles_of(time);
    assert_int_equal(time.n_instructions, 9);
    assert_int_equal(time.n_bytes, BYTES(exits));
    assert_int_equal(time.hash, XXH64(exits, BYTES(exits), 0));
    cycles_of(RUN(never_taken_back));
}

LOOP(list, "mov 16(%rdi), %rdi\n test %rdi, %rdi\n jne list")
LOOP(indirect, "movslq (%rsi), %rax\n movsd (%rdi,%rax,8), %xmm0\n addsd %xmm0, %xmm1\n"
               "add $4, %rsi\n dec %ecx\n jnz indirect")
LOOP(rows, "mov (%rsi), %rax\n movsd (%rax,%rdx,8), %xmm0\n addsd %xmm0, %xmm1\n"
           "add $8, %rsi\n dec %ecx\n jnz rows")
LOOP(in_place_counter, "mov 8(%rsp), %rax\n mov (%rax), %edx\n add $64, %rax\n"
                       "mov %rax, 8(%rsp)\n cmp %rax, %rbx\n jne in_place_counter")

static void memory_holds_usable_pointers_and_indices(void **state) {
    (void)state;
    assert_true(cycles_of(RUN(list)) > 2.5); /* from load to load */
    cycles_of(RUN(indirect));
    cycles_of(RUN(rows));
    cycles_of(RUN(in_place_counter));
}

LOOP(aligned, "movaps 8(%rsp), %xmm0\n movaps %xmm0, 24(%rsp)\n dec %ecx\n jnz aligned")
LOOP(pushes, "push %rax\n push %rbx\n pop %rdx\n pop %rsi\n dec %ecx\n jnz pushes")
LOOP(frame, "mov %rsp, %rbp\n mov -8(%rbp), %rax\n xor %esp, %esp\n mov %rbp, %rsp\n"
            "dec %ecx\n jnz frame")

static void the_stack_pointer_is_a_register_as_others(void **state) {
    (void)state;
    cycles_of(RUN(aligned));
    cycles_of(RUN(pushes));
    cycles_of(RUN(frame));
}

LOOP(prefetches, "prefetcht0 256(%rdi)\n movsd (%rdi), %xmm0\n add $8, %rdi\n dec %ecx\n"
                 "jnz prefetches")
LOOP(counted, "add (%rdi), %rax\n loop counted")

static void other_instructions_run(void **state) {
    (void)state;
    cycles_of(RUN(prefetches));
    cycles_of(RUN(counted));
}

/* ---- loops that do not ----------------------------------------------------------------------- */

#define LOAD(page) "mov " #page "*4096(%rdi), %eax\n"
LOOP(many_pages, LOAD(0) LOAD(1) LOAD(2) LOAD(3) LOAD(4) LOAD(5) LOAD(6) LOAD(7) LOAD(8) LOAD(9)
                     LOAD(10) LOAD(11) LOAD(12) LOAD(13) LOAD(14) LOAD(15) LOAD(16) LOAD(17)
                         LOAD(18) LOAD(19) "dec %ecx\n jnz many_pages")
LOOP(calling, "call calling_end\n dec %ecx\n jnz calling")
LOOP(table, "jmp *(%rdi,%rax,8)\n dec %ecx\n jnz table")
LOOP(string, "rep movsb\n dec %ecx\n jnz string")
LOOP(stack_of_x87, "fld1\n fstp %st(0)\n dec %ecx\n jnz stack_of_x87")
LOOP(asks_the_system, "syscall\n dec %ecx\n jnz asks_the_system")
LOOP(spins, "pause\n cmp %eax, (%rdi)\n je spins")
LOOP(own_data, "mov %fs:0x28, %rax\n dec %ecx\n jnz own_data")
LOOP(by_zero, "xor %esi, %esi\n xor %edx, %edx\n div %esi\n dec %ecx\n jnz by_zero")
LOOP(no_way_back, "dec %ecx\n nop")
#define TRIPLE "lea (%rax,%rax,2), %rax\n"
LOOP(same_bins, "mov (%rsi), %rax\n" TRIPLE TRIPLE TRIPLE "add %rdx, (%rdi,%rax,8)\n"
                "add $8, %rsi\n dec %ecx\n jnz same_bins")

static void what_cannot_run_is_refused_with_its_reason(void **state) {
    (void)state;
    refused(RUN(many_pages), PM_LOOP_PAGES);
    refused(RUN(calling), PM_LOOP_CALLS);
    refused(RUN(table), PM_LOOP_INDIRECT_JUMP);
    refused(RUN(string), PM_LOOP_STRING);
    refused(RUN(stack_of_x87), PM_LOOP_X87);
    refused(RUN(asks_the_system), PM_LOOP_SYSTEM);
    refused(RUN(spins), PM_LOOP_SYSTEM);
    refused(RUN(own_data), PM_LOOP_SEGMENT);
    refused(RUN(by_zero), PM_LOOP_DIVIDES);
    refused(RUN(no_way_back), PM_LOOP_NO_PATH);
}

/* Indices that are scaled like that can be made up as small integers only, so that bins meet. */
static void stores_that_made_up_data_lead_to_loads_are_refused(void **state) {
    (void)state;
    refused(RUN(same_bins), PM_LOOP_ALIASES);
}

static void a_loop_that_takes_too_long_is_ended(void **state) {
    (void)state;
    struct pm_loop_options options = {.loop_seconds = 2e-3, .round_seconds = 20e-3};
    refused(run_with(chain, BYTES(chain), &options), PM_LOOP_TIME);
}

/* ---- many loops ------------------------------------------------------------------------------ */

static bool two_only(void *context, size_t done, size_t all) {
    (void)done;
    assert_int_equal(all, 4);
    return ++*(unsigned *)context < 2;
}

static void one_loop_does_not_end_the_others(void **state) {
    (void)state;
    struct pm_loop_set *set = pm_loop_set_empty();
    struct pm_error err = {0};
    pm_loop_set_add(set, by_zero, BYTES(by_zero), 0);
    pm_loop_set_add(set, chain, BYTES(chain), 0);
    pm_loop_set_add(set, many_pages, BYTES(many_pages), 0);
    pm_loop_set_add(set, chain, BYTES(chain), 0x40);
    assert_true(pm_loops_run(set, NULL, &err));
    refused(set->times[0], PM_LOOP_DIVIDES);
    refused(set->times[2], PM_LOOP_PAGES);
    cycles_of(set->times[1]);
    assert_true(set->times[3].cycles.estimate == set->times[1].cycles.estimate);
    pm_loop_set_free(set);
}

static void it_can_be_stopped(void **state) {
    (void)state;
    unsigned n = 0;
    struct pm_loop_options options = {.progress = two_only, .context = &n};
    struct pm_loop_set *set = pm_loop_set_empty();
    struct pm_error err = {0};
    pm_loop_set_add(set, by_zero, BYTES(by_zero), 0);
    pm_loop_set_add(set, sums, BYTES(sums), 0);
    pm_loop_set_add(set, chain, BYTES(chain), 0);
    pm_loop_set_add(set, independent, BYTES(independent), 0);
    assert_true(pm_loops_run(set, &options, &err));
    refused(set->times[0], PM_LOOP_DIVIDES);
    refused(set->times[3], PM_LOOP_STOPPED);
    pm_loop_set_free(set);
}

/* ---- basic blocks ---------------------------------------------------------------------------- */

static struct pm_loop_time run_block(const uint8_t *bytes, size_t n_bytes, enum pm_loop_form form) {
    enum { R15 = 15 };
    struct pm_loop_set *set = pm_loop_set_empty();
    struct pm_error err = {0};
    pm_loop_set_add_block(set, bytes, n_bytes, form, R15);
    bool good = pm_loops_run(set, NULL, &err);
    if (!good)
        print_message("%s\n", err.text);
    assert_true(good);
    struct pm_loop_time time = set->times[0];
    pm_loop_set_free(set);
    return time;
}

#define BLOCK(name, form) run_block(name, BYTES(name), form)

LOOP(block_chain, "imul %eax, %eax\n imul %eax, %eax\n imul %eax, %eax\n imul %eax, %eax")

/* Unrolled or in a loop, whose decrement is beside the chain. */
static void a_block_takes_the_sum_of_its_latencies_in_both_forms(void **state) {
    (void)state;
    static const enum pm_loop_form forms[] = {PM_LOOP_BLOCK, PM_LOOP_BLOCK_IN_LOOP};
    for (unsigned i = 0; i < 2; i++) {
        double cycles = cycles_of(BLOCK(block_chain, forms[i]));
        if (cycles < 11 || cycles > 13.5) /* once more: something else may have run */
            cycles = cycles_of(BLOCK(block_chain, forms[i]));
        assert_true(cycles > 11 && cycles < 13.5);
    }
}

LOOP(block_pointers, "mov (%rdi), %rax\n mov (%rax), %rcx\n mov %rcx, 8(%rsi)\n mov 8(%rcx), %rdx")

/* All registers and all words hold the same address, so that all is on one page. */
static void a_block_finds_addresses_in_registers_and_memory(void **state) {
    (void)state;
    struct pm_loop_time time = BLOCK(block_pointers, PM_LOOP_BLOCK);
    cycles_of(time);
    assert_int_equal(time.pages, 1);
    assert_int_equal(time.n_instructions, 4);
}

LOOP(block_far, "shl $40, %rdi\n mov (%rdi), %rax")
LOOP(block_of_pages, "mov (%rdi), %rax\n mov 0x1000(%rdi), %rax\n mov 0x2000(%rdi), %rax\n"
                     "mov 0x3000(%rdi), %rax\n mov 0x4000(%rdi), %rax\n mov 0x5000(%rdi), %rax\n"
                     "mov 0x6000(%rdi), %rax\n mov 0x7000(%rdi), %rax\n mov 0x8000(%rdi), %rax")
LOOP(block_division, "xor %ecx, %ecx\n div %ecx")

/* What a block begins with is given: nothing else is tried. */
static void a_block_that_faults_is_refused_with_its_reason(void **state) {
    (void)state;
    refused(BLOCK(block_far, PM_LOOP_BLOCK), PM_LOOP_ADDRESS);
    refused(BLOCK(block_of_pages, PM_LOOP_BLOCK_IN_LOOP), PM_LOOP_PAGES);
    refused(BLOCK(block_division, PM_LOOP_BLOCK), PM_LOOP_DIVIDES);
}

/* Of code that is alike only the first is run; a block in a loop is not like the same unrolled. */
static void the_forms_of_a_block_are_measured_apart(void **state) {
    (void)state;
    uint64_t unrolled = BLOCK(block_chain, PM_LOOP_BLOCK).hash;
    assert_true(unrolled != BLOCK(block_chain, PM_LOOP_BLOCK_IN_LOOP).hash);
    assert_true(unrolled == BLOCK(block_chain, PM_LOOP_BLOCK).hash);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_takes_the_sum_of_its_latencies),
        cmocka_unit_test(a_sum_in_one_register_takes_longer_than_its_loads),
        cmocka_unit_test(a_recurrence_of_the_code_is_kept_and_none_is_added),
        cmocka_unit_test(branches_do_not_leave_the_loop_whatever_the_data_say),
        cmocka_unit_test(memory_holds_usable_pointers_and_indices),
        cmocka_unit_test(the_stack_pointer_is_a_register_as_others),
        cmocka_unit_test(other_instructions_run),
        cmocka_unit_test(what_cannot_run_is_refused_with_its_reason),
        cmocka_unit_test(stores_that_made_up_data_lead_to_loads_are_refused),
        cmocka_unit_test(a_loop_that_takes_too_long_is_ended),
        cmocka_unit_test(one_loop_does_not_end_the_others),
        cmocka_unit_test(it_can_be_stopped),
        cmocka_unit_test(a_block_takes_the_sum_of_its_latencies_in_both_forms),
        cmocka_unit_test(a_block_finds_addresses_in_registers_and_memory),
        cmocka_unit_test(a_block_that_faults_is_refused_with_its_reason),
        cmocka_unit_test(the_forms_of_a_block_are_measured_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

/* Nothing can be run beside the sanitizer; a set of no loops needs no child. */
static void no_loops_are_no_error(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_loop_set *set = pm_loop_set_empty();
    assert_true(pm_loops_run(set, NULL, &err));
    assert_int_equal(set->n_times, 0);
    pm_loop_set_free(set);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_loops_are_no_error)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
