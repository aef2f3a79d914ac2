#!/usr/bin/env bash
# A part of `make validate`: what Snavely, Wolter and Carrington (2001) compare in Figures 6 to 8.  What was executed on machine A is
# carried over to machine B by a processor ratio, from peak rates or from convolved signatures, and replayed on B's network, as a
# ping-pong finds it at most or as the program's own messages find it; each beside what B executed.
#
#   processors   every program of bench/apps/sizes.conf, executed on a processor of machines/measured/ (A, bench/accuracy/machines/measured.sh) and here (B),
#                where the programs are the same code
#   ranks        cg_mpi and sweep_mpi on 1 and 2 ranks of Open MPI here, and on 4 to 32 by smpirun, which executes them here and simulates
#                machines/networks/switch-10g.xml.  A has no times of these: computation is this machine's, as smpirun traces it,
#                times the ratio that the sequential program of the same size executed.
#
#   MACHINE=file   describes this machine   (default: machines/measured/ of this processor, else a probe)
#   ALONE=command  stands before what measures time
#   REUSE=1        takes counts, times, traces and networks of the last call, and its ratios if pmodel is the same
#   TIMES=9        processes of each case by the clock, of which the fastest counts; of sequential programs the median
#
# Counts are those of bench/accuracy/time/time.sh where it ran before.  Writes docs/peaks.md, $BUILD/peaks.json and $BUILD/peaks_figures.json.  Alone:
#     BUILD=$PWD/build PATH=$PWD/build/bin:$PATH bash bench/accuracy/time/peaks.sh
# shellcheck source=bench/lib/bench.bash
. "$(dirname "$0")/../../lib/bench.bash"
start_anywhere
in_folder peaks
times=${TIMES:-9}
kinds="in_l2 beyond_llc"
# A loop's code is known by that of the path through it that is run alone, of which another may be chosen than there.
least_same=0.9
measured=$TOP/machines/measured
platform=$TOP/machines/networks/switch-10g.xml
printf 'node-%d\n' $(seq 0 63) >"$folder/hosts"

# Parallel programs: KIND of the sequential one, whose size they have, and the arguments behind it. All take some milliseconds at least.
parallel_cases=("cg beyond_llc 25" "sweep in_l2 12" "sweep beyond_llc 1")
ranks_here="1 2"
ranks_simulated="4 8 16 32"

other_machine() {
    local file
    for file in "$measured"/*.loops.json; do
        [ "$(basename "$file" .loops.json)" = "$(cpu_file_name)" ] || { basename "$file" .loops.json; return; }
    done
}

# ---- execution (bash bench/accuracy/time/peaks.sh execute) ----------------------------------------------------

# cpu_seconds COMMAND...: of a process: the median of TIMES, the shortest, the longest.
cpu_seconds() {
    local TIMEFORMAT='%3U %3S' i
    for ((i = 0; i < times; i++)); do
        { time "$@" >/dev/null 2>&1; } 2>&1
    done | awk '{ print $1 + $2 }' | sort -g | awk '{ s[NR] = $1 } END { print s[int((NR + 1) / 2)], s[1], s[NR] }'
}

# trace RANKS FILE PROGRAM ARGUMENT...: executed by smpirun, which traces it: the simulated time.
trace() {
    smpirun -np "$1" -platform "$platform" -hostfile "$folder/hosts" -trace-ti -trace-file "$2" --cfg=smpi/host-speed:1Gf \
        --cfg=smpi/display-timing:yes "$BUILD/apps/simgrid/$3" "${@:4}" 2>&1 | sed -n 's/.*Simulated time: \([0-9.e-]*\) .*/\1/p'
}

# The trace of the fastest of three.
fastest_trace() {
    local file=$2 i
    for i in 1 2 3; do
        rm -rf "$file.$i" "$file.${i}_files"
        echo "$(trace "$1" "$file.$i" "${@:3}") $file.$i"
    done | sort -g | head -1 >"$file.fastest"
}

# clock RANKS PROGRAM ARGUMENT...: seconds of the fastest process, and what its ranks computed, that is did outside MPI, together.
clock() {
    local i
    for ((i = 0; i < times; i++)); do
        mpirun.openmpi -np "$1" -x "LD_PRELOAD=$folder/mpi_times.so" "$BUILD/apps/openmpi/$2" "${@:3}" 2>&1 >/dev/null |
            awk '$1 == "mpi_times" { if ($3 > s) s = $3; computed += $3 - $4 } END { if (!s) exit 1; print s, computed }'
    done | sort -g | head -1
}

# is_there FILE: from the last call, which may be reused.
is_there() { [ -n "${REUSE-}" ] && [ -s "$1" ]; }

