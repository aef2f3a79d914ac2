#!/usr/bin/env bash
# A part of `make validate`: replays against what they stand for.
#
#   own traces   what smpirun executes and traces, replayed by pmodel, against SimGrid's own replay of the same trace
#   smpirun      runs of mpirun with predicted computation, replayed, against smpirun, which executes the program on the
#                same platform and measures its computation on this machine: a simulation, too
#   two ranks    runs with one and two ranks on this machine, one of each program with a planted imbalance: predicted parallel time
#                and time in calls of MPI, and of that waiting, against a clock, on the network that `pmodel probe --network` finds here;
#                and waiting as `pmodel run --time` measures it, against the same clock
#
#   MACHINE=file   describes this machine   (default: machines/measured/ of this processor, else a probe)
#   ALONE=command  stands before what measures time
#   COSTS=1        only what the engine costs, into $BUILD/replay_costs.json (of `make bench`)
#   PARTS=two_ranks  only this part (or own, smpirun_executes); of the others there is what was measured last
#   TIMES=9        processes of each case by the clock, of which the fastest counts: what else runs on two cores only adds
#
# Writes docs/replay.md, $BUILD/replay.json and $BUILD/replay_figures.json.  Alone:
#     BUILD=$PWD/build PATH=$PWD/build/bin:$PATH bash bench/accuracy/parallel/replay.sh
# shellcheck source=bench/lib/bench.bash
. "$(dirname "$0")/../../lib/bench.bash"
start_anywhere
in_folder replay
times=${TIMES:-9}
platform=$TOP/machines/networks/switch-10g.xml
printf 'node-%d\n' $(seq 0 63) >"$folder/hosts"

# ---- the clock (bash bench/accuracy/parallel/replay.sh clock RANKS PROGRAM ARGUMENT...) ----------------------------
# Seconds of each run, and of the mean rank seconds in MPI and waiting.

if [ "${1-}" = clock ]; then
    shift
    for ((i = 0; i < times; i++)); do
        mpirun.openmpi -np "$1" -x "LD_PRELOAD=$folder/mpi_times.so" "${@:2}" 2>&1 >/dev/null |
            awk '$1 == "mpi_times" { if (NF != 5) { print > "/dev/stderr"; exit 1 } if ($3 > s) s = $3; m += $4; w += $5; n++ }
                END { if (n) print s, m / n, w / n }'
    done
    exit
fi

# ---- times (bash bench/accuracy/parallel/replay.sh time STORE RANKS PROGRAM ARGUMENT...) ----------------------------

# add_runs OPTION STORE RANKS PROGRAM N ARGUMENT...: what is not there yet.
add_runs() {
    pmodel run -q ${1:+"$1"} -o "$2" -m "$folder/host.conf" -P "N=$5" -P "p=$3" -- mpirun.openmpi -np '{p}' "$BUILD/apps/openmpi/$4" '{N}' "${@:6}" \
        >/dev/null 2>"$folder/errors"
}

if [ "${1-}" = time ]; then
    add_runs --time "${@:2}"
    exit
fi

# ---- what the engine costs ----------------------------------------------------------------------
# A ring of 64 ranks, each of which sends to the next one and receives from the one before 1000 times, with a sum of all after
# every tenth.

if [ -n "${COSTS-}" ]; then
    mkdir -p "$folder/ring"
    : >"$folder/ring/list"
    for ((rank = 0; rank < 64; rank++)); do
        awk -v r="$rank" 'BEGIN {
            print r " init"
            for (i = 1; i <= 1000; i++) {
                print r " irecv " (r + 63) % 64 " 1 4096\n" r " compute 100000\n" r " send " (r + 1) % 64 " 1 4096\n" r " waitall 1"
                if (i % 10 == 0)
                    print r " allreduce 8 0"
            }
            print r " finalize" }' >"$folder/ring/$rank"
        echo "$rank" >>"$folder/ring/list"
    done
    for i in 1 2 3; do pmodel replay --trace "$folder/ring/list" --platform switch-10g --format json; done |
        jq -c '{ranks: (.ranks | length), actions, engine_seconds}' >"$folder/costs"
    jq -s '[(sort_by(.engine_seconds) | .[1] | .actions / .engine_seconds) |
        {name: "replay_events_per_second", value: ., unit: "1/s", target: null, holds: (. != null)}]' "$folder/costs" >"$BUILD/replay_costs.json"
    jq -r '.[] | "\(.name) \(.value)"' "$BUILD/replay_costs.json"
    exit
fi

# ---- what there is ------------------------------------------------------------------------------

describe_this_machine "$folder/host.conf"
build_mpi_times "$folder/mpi_times.so"

simulated() { sed -n 's/.*Simulated time: \([0-9.e-]*\) .*/\1/p'; }

# execute RANKS TRACE PROGRAM ARGUMENT...: the simulated time of smpirun, with a trace if TRACE is not "".
execute() {
    local options=()
    [ -n "$2" ] && options=(-trace-ti -trace-file "$2")
    "${alone[@]}" smpirun -np "$1" -platform "$platform" -hostfile "$folder/hosts" "${options[@]}" --cfg=smpi/host-speed:1Gf \
        --cfg=smpi/display-timing:yes "$BUILD/apps/simgrid/$3" "${@:4}" 2>&1 | simulated
}

