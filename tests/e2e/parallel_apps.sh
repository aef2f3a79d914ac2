# The example applications with MPI: results that hang on no number of processes, and messages as bench/apps/README.md says.
. "$TOP/tests/lib.sh"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none

# same NAME EXPECTED COMMAND...: ends with status 0 and prints what is in the file EXPECTED.
same() {
    local name=$1 expected=$2
    shift 2
    "$@" >printed 2>errors
    local status=$?
    if [ $status -eq 0 ] && cmp -s "$expected" printed; then
        pass "$name"
    else
        fail "$name" "status $status, or other output"
        diff "$expected" printed | head -n 10
        tail -n 10 errors
    fi
}

check "cg_mpi holds its checks" mpirun.openmpi -np 1 "$BUILD/apps/openmpi/cg_mpi" 13 10
check "sweep_mpi holds its checks" mpirun.openmpi -np 1 "$BUILD/apps/openmpi/sweep_mpi" 13 3
mpirun.openmpi -np 1 "$BUILD/apps/openmpi/cg_mpi" 13 10 >cg.txt
mpirun.openmpi -np 1 "$BUILD/apps/openmpi/sweep_mpi" 13 3 >sweep.txt
for p in 2 4 6; do
    same "cg_mpi, $p processes of Open MPI" cg.txt mpirun.openmpi -np $p "$BUILD/apps/openmpi/cg_mpi" 13 10
    same "sweep_mpi, $p processes of Open MPI" sweep.txt mpirun.openmpi -np $p "$BUILD/apps/openmpi/sweep_mpi" 13 3
done
same "cg_mpi with skew" cg.txt mpirun.mpich -np 3 "$BUILD/apps/mpich/cg_mpi" 13 10 4
same "sweep_mpi with skew" sweep.txt mpirun.mpich -np 4 "$BUILD/apps/mpich/sweep_mpi" 13 3 8 3 4 1 5

# The flux is that of the program without MPI.
"$BUILD/apps/sweep" 13 3 | grep -E 'made|absorbed|gone out|largest|change in' >without
grep -E 'made|absorbed|gone out|largest|change in' sweep.txt >with
check "sweep_mpi computes what sweep does" cmp without with

expect_error "too many processes" 2 'size 4 with a skew of 1 is for 3 processes at most, not 4' \
    mpirun.openmpi -np 4 "$BUILD/apps/openmpi/cg_mpi" 4 10 1
expect_error "a grid for another number of processes" 2 'a grid of 3 x 1 does not fit the number of processes, 4' \
    mpirun.openmpi -np 4 "$BUILD/apps/openmpi/sweep_mpi" 13 3 8 3 3 1

# Messages, by traces that smpirun writes.
{
    echo "<?xml version='1.0'?>"
    echo '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">'
    echo '<platform version="4.1">'
    echo '<cluster id="c" prefix="node-" suffix="" radical="0-5" speed="1Gf" bw="1GBps" lat="1us"/>'
    echo '</platform>'
} >cluster.xml
printf 'node-%d\n' 0 1 2 3 4 5 >hosts

# traced EXPECTED COMMAND...: with 6 processes; then their lines are in the file `trace`.
traced() {
    same "$2 under smpirun" "$1" smpirun -np 6 -platform cluster.xml -hostfile hosts -trace-ti -trace-file t \
        --cfg=smpi/host-speed:1e9 "$BUILD/apps/simgrid/$2" "${@:3}"
    cat t_files/* >trace
    rm -r t t_files
}

# messages LINE...: what trace has, sorted: process, operation, count, elements.
counted() {
    awk '$2 == "send" || $2 == "recv" || $2 == "isend" || $2 == "irecv" {
            if ($3 >= 0) { n[$1 " " $2]++; elements[$1 " " $2] += $5 }
        }
        $2 == "allreduce" || $2 == "reduce" { n[$1 " " $2]++; elements[$1 " " $2] += $3 }
        $2 == "waitall" { n[$1 " " $2]++ }
        END { for (k in n) print k, n[k], elements[k] + 0 }' trace | sort
}

traced cg.txt cg_mpi 13 10
awk -v N=13 -v S=10 -v p=6 'BEGIN {
    for (r = 0; r < p; r++) {
        d = (r > 0) + (r < p - 1)
        print r, "isend", d * (S + 4), d * (S + 4) * N * N
        print r, "irecv", d * (S + 4), d * (S + 4) * N * N
        print r, "waitall", S + 4, 0
        print r, "allreduce", 2 * S + 10, (2 * S + 9) * N + 1
        print r, "reduce", 1, 1
    } }' | sort >formulas
check "messages of cg_mpi" diff formulas <(counted)

traced sweep.txt sweep_mpi 13 3 8 3 3 2
awk -v N=13 -v S=3 -v A=2 -v B=2 -v PX=3 -v PY=2 '
    function cells(place, parts) { return int(N * (place + 1) / parts) - int(N * place / parts) }
    BEGIN {
    for (r = 0; r < PX * PY; r++) {
        x = int(r / PY)
        y = r % PY
        dx = (x > 0) + (x < PX - 1)
        dy = (y > 0) + (y < PY - 1)
        elements = 24 * N * S * (dx * cells(y, PY) + dy * cells(x, PX))
        print r, "send", 4 * (dx + dy) * A * B * S, elements
        print r, "recv", 4 * (dx + dy) * A * B * S, elements
        print r, "allreduce", 2 * S + 2, 5 * S + 4
        print r, "reduce", 1, 1
    } }' | sort >formulas
check "messages of sweep_mpi" diff formulas <(counted)
