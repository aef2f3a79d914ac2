#!/usr/bin/env bash
# What tracing communication costs: the plain programs with the runtime and the wrapper of their MPI library preloaded, over the plain
# programs, in CPU time (ranks that wait spin, so that it is elapsed time as well); two ranks on two cores; the least of some rounds.
# The same with the time of each call, as in runs of `pmodel run --time`.
# Both MPI applications of bench/apps, the transport sweep in the smallest blocks that it has, and a loop of halo exchanges of 64 bytes
# with work of some 5 µs between them.
#
# Writes $BUILD/trace_costs.json, and a table to the standard output.  Alone:
#     BUILD=$PWD/build PATH=$PWD/build/bin:$PATH bash bench/cost/trace.sh
# shellcheck source=bench/lib/bench.bash
. "$(dirname "$0")/../lib/bench.bash"
new_folder trace
rounds=${ROUNDS:-7}
start_anywhere
cd "$folder"
cat >halo.c <<'END_OF_C'
#include <mpi.h>
static double field[2048], in[8];
int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < 200000; step++) {
        MPI_Request requests[2];
        MPI_Irecv(in, 8, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(field, 8, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &requests[1]);
        for (int k = 0; k < 6; k++)
            for (int i = 1; i < 2047; i++)
                field[i] = 0.5 * field[i] + 0.25 * (field[i + 1] + in[k]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
END_OF_C

# cpu_seconds COMMAND...: user and system.
cpu_seconds() {
    local times TIMEFORMAT='%U %S'
    times=$({ time timeout 120 "$@" >/dev/null 2>errors; } 2>&1) || die "status $? from: $* ($(tail -1 errors))"
    awk '{ print $1 + $2 }' <<<"$times"
}

# least A B: of two numbers; A may be empty.
least() { printf '%s\n' "${1:-$2}" "$2" | sort -g | head -1; }

# cost LIBRARY NAME PROGRAM ARGUMENT...: an object.
cost() {
    local mpi=$1 name=$2 plain='' traced='' timed='' preload=$BUILD/lib/pmodel/libpmodel-rt.so:$BUILD/lib/pmodel/libpmodel-$1.so
    shift 2
    for ((round = 0; round < rounds; round++)); do
        plain=$(least "$plain" "$(cpu_seconds "mpirun.$mpi" -np 2 "$@")")
        traced=$(least "$traced" "$(PMODEL_COMMUNICATION=1 LD_PRELOAD=$preload cpu_seconds "mpirun.$mpi" -np 2 "$@")")
        timed=$(least "$timed" "$(PMODEL_COMMUNICATION=times LD_PRELOAD=$preload cpu_seconds "mpirun.$mpi" -np 2 "$@")")
    done
    jq -n -c --arg name "$name $mpi" --argjson plain "$plain" --argjson traced "$traced" --argjson timed "$timed" \
        '{name: $name, $plain, $traced, $timed}'
}

for mpi in openmpi mpich; do
    "mpicc.$mpi" -O2 -w -o "halo.$mpi" halo.c
    {
        cost "$mpi" cg_mpi "$BUILD/apps/$mpi/cg_mpi" 40 2000
        cost "$mpi" sweep_mpi "$BUILD/apps/$mpi/sweep_mpi" 32 40 1 1
        cost "$mpi" halo "./halo.$mpi"
    } >>costs.jsonl
done
jq -r '"\(.name): \(.plain) s, traced \(.traced) s, \(.traced / .plain * 1000 | round / 1000); with times \(.timed) s, \(.timed / .plain * 1000 | round / 1000)"' costs.jsonl
jq -s 'def geometric: (map(log) | add / length | exp);
    (map(.timed / .plain) | geometric) as $timed | map(.traced / .plain) | [{name: "trace_over_native", value: geometric, unit: "ratio", target: 1.1, reached: (geometric <= 1.1)},
        {name: "trace_with_times_over_native", value: $timed, unit: "ratio", target: 1.1, reached: ($timed <= 1.1)},
        {name: "trace_over_native_worst", value: max, unit: "ratio", target: null, reached: true}]' costs.jsonl >"$BUILD/trace_costs.json"
