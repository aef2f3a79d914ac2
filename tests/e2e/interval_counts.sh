# Intervals of `pmodel run --interval`: executions of every basic block in each are those that
# callgrind counts, which writes and zeroes its counts at the same calls; whatever way control takes,
# counts and reuse distances of all intervals are the run's.
. "$TOP/tests/lib.sh"

# Several routines on the call path, recursion, a loop that gets shorter from step to step, tail calls.
cat >steps.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#define OUT_OF_LINE __attribute__((noinline, noclone))
static double a[4096];
static volatile int sink;
OUT_OF_LINE void synchronise(int k) { sink = k; }
OUT_OF_LINE static double row(int k, int n) {
    double s = 0;
    for (int j = k; j < n; j++) {
        a[j] = a[j] * 0.5 + k;
        s += a[j];
    }
    return s;
}
OUT_OF_LINE static int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
OUT_OF_LINE static void recurse(int depth, int n) {
    row(depth, n);
    if (depth == 0) {
        synchronise(-1);
        return;
    }
    recurse(depth - 1, n);
    synchronise(depth);
    row(0, depth);
}
OUT_OF_LINE static void tail(int k) {
    if (k & 1)
        row(1, k);
    synchronise(k);
}
int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 50;
    double s = 0;
    for (int k = 0; k < n; k++) { /* as in a triangular solver */
        s += row(k, n);
        if (k % 10 == 0)
            s += fibonacci(5);
        synchronise(k);
    }
    recurse(3, n);
    for (int k = 0; k < 7; k++)
        tail(k);
    printf("%g\n", s);
    return 0;
}
END
gcc -O2 -g -no-pie -o steps steps.c
valgrind --tool=callgrind --dump-instr=yes --dump-line=no --compress-pos=no --compress-strings=no \
    --dump-before=synchronise --callgrind-out-file=by_callgrind ./steps 50 >/dev/null 2>valgrind.err
check "run: intervals go into the store" \
    pmodel run -q --no-memory --interval synchronise -o steps.pmdb -P N=50 -- ./steps '{N}'
pmodel show --as intervals steps.pmdb -o steps.json
check "each interval has the executions that callgrind counts in it" \
    python3 "$TOP/tests/truth/interval_counts.py" steps.json by_callgrind
check "the kinds: call paths of both ends" sh -c "
    jq -r '.runs[].kinds[] | \"\(.begin_name) | \(.end_name) | \(.intervals_of_kind)\"' steps.json >kinds
    grep -qx 'main:[0-9]* synchronise | main:[0-9]* synchronise | 49' kinds &&
    grep -qx -- '- | main:[0-9]* synchronise | 1' kinds"
check "csv: a line for each edge" sh -c "
    pmodel show --as intervals steps.pmdb --format csv >steps.csv &&
    [ \$(jq '[.runs[].kinds[].rows[].edges[]] | length' steps.json) = \$((\$(wc -l <steps.csv) - 1)) ]"
check "a run that is there is not made again" sh -c \
    "pmodel run --no-memory --interval synchronise -o steps.pmdb -P N=50 -- ./steps '{N}' 2>&1 |
        grep -q '1 were there already'"
check "more intervals than rows: neighbours are joined" sh -c "
    pmodel run -q --no-memory --interval synchronise -o steps.pmdb -P N=1000 -- ./steps '{N}' >/dev/null &&
    pmodel show --as intervals steps.pmdb -P N=1000 |
        jq -e '[.runs[].kinds[] | select(.intervals_of_kind == 999)][0].rows |
            length <= 128 and ([.[].intervals] | add) == 999'"

