/* How much of a core there is: less beside a process on the same CPU, which only slows. */
#define _GNU_SOURCE
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "machines/probe/clock/clock.h"

static void a_process_on_the_same_cpu_takes_its_part(void **state) {
    (void)state;
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    double alone = pm_core_share(0.2);
    pid_t other = fork();
    if (other == 0)
        for (volatile int i = 0;; i++)
            ;
    assert_true(other > 0);
    double beside = pm_core_share(0.5);
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    sched_setaffinity(0, sizeof before, &before);
    if (isnan(alone)) /* no loop for this ISA */
        return;
    assert_true(alone > 0 && alone <= 1);
    assert_true(beside > 0 && beside < 0.8); /* half of it, however busy the host is */
}

static void the_quietest_cpu_is_one_that_may_be_used(void **state) {
    (void)state;
    cpu_set_t allowed;
    double share;
    assert_int_equal(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    int cpu = pm_quietest_cpu(0.05, &share);
    assert_true(cpu == -1 || (CPU_ISSET(cpu, &allowed) && share > 0 && share <= 1));
    cpu_set_t after;
    sched_getaffinity(0, sizeof after, &after);
    assert_true(CPU_EQUAL(&allowed, &after));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_on_the_same_cpu_takes_its_part),
        cmocka_unit_test(the_quietest_cpu_is_one_that_may_be_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
