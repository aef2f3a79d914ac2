# Loop nests and their copies in a running program: output, what is recorded, what is executed. How long the copies take is
# for `make validate`.
# shellcheck shell=bash
. "$TOP/tests/lib.sh"
. "$TOP/tests/truth/tools.sh"

TRUTH_LIBRARIES=measure truth_tool bound_program && TRUTH_LIBRARIES=measure truth_tool bound_times || {
    fail "the tools that make copies and read times build"
    exit
}

# measured PROGRAM ARGUMENT...: its output as it is, while it is recorded, and with copies (plain, recorded, bounded); its nests
# and their times (nests, times).
measured() {
    local program=$1 runtime=$BUILD/lib/pmodel/libpmodel-rt.so
    shift
    rm -rf raw && mkdir -p raw/recorded raw/bounded
    "./$program" "$@" >plain &&
        ./bound_program "./$program" "$runtime" "$program.recorded" recorded.file &&
        PMODEL_OUT=$PWD/raw/recorded PMODEL_BOUND=$PWD/recorded.file "./$program.recorded" "$@" >recorded &&
        ./bound_program "./$program" "$runtime" "$program.bounded" bounded.file raw/recorded/*.raw >nests &&
        PMODEL_OUT=$PWD/raw/bounded PMODEL_BOUND=$PWD/bounded.file "./$program.bounded" "$@" >bounded &&
        ./bound_times raw/bounded/*.raw >times
}
# NUMBER EXECUTIONS SAMPLED OVER FAULTS WITHOUT …
all_sampled() { awk '$2 != $3 || $4 || $5 || $6 { print; bad = 1 } END { exit bad || NR == 0 }' times; }
# Copies may end with their trip counts where several nests call one routine.
no_faults() { awk '$2 != $3 || $5 || $6 { print; bad = 1 } END { exit bad || NR == 0 }' times; }
same_output() { cmp plain recorded && cmp plain bounded; }

for flags in "-O3 -march=x86-64-v3" "-O2" "-O1 -fno-omit-frame-pointer" "-O0"; do
    # shellcheck disable=SC2086 # several words
    gcc $flags -g -o kernels "$TOP/tests/truth/bound_kernels.c"
    check "kernels, $flags: copies are made and run" measured kernels 3000 20
    check "kernels, $flags: the output is the plain program's" same_output
    check "kernels, $flags: each execution has its copy" all_sampled
done

masks=
grep -qw avx512bw /proc/cpuinfo && masks=-DMASKS
for flags in "-O3 -march=x86-64-v3" "-O2" "-O1 -fno-omit-frame-pointer"; do
    # shellcheck disable=SC2086 # several words
    gcc $flags $masks -g -o calls "$TOP/tests/truth/bound_calls.c" -lm
    check "nests that call, $flags: copies are made and run" measured calls 3000 20
    check "nests that call, $flags: the output is the plain program's" same_output
    check "nests that call, $flags: no copy faults" no_faults
done
for routine in stack_arrays many_arguments through_pointers two_levels decides; do
    check "$routine: its loop is a nest with what it calls" grep -q " $routine " nests
done
check "recursion is no nest" sh -c '! grep -q " recursion " nests'

for run in "heat 12" "cg 8 2" "fft 256 2" "multigrid 16 2" "adi 8 1" "ssor 8 1" "sweep 8 1"; do
    read -ra words <<<"$run"
    truth_app "${words[0]}" && check "$run: copies are made and run" measured "${words[@]}"
    check "$run: the output is the plain program's" same_output
    check "$run: each execution has its copy" no_faults
done

cat >faults.c <<'END'
#include <stdio.h>
#include <stdlib.h>
/* The divisors of all repetitions but the first are others: replayed, the copy divides by what it had
   at first, and the branch that guards against zero goes as it went. */
__attribute__((noinline)) static long divide(const long *a, const long *b, long n) {
    long sum = 0;
    for (long i = 0; i < n; i++)
        if (b[i])
            sum += a[i] / b[i];
    return sum;
}
int main(void) {
    long n = 1000, *a = calloc((size_t)n, sizeof *a), *b = calloc((size_t)n, sizeof *b), sum = 0;
    for (long i = 0; i < n; i++)
        a[i] = 1000 * i;
    for (long repetition = 0; repetition < 5; repetition++) {
        for (long i = 0; i < n; i++)
            b[i] = (i + repetition) % 3;
        sum += divide(a, b, n);
    }
    printf("%ld\n", sum);
    return 0;
}
END
gcc -O2 -g -o faults faults.c
check "a division by a loaded value: copies are made and run" measured faults
check "a division by a loaded value: the output is the plain program's" same_output

cat >threads.c <<'END'
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    enum { N = 4000, TIMES = 50 };
    static double a[8][N];
    double sum = 0;
#pragma omp parallel for num_threads(8) schedule(static, 1)
    for (int t = 0; t < 8; t++)
        for (int k = 0; k < TIMES; k++)
            for (int i = 1; i < N; i++)
                a[t][i] = 0.5 * a[t][i - 1] + (i + t) % 7;
    for (int t = 0; t < 8; t++)
        for (int i = 0; i < N; i++)
            sum += a[t][i];
    printf("%.17g\n", sum);
    return 0;
}
END
gcc -O2 -g -fopenmp -o threads threads.c
check "eight threads: copies are made and run" measured threads
check "eight threads: the output is the plain program's" same_output
check "eight threads: each execution has its copy" all_sampled
