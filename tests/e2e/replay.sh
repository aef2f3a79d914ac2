# pmodel replay: traces of smpirun replay to the same time as in SimGrid's own replay, runs of a store are replayed, and what
# cannot be is said in a sentence.
. "$TOP/tests/lib.sh"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
networks=$TOP/machines/networks

# near NAME A B PERCENT: the numbers differ by so much at most.
near() {
    if awk -v a="$2" -v b="$3" -v p="$4" 'BEGIN { d = a - b; exit !(a != "" && b != "" && (d < 0 ? -d : d) * 100 <= p * b) }'; then
        pass "$1"
    else
        fail "$1" "$2 and $3 differ by more than $4%"
    fi
}

printf 'node-%d\n' $(seq 0 63) >hosts
# executed NAME COMMAND...: by smpirun on 4 hosts, traced; prints the simulated time.
executed() {
    local name=$1
    shift
    smpirun -np 4 -platform "$networks/switch-10g.xml" -hostfile hosts -trace-ti -trace-file "$name" \
        --cfg=smpi/host-speed:1Gf --cfg=smpi/display-timing:yes "$@" 2>&1 | sed -n 's/.*Simulated time: \([0-9.e-]*\) .*/\1/p'
}
executed cg.trace "$BUILD/apps/simgrid/cg_mpi" 12 10 >cg.executed
executed sweep.trace "$BUILD/apps/simgrid/sweep_mpi" 12 2 >sweep.executed
for app in cg sweep; do
    check "a trace of ${app}_mpi is replayed" sh -c "pmodel replay --trace $app.trace --platform switch-10g --format json >$app.json"
    # SimGrid's own replay knows no MPI_PROC_NULL.
    sed -i '/ -333 /d' ${app}.trace_files/*
    smpirun -np 4 -platform "$networks/switch-10g.xml" -hostfile hosts -replay $app.trace --cfg=smpi/display-timing:yes 2>&1 |
        sed -n 's/.*Simulated time: \([0-9.e-]*\) .*/\1/p' >$app.own
    near "${app}_mpi takes as long as in SimGrid's replay" "$(jq .seconds $app.json)" "$(cat $app.own)" 0.1
    near "and as it was executed" "$(jq .seconds $app.json)" "$(cat $app.executed)" 2
done
check "times of a rank add up" sh -c 'jq -e "[.ranks[] | .seconds - .computation_seconds - .communication_seconds - .waiting_seconds |
    fabs < 1e-9] | all" cg.json'
check "a faster processor or network takes no longer" sh -c 'jq -e ".seconds as \$s | [.what_if[].seconds <= \$s * 1.0001] | all" cg.json sweep.json'
check "ranks over time are drawn" sh -c 'pmodel replay --trace sweep.trace --platform switch-10g --format svg >ranks.svg && xmllint --noout ranks.svg &&
    grep -q waiting ranks.svg'
check "CSV has a line for each rank" sh -c '[ "$(pmodel replay --trace sweep.trace --platform switch-10g --format csv | wc -l)" = 5 ]'

# A run of a store, on another machine's network.
check "a run with two ranks is measured" pmodel run -q -m sapphire-rapids -o cg.pmdb --interval 'MPI_*' \
    --exe "$BUILD/apps/openmpi/cg_mpi" -P N=12 -P p=2 -- mpirun.openmpi -np '{p}' "$BUILD/apps/openmpi/cg_mpi" '{N}' 10 3
check "it is replayed" sh -c 'pmodel replay cg.pmdb -m sapphire-rapids --platform smp-node --against icelake-sp --format json >run.json'
check "its computation is the prediction's" sh -c '[ "$(jq "[.ranks[].computation_seconds] | add * 1e6 | round" run.json)" = \
    "$(pmodel report cg.pmdb -m sapphire-rapids --format json | jq ".predictions[0].seconds * 1e6 | round")" ]'