# measure STORE RANKS PROGRAM N ARGUMENT...: into a store of its own.
measure() {
    rm -f "$1"
    add_runs "" "$@" || die "$(tail -1 "$folder/errors")"
}

replay() { pmodel replay "$1" -m "$folder/host.conf" --platform "$2" --format json | jq -c '{seconds, low_seconds, high_seconds, ranks}'; }

# ---- own traces ---------------------------------------------------------------------------------

own_trace() {
    local trace=$folder/$2.$1.trace ours theirs
    say "$2, $1 ranks: a trace of smpirun"
    rm -rf "$trace" "${trace}_files"
    execute "$1" "$trace" "${@:2}" >/dev/null
    sed -i '/ -333 /d' "${trace}_files"/* # MPI_PROC_NULL, at which SimGrid's replay ends
    theirs=$(smpirun -np "$1" -platform "$platform" -hostfile "$folder/hosts" -replay "$trace" --cfg=smpi/display-timing:yes 2>&1 | simulated)
    ours=$(pmodel replay --trace "$trace" --platform "$platform" --format json | jq .seconds)
    jq -n -c --arg program "$2" --argjson ranks "$1" --argjson ours "$ours" --argjson theirs "$theirs" \
        '{part: "own", $program, $ranks, seconds: $ours, judge: $theirs}'
}

# ---- smpirun ------------------------------------------------------------------------------------

against_smpirun() {
    local ranks=$1 executed
    shift
    say "$1, $ranks ranks: executed by smpirun"
    executed=$(for i in 1 2 3; do execute "$ranks" "" "$@"; done | sort -g | sed -n 2p)
    measure "$folder/smpirun.pmdb" "$ranks" "$@"
    replay "$folder/smpirun.pmdb" "$platform" |
        jq -c --arg program "$1" --argjson ranks "$ranks" --argjson executed "$executed" \
            '{part: "smpirun", $program, $ranks, seconds, low: .low_seconds, high: .high_seconds, judge: $executed}'
}

# ---- two ranks ----------------------------------------------------------------------------------

here_ranks() {
    local ranks=$1 what=$2
    shift 2
    say "$1, $ranks ranks on this machine, $what"
    measure "$folder/here.pmdb" "$ranks" "$@"
    rm -f "$folder/here.xml"
    "${alone[@]}" pmodel probe --network --pattern "$folder/here.pmdb" -o "$folder/here.xml" 2>"$folder/errors" ||
        "${alone[@]}" pmodel probe --network -o "$folder/here.xml"
    "${alone[@]}" bash "$here/replay.sh" time "$folder/here.pmdb" "$ranks" "$@" || die "$(tail -1 "$folder/errors")"
    "${alone[@]}" bash "$here/replay.sh" clock "$ranks" "$BUILD/apps/openmpi/$1" "${@:2}" >"$folder/clock"
    replay "$folder/here.pmdb" "$folder/here.xml" |
        jq -c --arg program "$1" --arg what "$what" --argjson ranks "$ranks" \
            --slurpfile own <(pmodel report --as ranks "$folder/here.pmdb" -m "$folder/host.conf" --format json) \
            --slurpfile clock <(jq -R -c 'split(" ") | map(tonumber)' "$folder/clock") '
            def fastest: min_by(.[0]);
            def share(f): ([.ranks[] | f] | add / length) / .seconds;
            def mean(f): ([.[] | .n_ranks * f] | add) / ([.[] | .n_ranks] | add);
            {part: "here", $program, $ranks, $what, seconds, low: .low_seconds, high: .high_seconds,
             judge: ($clock | fastest | .[0]),
             in_mpi: share(.communication_seconds + .waiting_seconds), waiting: share(.waiting_seconds),
             judge_in_mpi: ($clock | fastest | .[1] / .[0]), judge_waiting: ($clock | fastest | .[2] / .[0]),
             own_waiting: ($own[0].reports[0].groups | mean(.measured_waiting_seconds) / (map(.measured_seconds) | max))}' 2>/dev/null ||
        die "no figures of $1"
}

own() { for ranks in 4 8 16; do own_trace "$ranks" cg_mpi 24 10 && own_trace "$ranks" sweep_mpi 24 2; done; }
smpirun_executes() { for ranks in 4 8 16; do against_smpirun "$ranks" cg_mpi 64 25 && against_smpirun "$ranks" sweep_mpi 48 5; done; }
two_ranks() {
    here_ranks 1 even cg_mpi 48 40
    here_ranks 2 even cg_mpi 48 40
    here_ranks 2 imbalance cg_mpi 48 40 8
    here_ranks 1 even sweep_mpi 40 10
    here_ranks 2 even sweep_mpi 40 10
    here_ranks 2 imbalance sweep_mpi 40 10 8 3 2 1 8
}

for part in ${PARTS:-own smpirun_executes two_ranks}; do
    "$part" >"$folder/rows.$part"
done
cat "$folder"/rows.* | jq -s . >"$BUILD/replay.json"
jq -L "$here" 'include "replay"; replay_figures' "$BUILD/replay.json" >"$BUILD/replay_figures.json"
jq -r -L "$here" --arg cpu "$(cpu_name)" 'include "replay"; replay_page($cpu)' "$BUILD/replay.json" | wrap >"$TOP/docs/replay.md"
jq -r '.[] | [.name, .value, .target, .holds] | @tsv' "$BUILD/replay_figures.json"