execute_ranks() { # NAME KIND STEPS RANKS
    local files=$folder/$1.$2.$4 size
    size=$(size_value "$1" "$2")
    fastest_trace "$4" "$files" "$1_mpi" "$size" "$3"
    if [[ " $ranks_here " == *" $4 "* ]]; then
        pmodel probe --network --trace "$(cut -d' ' -f2 "$files.fastest")" -o "$files.pattern.xml"
        clock "$4" "$1_mpi" "$size" "$3" >"$files.seconds"
    else
        cut -d' ' -f1 "$files.fastest" >"$files.seconds"
    fi
}

execute() {
    local name kind steps p arguments case
    for name in $(program_names); do
        for kind in $kinds; do
            is_there "$folder/$name.$kind.seconds" && continue
            mapfile -t arguments < <(size_value "$name" "$kind.time" | tr -s ' ' '\n')
            cpu_seconds "$folder/$name" "${arguments[@]//\{N\}/$(size_value "$name" "$kind")}" >"$folder/$name.$kind.seconds"
        done
    done
    is_there "$folder/here.peak.xml" || pmodel probe --network --peak -o "$folder/here.peak.xml"
    for case in "${parallel_cases[@]}"; do
        read -r name kind steps <<<"$case"
        for p in $ranks_here $ranks_simulated; do
            is_there "$folder/$name.$kind.$p.seconds" || execute_ranks "$name" "$kind" "$steps" "$p"
        done
    done
}

if [ "${1-}" = execute ]; then
    execute
    exit
fi

# ---- processors ---------------------------------------------------------------------------------

# counts NAME KIND: models of the program from its small sizes, in blocks of both machines; the store.
counts() {
    local name=$1 kind=$2 store="$BUILD/time/$1.$2.pmdb" fit arguments
    if [ ! -s "$store" ]; then
        store=$folder/$name.$kind.pmdb
        is_there "$store" || rm -f "$store"
        fit=$(size_value "$name" "$kind.fit")
        mapfile -t arguments < <(size_value "$name" "$kind.time" | tr -s ' ' '\n')
        pmodel run -q -o "$store" -m "$folder/host.conf" -m "$folder/there.conf" -P "N=${fit// /,}" -- "$folder/$name" "${arguments[@]}" >/dev/null
        pmodel fit "$store" >/dev/null
    fi
    echo "$store"
}

# The share of the loops that ran alone there whose code is the same here.
same_code() {
    pmodel loops --time --format json "$folder/$1" >"$folder/alone.json"
    jq --arg name "$1" --slurpfile here "$folder/alone.json" '($here[0].loops | map({(.key): .hash}) | add) as $hashes
        | [.programs[] | select(.program == $name) | .alone[] | .hash == $hashes[.key]]
        | if . == [] then 0 else (map(select(.)) | length) / length end' "$folder/there.json"
}

