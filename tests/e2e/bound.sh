# `pmodel bound`: what is said about a program's lower bounds, from its command line to its formats. How long copies take
# is for `make validate`; that they do what the nests do, e2e/bounds.
# shellcheck shell=bash
. "$TOP/tests/lib.sh"

cat >sums.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static double a[1 << 20], b[1 << 20];
__attribute__((noinline)) static void add(int n, double by) {
    for (int i = 0; i < n; i++)
        a[i] += by * b[i];
}
__attribute__((noinline)) static double sum(int n) {
    double all = 0;
    for (int i = 0; i < n; i++)
        all += a[i];
    return all;
}
__attribute__((noinline)) static double call(double (*volatile f)(double), int n) {
    double all = 0;
    for (int i = 0; i < n; i++)
        all += f(a[i]);
    return all;
}
static double half(double x) { return x / 2; }
int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 1000, end = argc > 2 ? atoi(argv[2]) : 0;
    if (end == 2 && fork() > 0)
        wait(NULL);
    for (int k = 0; k < 30; k++) {
        b[k] = k;
        add(n, 0.5);
        a[0] += sum(n) / n + call(half, n);
    }
    printf("%g\n", a[0]);
    fflush(stdout);
    if (end == 1)
        raise(SIGTERM);
    return 0;
}
END
gcc -O2 -g -o sums sums.c
cat >plain.c <<'END'
int main(void) { return 0; }
END
gcc -O2 -o plain plain.c
bound() { pmodel bound -q --threshold 0 "$@" 2>err; }

./sums 100000 >plain.out
check "a program is bounded" sh -c 'pmodel bound -q -o sums.pmdb --threshold 0 -- ./sums 100000 >table 2>program.out'
check "the program's own output is on standard error, as it is" sh -c 'grep -qx -f plain.out program.out'
check "the table has the program and its loops" sh -c 'grep -q "^ program " table && grep -q "^ add/1" table && grep -q "^ sum/1" table'
check "what cannot be bounded says why" sh -c 'pmodel bound -q --loops call --format json -- ./sums 1000 2>err |
    jq -e ".nests == [.nests[0]] and .nests[0].refusal == \"calls other routines\""'
check "it says how much has a bound, and what it cost" grep -q "of the time in loops has a bound" table

check "JSON has all of it" sh -c 'pmodel bound --format json sums.pmdb >json && jq -e "
    .format == \"pmodel-bounds\" and .version == 1 and .instructions > 1e6 and .bound_seconds <= .plain_seconds * 1.5 and
    (.nests | map(select(.refusal == null)) | length >= 2 and all(.bound_seconds > 0 and .sampled > 0 and .instructions > 0)) and
    (.nests | map(select(.refusal != null)) | all(.bound_seconds == null))" json'
check "instructions of a cycle are what it says they are" jq -e '.nests[] | select(.refusal == null)
    | .instructions_per_cycle > 0.05 and .instructions_per_cycle < 12' json
check "CSV has a row for each" sh -c 'pmodel bound --format csv sums.pmdb >csv && [ "$(wc -l <csv)" -eq "$(jq ".nests | length + 2" json)" ]'
check "CSV's rows have as many fields as its head" sh -c 'awk -F, "NR == 1 { n = NF } NF < n { exit 1 }" csv'

check "a report of the store has a column" sh -c 'pmodel report -m sapphire-rapids sums.pmdb >report && grep -q "LOWER BOUND" report'
check "and a field" sh -c 'pmodel report -m sapphire-rapids --format json sums.pmdb |
    jq -e "[.predictions[0].rows[] | select(.lower_bound_seconds != null)] | length >= 2"'

check "--threshold leaves out what takes less" sh -c 'pmodel bound -q --threshold 100 --format json -- ./sums 100000 2>err | jq -e ".nests == []"'
check "--loops chooses" sh -c 'pmodel bound -q --loops sum,sums.c:100 --format json -- ./sums 1000 2>err >chosen; grep -q "no loop is called sums.c:100" err'
check "--loops: a routine" sh -c 'pmodel bound -q --loops "su*" --format json -- ./sums 1000 2>err | jq -e ".nests | length == 1 and .[0].name == \"sum\""'
check "--loops: a loop" sh -c 'pmodel bound -q --loops add/1 --format json -- ./sums 1000 2>err | jq -e ".nests | length == 1 and .[0].name == \"add\""'
check "--every samples" sh -c 'pmodel bound -q --loops add --every 10 --format json -- ./sums 1000 2>err |
    jq -e ".nests[0] | .executions == 30 and .sampled == 3"'

check "several builds" sh -c 'gcc -O1 -g -o slow sums.c && pmodel bound -q -o slow.pmdb -- ./slow 100000 >out 2>err &&
    pmodel bound sums.pmdb slow.pmdb >builds && grep -q "^ slow.pmdb" builds && grep -q "best lower bound" builds'
check "several builds as JSON" sh -c 'pmodel bound --format json sums.pmdb slow.pmdb |
    jq -e ".format == \"pmodel-bound-builds\" and (.builds | length == 2) and .best_seconds <= .builds[1].seconds"'

check "a program without a loop" sh -c 'pmodel bound -q --format json -- ./plain >none 2>err && jq -e ".nests == []" none'
check "two processes: that which did more" sh -c 'pmodel bound -q --format json -- ./sums 100000 2 >two 2>err && jq -e ".nests | length >= 1" two'

expect_error "a program that a signal ends" 2 'signal|SIGTERM' pmodel bound -- ./sums 1000 1
expect_error "no command" 2 'give a command' pmodel bound
expect_error "a share that is none" 2 'threshold takes a percentage' pmodel bound --threshold 200 -- ./sums
expect_error "builds" 2 'several builds' pmodel bound --build 'make' -- ./sums
expect_error "no loop of that name" 2 'no loop is called nothing' pmodel bound --loops nothing -- ./sums
expect_error "a store and a program" 2 'is a store' pmodel bound sums.pmdb ./sums
expect_error "a store to write and one to read" 2 'read only' pmodel bound -o new.pmdb sums.pmdb
pmodel run -q --no-memory -o counts.pmdb -- ./sums 1000 >out
expect_error "a store without bounds" 2 'no lower bounds' pmodel bound counts.pmdb