check "the rank with less to do waits" jq -e '.ranks[0].waiting_seconds > 3 * .ranks[1].waiting_seconds' run.json
check "all of it is placed by intervals" sh -c '! grep -q "shared out evenly" run.json'
check "processor ratios are there" jq -e '.processor_ratio | .predicted > 0 and .convolved > 0 and .seconds_by_convolved > 0 and
    .peak > 0 and .seconds_by_peak > 0' run.json
# What the other machine takes, and then so many times as fast, is what a ratio by hand makes of it.
ratio=$(jq -r .processor_ratio.convolved run.json)
check "the other machine by its MetaSim number" sh -c "pmodel replay cg.pmdb -m icelake-sp --platform smp-node --ratio $ratio --format json >by_hand.json"
near "is the ratio by hand" "$(jq .seconds by_hand.json)" "$(jq .processor_ratio.seconds_by_convolved run.json)" 0.5
near "the ratio is that of pmodel report --as convolution" "$ratio" "$(pmodel report --as convolution cg.pmdb --by-loops -m icelake-sp,sapphire-rapids -P N=12,p=2 --format json |
    jq '.machines[1].metasim_ratio')" 0.1
check "computation of a trace is so many times as fast" sh -c 'pmodel replay --trace cg.trace --platform switch-10g --ratio 4 --format json >faster.json &&
    jq -e --slurpfile as_it_was cg.json "def work: [.ranks[].computation_seconds] | add; .ratio == 4 and
        (4 * work / (\$as_it_was[0] | work) - 1 | fabs < 0.001)" faster.json'
expect_error "a ratio that is none" 2 '--ratio takes a number above 0, not "0"' pmodel replay --trace cg.trace --platform switch-10g --ratio 0
expect_error "two ratios" 2 'against and --ratio exclude each other' pmodel replay cg.pmdb -m zen4 --platform smp-node --against zen5 --ratio 2
check "time has an interval" jq -e '.low_seconds < .seconds and .seconds < .high_seconds' run.json
mkdir written
check "its traces are left for SimGrid" sh -c 'pmodel replay cg.pmdb -m sapphire-rapids --platform smp-node --write written >log &&
    [ "$(wc -l <written/list)" = 2 ]'

# Collectives in rows and columns of ranks, which SimGrid's replay has no word for.
cat >rows.c <<'C'
#include <mpi.h>
int main(int argc, char **argv) {
    int rank;
    double a[16] = {1}, b[96] = {0};
    MPI_Comm row, column;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 3, rank, &row);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 3, rank, &column);
    for (int i = 0; i < 5; i++) {
        MPI_Allreduce(a, b, 10, MPI_DOUBLE, MPI_SUM, row);
        MPI_Bcast(a, 16, MPI_DOUBLE, 1, column);
        MPI_Reduce(a, b, 8, MPI_DOUBLE, MPI_SUM, 1, row);
        MPI_Gather(a, 4, MPI_DOUBLE, b, 4, MPI_DOUBLE, 0, column);
        MPI_Scatter(b, 4, MPI_DOUBLE, a, 4, MPI_DOUBLE, 0, row);
        MPI_Allgather(a, 4, MPI_DOUBLE, b, 4, MPI_DOUBLE, row);
        MPI_Alltoall(b, 2, MPI_DOUBLE, b + 64, 2, MPI_DOUBLE, column);
        MPI_Scan(a, b, 2, MPI_DOUBLE, MPI_SUM, row);
        MPI_Barrier(row);
    }
    MPI_Finalize();
    return 0;
}
C
check "rows and columns are built" mpicc.openmpi -O2 -g "$(pmodel flags)" -o rows rows.c
check "they are measured" pmodel run -q -m sapphire-rapids -o rows.pmdb -P p=6 -- mpirun.openmpi -np '{p}' ./rows
check "and replayed as messages" sh -c 'pmodel replay rows.pmdb -m sapphire-rapids --platform switch-10g --format json >rows.json &&
    jq -e "(.ranks | length) == 6 and ([.calls[].call | select(test(\"MPI_Scatter\"))] | length) == 1" rows.json'