# Ways out of the ordinary.  A note says where counts do not add up; sums of reuse distances are compared here.
cp "$TOP/tests/truth/interval_ways.c" ways.c
gcc -O2 -g -o ways ways.c
# adds_up TITLE WAY OPTION...
adds_up() {
    local title=$1 way=$2
    shift 2
    rm -f ways.pmdb
    check "$title: measured" pmodel run -q "$@" --exe ./ways --interval synchronise --interval-memory -o ways.pmdb \
        -P N=1 -- sh -c "./ways $way {N} || true" || return
    check "$title: counts and reuse distances add up to the run's" sh -c "
        sqlite3 ways.pmdb 'SELECT notes FROM run' | grep -q 'add up' && exit 1
        sqlite3 ways.pmdb 'SELECT a.scope_group, a.block_bytes FROM
            (SELECT scope_group, block_bytes, sum(accesses) AS n, sum(cold) AS c FROM histogram GROUP BY 1, 2) AS a
            LEFT JOIN (SELECT scope_group, block_bytes, sum(accesses) AS n, sum(cold) AS c FROM interval_histogram
                GROUP BY 1, 2) AS b USING (scope_group, block_bytes)
            WHERE a.n IS NOT b.n OR a.c IS NOT b.c' >differ
        [ ! -s differ ] && [ \$(sqlite3 ways.pmdb 'SELECT count(*) FROM interval_histogram') -gt 0 ]"
}
adds_up "longjmp out of intervals" longjmp
adds_up "intervals in a signal's handler" signal
adds_up "threads, whose numbers are used again" threads
adds_up "fork" fork
adds_up "exec, one that fails too" exec
adds_up "exit below several routines" exit
adds_up "the analysis beside the program" many --second-core
adds_up "checkpoints" many --checkpoint 1
adds_up "measuring is switched" switch --start-at begin_here --stop-after end_here
adds_up "abort" abort --keep-partial
check "threads: each has its intervals" sh -c "
    pmodel run -q --no-memory --interval synchronise -o threads.pmdb -- ./ways threads &&
    [ \$(sqlite3 threads.pmdb 'SELECT count(DISTINCT thread) FROM interval') = 4 ]"

# What is refused.
expect_error "a name that nothing calls" 2 "calls no routine of this name" \
    pmodel run -q --interval synchronise,absent -o x.pmdb -- ./steps
printf '# none of these\nabsent\n' >names
expect_error "a file whose names nothing calls" 2 "calls none of the routines that it names" \
    pmodel run -q --interval ./names -o x.pmdb -- ./steps
printf 'synchron*  # a pattern\nabsent\n' >names
check "a file of which one name is called" pmodel run -q --no-memory --interval ./names -o x.pmdb -- ./steps
expect_error "builds have other calls" 2 "build excludes --interval" \
    pmodel run -q --build true --interval synchronise -o y.pmdb -- ./steps
expect_error "no reuse distances to attribute" 2 "interval-memory and --(no-memory|sample|shared) exclude each other" \
    pmodel run -q --no-memory --interval synchronise --interval-memory -o y.pmdb -- ./steps
expect_error "export: a run without intervals" 2 "has no intervals" sh -c \
    "pmodel run -q --no-memory -o z.pmdb -- ./steps && pmodel show --as intervals z.pmdb"

# MPI, in C and Fortran: the calls that communicate end intervals without being named.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
    OMPI_MCA_hwloc_base_binding_policy=none
OMPI_CC=gcc mpicc.openmpi -O2 -g -no-pie -march=x86-64-v2 -o cg_mpi "$TOP/bench/apps/cg_mpi/cg_mpi.c" -lm
# Built for CPUs that valgrind knows.
OMPI_FC=gfortran mpif90.openmpi -O2 -g -no-pie -march=x86-64-v2 -o sweep_mpi "$TOP/bench/apps/sweep_mpi/sweep_mpi.f90"
. "$TOP/bench/accuracy/parallel/parallel_intervals.bash"
check_ranks() {
    compare_intervals "$TMP" "$@" >compared 2>differing
    check "MPI: $(basename "$3"): each interval of each rank has callgrind's counts" sh -c \
        "cat compared differing && awk '{ exit !(\$3 > 60 && \$5 == 0) }' compared"
}
# (Of C in bench/accuracy/parallel, as of other programs.)
check_ranks fortran 2 "$TMP/sweep_mpi" 8 1
check "MPI: Fortran's calls end intervals" sh -c "
    pmodel run -q --no-memory --no-communication -o sweep.pmdb -P N=8 -- mpirun -np 2 ./sweep_mpi '{N}' 2 >/dev/null &&
    pmodel show --as intervals sweep.pmdb | jq -r '.runs[].kinds[].end_name' >ends &&
    grep -q ' mpi_send_$' ends && grep -q ' mpi_recv_$' ends && grep -q ' mpi_allreduce_$' ends"
check "MPI: none, if asked for" sh -c "
    pmodel run -q --no-memory --no-communication --interval none -o none.pmdb -P N=8 -- mpirun -np 2 ./cg_mpi '{N}' 2 >/dev/null &&
    ! sqlite3 none.pmdb 'SELECT 1 FROM interval' 2>/dev/null | grep -q 1"