# ratios NAME KIND: how many times as fast this machine is as the other one, by each method.
ratios() {
    local name=$1 kind=$2 on=$folder/there.conf,$folder/host.conf store at machine
    at=N=$(size_value "$name" "$kind")
    store=$(counts "$name" "$kind")
    pmodel report --as convolution --by-loops --format json -m "$on" -P "$at" "$store" >"$folder/convolved"
    pmodel report --format json -m "$on" -P "$at" "$store" >"$folder/report" 2>/dev/null
    for machine in there host; do # the roof is the same whatever the program
        [ -s "$folder/$machine.roofs" ] || pmodel report --as roofline --format json -m "$folder/$machine.conf" -P "$at" "$store" >"$folder/$machine.roofs"
    done
    jq -n -c --slurpfile convolved "$folder/convolved" --slurpfile report "$folder/report" \
        --slurpfile roofs <(cat "$folder"/{there,host}.roofs) '
        def over($a; $b): if ($a // 0) > 0 and ($b // 0) > 0 then $a / $b else null end;
        $convolved[0].machines as [$convolved_there, $convolved_here]
        | $report[0].predictions as [$predicted_there, $predicted_here]
        | {peak: over($roofs[1].flops_per_second; $roofs[0].flops_per_second),
           metasim: over($convolved_here.metasim_number; $convolved_there.metasim_number),
           convolved: over($convolved_there.seconds; $convolved_here.seconds),
           predicted: over($predicted_there.seconds; $predicted_here.seconds)}' >"$folder/$name.$kind.ratios"
}

# processor NAME KIND SAME: the ratios beside the executed one.
processor() {
    local name=$1 kind=$2 same=$3 here low high
    if ! is_there "$folder/$name.$kind.ratios" || [ "$BUILD/bin/pmodel" -nt "$folder/$name.$kind.ratios" ]; then
        ratios "$name" "$kind"
    fi
    read -r here low high <"$folder/$name.$kind.seconds"
    jq -c --arg name "$name" --arg kind "$kind" --argjson same "$same" --argjson here "$here" --argjson low "$low" --argjson high "$high" \
        --slurpfile ratios "$folder/$name.$kind.ratios" '
        .programs[] | select(.program == $name) | .[$kind]
        | {part: "processor", program: $name, $kind, size, same_code: $same, there: .plain_cpu_seconds, $here, $low, $high,
           ratio: ($ratios[0] + {executed: (.plain_cpu_seconds / $here)})}' "$folder/there.json"
}

# ---- ranks --------------------------------------------------------------------------------------

simulated_network() { # RANKS FILE OPTION...: as ranks find it that smpirun simulates
    pmodel probe --network --mpi simgrid --mpirun "smpirun -np $1 -platform $platform -hostfile $folder/hosts \
        --cfg=smpi/simulate-computation:no --log=root.thresh:critical" --hosts 64 -o "$2" "${@:3}" 2>"$folder/errors" ||
        die "$(tail -1 "$folder/errors")"
}

# replay TRACE PLATFORM RATIO FILTER; a ratio that is not known: null
replay() {
    if [ "$3" = null ]; then
        echo null
    else
        pmodel replay --trace "$1" --platform "$2" --ratio "$3" --format json | jq "$4"
    fi
}

# parallel NAME KIND RANKS: replays of A's trace on B, by each ratio and network.
parallel() {
    local name=$1 kind=$2 p=$3 files=$folder/$1.$2.$3 trace peak=$folder/simulated.peak.xml where=smpirun faster=1 network ratio by seconds
    trace=$(cut -d' ' -f2 "$files.fastest")
    if [[ " $ranks_here " == *" $p "* ]]; then
        where=here
        peak=$folder/here.peak.xml
        # smpirun's ranks take turns on one core; what they compute on cores of their own the clock has.
        faster=$(replay "$trace" "$peak" 1 "([.ranks[].computation_seconds] | add) / $(cut -d' ' -f2 "$files.seconds")")
    elif ! is_there "$files.pattern.xml"; then
        simulated_network "$p" "$files.pattern.xml" --quick --trace "$trace"
    fi
    for ratio in executed peak metasim convolved predicted; do
        # Of A's computation, which is the trace's times the ratio as executed.
        by=$(jq -s --arg name "$name" --arg kind "$kind" --arg ratio "$ratio" --argjson faster "$faster" \
            '.[] | select(.program == $name and .kind == $kind) | .ratio | if .[$ratio] then $faster * .[$ratio] / .executed else null end' "$folder/processors")
        for network in peak pattern; do
            if [ "$network" = peak ]; then
                seconds=$(replay "$trace" "$peak" "$by" .seconds)
            else
                seconds=$(replay "$trace" "$files.pattern.xml" "$by" .seconds)
            fi
            jq -n -c --arg ratio "$ratio" --arg network "$network" --argjson seconds "$seconds" '{$ratio, $network, $seconds}'
        done
    done | jq -s -c --arg name "$name" --arg kind "$kind" --arg where "$where" --argjson ranks "$p" --argjson size "$(size_value "$name" "$kind")" \
        --argjson executed "$(cut -d' ' -f1 "$files.seconds")" '{part: "parallel", program: "\($name)_mpi", $kind, $size, $where, $ranks, $executed, by: .}'
}

# ---- the whole ----------------------------------------------------------------------------------

other=$(other_machine)
[ -n "$other" ] || die "machines/measured/ has no times of another processor: bench/accuracy/machines/measured.sh makes them"
describe_this_machine "$folder/host.conf"
cp "$measured/$other.conf" "$folder/there.conf"
cp "$measured/$other.loops.json" "$folder/there.json"
build_mpi_times "$folder/mpi_times.so"
for name in $(program_names); do
    # shellcheck disable=SC2046 # the flags are words
    build_program "$name" "$folder/$name" $(pmodel flags)
done
say "execute all programs here"
"${alone[@]}" bash "$here/peaks.sh" execute </dev/null
rm -f "$folder"/*.roofs
for name in $(program_names); do
    same=$(same_code "$name")
    awk -v same="$same" -v least="$least_same" 'BEGIN { exit !(same >= least) }' || { say "$name: other code than on $other"; continue; }
    for kind in $kinds; do
        say "$name $kind: processor ratios"
        processor "$name" "$kind" "$same"
    done
done >"$folder/processors"
is_there "$folder/simulated.peak.xml" || simulated_network 2 "$folder/simulated.peak.xml" --peak
for case in "${parallel_cases[@]}"; do
    read -r name kind _ <<<"$case"
    for p in $ranks_here $ranks_simulated; do
        say "${name}_mpi $kind, $p ranks: replays"
        parallel "$name" "$kind" "$p"
    done
done >"$folder/parallel"
jq -s . "$folder/processors" "$folder/parallel" >"$BUILD/peaks.json"
jq -L "$here" 'include "peaks"; peaks_figures' "$BUILD/peaks.json" >"$BUILD/peaks_figures.json"
jq -r -L "$here" --arg cpu "$(cpu_name)" --arg other "$(jq -r .processor "$folder/there.json")" \
    'include "peaks"; peaks_page($cpu; $other)' "$BUILD/peaks.json" | wrap >"$TOP/docs/peaks.md"
jq -r '.[] | [.name, .value, .target, .holds] | @tsv' "$BUILD/peaks_figures.json"