# Ranks and sizes that never ran: what they say to each other is exactly what they say when they run.
check "runs of 3 to 5 ranks are measured" pmodel run -q -m sapphire-rapids -o sizes.pmdb -P N=8,10,12 -P p=3,4,5 \
    -- mpirun.openmpi -np '{p}' "$BUILD/apps/openmpi/cg_mpi" '{N}' 6
check "they are fitted" pmodel fit sizes.pmdb
mkdir never ran
check "6 ranks never ran" pmodel replay sizes.pmdb -m sapphire-rapids --platform smp-node -P N=14,p=6 --write never
check "6 ranks run" pmodel run -q -m sapphire-rapids -o six.pmdb -P N=14 -P p=6 \
    -- mpirun.openmpi -np '{p}' "$BUILD/apps/openmpi/cg_mpi" '{N}' 6
check "they are replayed" pmodel replay six.pmdb -m sapphire-rapids --platform smp-node --write ran
check "they say the same" bash -c 'for r in 0 1 2 3 4 5; do
    cmp <(grep -v compute never/rank-$r) <(grep -v compute ran/rank-$r) || exit 1; done'
work() { awk '$2 == "compute" { s += $3 } END { print s }' "$1"/rank-*; }
near "and compute about as much" "$(work never)" "$(work ran)" 25
check "strong scaling" sh -c 'pmodel replay --scaling sizes.pmdb -m sapphire-rapids --platform switch-10g -P N=14 -P p=3,6 --format json >scaling.json &&
    jq -e ".scaling == \"strong\" and (.points | length) == 2 and .points[0].efficiency == 1 and
        .points[1].ranks == 6 and .points[1].share_in_mpi > .points[0].share_in_mpi" scaling.json'
check "weak scaling" sh -c 'pmodel replay --scaling sizes.pmdb -m sapphire-rapids --platform switch-10g -P p=3,6 -P N=4*p --format csv >scaling.csv &&
    [ "$(wc -l <scaling.csv)" = 3 ]'
check "scaling is drawn" sh -c 'pmodel replay --scaling sizes.pmdb -m sapphire-rapids --platform switch-10g -P N=14 -P p=3,6 --format svg >scaling.svg &&
    xmllint --noout scaling.svg'
expect_error "a grid that is none" 2 'ranks, but the grid has .*--grid' pmodel replay sizes.pmdb -m sapphire-rapids --platform smp-node --grid N -P N=14,p=6
expect_error "ranks at a position that no run has" 2 'ranks that are alone along p are in no run' \
    pmodel replay sizes.pmdb -m sapphire-rapids --platform smp-node -P N=14,p=1

# A platform of this machine. First of times that are known: a message of a measured size takes as long in a replay.
printf '%s\n' 'pingpong 8 2e-6' 'exchange 8 3e-6' 'pingpong 1024 3e-6' 'exchange 1024 4e-6' 'pingpong 65536 4e-5' 'exchange 65536 6e-5' \
    'pingpong 1048576 2e-4' 'exchange 1048576 4e-4' 'eager 1024 0' >points
check "times that are known make a platform" pmodel probe --network --mpirun 'cat points; :' -o known.xml
check "it is one" xmllint --noout --nonet known.xml
mkdir one
for bytes in 8 1024 65536 1048576; do
    printf '%s\n' '0 init' "0 send 1 1 $bytes" '0 finalize' >one/0
    printf '%s\n' '1 init' "1 recv 0 1 $bytes" '1 finalize' >one/1
    printf '%s\n' 0 1 >one/list
    near "a message of $bytes bytes takes what was measured" \
        "$(pmodel replay --trace one/list --platform ./known.xml --format json | jq .seconds)" \
        "$(awk -v b=$bytes '$1 == "pingpong" && $2 == b { print $3 }' points)" 1
