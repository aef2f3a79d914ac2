# How long ranks of MPI programs wait: the judge of bench/accuracy/parallel (bench/accuracy/parallel/mpi_times.c) finds what was planted, and so does
# `pmodel run --time`, by itself.
. "$TOP/tests/lib.sh"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none

# Two ranks; the one that the second argument says comes 60 ms late to what the first one says, which is done once. On a machine where
# others run, too, it may come later.
cat >planted.c <<'C'
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static char large[1 << 20];
static int rank, value, sum;
static int is(const char *what, const char *that) { return strcmp(what, that) == 0; }
static void meet(const char *what) {
    MPI_Request request;
    MPI_Status status;
    if (is(what, "send") && rank == 0)
        MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    else if (is(what, "send"))
        MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (is(what, "large") && rank == 0)
        MPI_Send(large, sizeof large, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    else if (is(what, "large"))
        MPI_Recv(large, sizeof large, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (is(what, "wait")) {
        if (rank == 0)
            MPI_Isend(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
        else
            MPI_Irecv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
        MPI_Waitall(1, &request, &status);
    } else if (is(what, "barrier"))
        MPI_Barrier(MPI_COMM_WORLD);
    else if (is(what, "reduce"))
        MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    else if (is(what, "bcast"))
        MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
}
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 2 && rank == atoi(argv[2]))
        usleep(300000);
    meet(argv[1]);
    MPI_Finalize();
    return 0;
}
C
mpicc.openmpi -O2 -g -o planted planted.c
mpicc.openmpi -O2 -shared -fPIC -o mpi_times.so "$TOP"/bench/accuracy/parallel/{mpi_times,waiting}.c

# waits MEETING LATE RANK...: those ranks wait some 300 ms, and the others do not.
waits() {
    local meeting=$1 late=$2
    shift 2
    mpirun.openmpi -np 2 -x LD_PRELOAD="$PWD/mpi_times.so" ./planted "$meeting" "$late" 2>times
    if awk -v who=" $* " '$1 == "mpi_times" { n++; is = index(who, " " $2 " ") > 0; bad += NF != 5 || (is ? $5 < 0.2 || $5 > 2.5 : $5 > 0.15) }
            END { exit n != 2 || bad }' times; then
        pass "$meeting, rank $late late: ${*:-nobody} waits"
    else
        fail "$meeting, rank $late late: ${*:-nobody} waits" "$(cat times)"
    fi
}
waits send 0 1 # the message comes late
waits send 1   # it is buffered
waits large 0 1
waits large 1 0 # it is not buffered
waits wait 0 1
waits barrier 1 0
waits reduce 0 # nobody waits for who takes
waits reduce 1 0
waits bcast 0 1

# The same by pmodel: which rank is late is the size.
# measured FILTER: of the report on ranks in `ranks.json`.
measured() { jq -e ".reports[0].groups | map({key: .ranks, value: .}) | from_entries | $1" ranks.json; }
for mpi in openmpi mpich; do
    "mpicc.$mpi" -O2 -g -o "planted.$mpi" planted.c
    check "$mpi: runs are timed" pmodel run -q -o "$mpi.pmdb" -m sapphire-rapids --time --time-runs 1 -P LATE=0,1 \
        -- "mpirun.$mpi" -np 2 "./planted.$mpi" large '{LATE}'
    for late in 0 1; do
        pmodel report --as ranks "$mpi.pmdb" -m sapphire-rapids -P "LATE=$late" --format json >ranks.json
        check "$mpi, rank $late late: the other one waits as long" \
            measured ".[\"$((1 - late))\"].measured_waiting_seconds | . > 0.2 and . < 2.5"
        check "$mpi, rank $late late: it does not" measured ".[\"$late\"].measured_waiting_seconds < 0.15"
        check "$mpi, rank $late late: times are parts of each other" \
            measured 'map(.measured_waiting_seconds <= .measured_mpi_seconds and .measured_mpi_seconds <= .measured_seconds) | all'
    done
done
check "the call in which it waits stands first" jq -e '.reports[0].waiting_calls[0] | (.call | endswith("MPI_Send")) and .measured_waiting_seconds > 0.2' ranks.json
pmodel show --as communication mpich.pmdb -P LATE=0 --format json >calls.json
check "the calls of all ranks say the same" jq -e '[.events[] | select(.operation == "MPI_Recv") | .waiting_seconds > 0.2 and .seconds >= .waiting_seconds and
    .least_seconds <= .seconds] | . == [true]' calls.json
check "those of one rank, too" sh -c 'pmodel show --as communication mpich.pmdb -P LATE=0 --rank 0 --format csv | grep -q "^0,.*MPI_Send,1,"'
pmodel run -q -o plain.pmdb -m sapphire-rapids -P LATE=0 -- mpirun.openmpi -np 2 ./planted send '{LATE}'
pmodel show --as communication plain.pmdb --format json >calls.json
check "what was not timed is not known" jq -e '[.events[].waiting_seconds] == [null, null]' calls.json