done
# The same as a cluster; and as the peak has them, 1 MiB in 200 us.
check "hosts of one core" pmodel probe --network --mpirun 'cat points; :' --hosts 2 -o hosts.xml
check "the peak of a network" pmodel probe --network --mpirun 'cat points; :' --peak -o peak.xml
seconds_of() { pmodel replay --trace one/list --platform "$1" --format json | jq .seconds; }
near "a message between hosts takes what was measured" "$(seconds_of ./hosts.xml)" 2e-4 1
printf '%s\n' '0 init' '0 send 1 1 65536' '0 finalize' >one/0
printf '%s\n' '1 init' '1 recv 0 1 65536' '1 finalize' >one/1
near "a message takes latency and peak bandwidth" "$(seconds_of ./peak.xml)" "$(awk 'BEGIN { print 2e-6 + 65536 / 1048576 * 2e-4 }')" 1
# Ranks of a network that is simulated: in a chain those between others share their links.
simulated="smpirun -np 3 -platform $networks/switch-10g.xml -hostfile hosts --cfg=smpi/simulate-computation:no"
check "a simulated network is probed" pmodel probe --network --quick --mpi simgrid --mpirun "$simulated" --trace cg.trace --hosts 3 -o chain.xml
check "a rank between two others has half the bandwidth" sh -c 'awk "\$1 == 262144 { exit !(\$3 > 1.8 * \$2) }" chain.xml'
expect_error "a simulated network without a name" 2 'name the network that is simulated' pmodel probe --network --mpi simgrid
expect_error "two patterns" 2 'trace and --peak exclude each other' pmodel probe --network --peak --trace cg.trace
expect_error "a network's option without one" 2 'hosts needs --network' pmodel probe --hosts 4
check "this machine's network is probed" pmodel probe --network --quick --pattern cg.pmdb -o here.xml
check "and a run replayed on it" pmodel replay cg.pmdb -m sapphire-rapids --platform here.xml
expect_error "a launcher that fails" 2 "ended with status 3" pmodel probe --network --mpirun 'exit 3; :' -o never.xml

# What cannot be replayed.
sed '/^ *<host/s/core="64"/core="1"/' "$networks/smp-node.xml" >small.xml
expect_error "a platform with too few cores" 2 'small.xml: has 1 core for 4 ranks' pmodel replay --trace cg.trace --platform small.xml
echo '<platform>' >bad.xml
expect_error "a file that is no platform" 2 'bad.xml' pmodel replay --trace cg.trace --platform bad.xml
expect_error "a platform that is not there" 2 'there is no platform nowhere' pmodel replay --trace cg.trace --platform nowhere
mkdir stuck
printf '%s\n' '0 init' '0 recv 1 1 8' '0 send 1 1 8' '0 finalize' >stuck/0
printf '%s\n' '1 init' '1 recv 0 1 8' '1 send 0 1 8' '1 finalize' >stuck/1
printf '%s\n' 0 1 >stuck/list
expect_error "a deadlock" 2 'deadlock: 2 of 2 ranks never come to their end; rank 0 is at recv \(from rank 1, tag 1\), its action 2; rank 1 is at recv' \
    pmodel replay --trace stuck/list --platform smp-node
sed -i '$d' stuck/1
expect_error "a trace that is truncated" 2 'the trace of rank 1 does not end with `finalize`: it is truncated' \
    pmodel replay --trace stuck/list --platform smp-node
expect_error "a size that was not measured" 2 'N=13|models' pmodel replay cg.pmdb -m sapphire-rapids --platform smp-node -P N=13
check "a program without MPI is measured" pmodel run -q -m sapphire-rapids -o heat.pmdb -P N=8 -- "$BUILD/apps/heat" '{N}' 2
expect_error "a program without MPI" 2 'the run has no communication' pmodel replay heat.pmdb -m sapphire-rapids --platform smp-node
