#!/usr/bin/env bash
# Predicted time on one and two cores against a clock: the OpenMP programs of bench/accuracy/time/threads.conf, each counted with one and
# two threads at the size in question and, for models, at small sizes.  The clock's figure is the processor time of the thread that
# has most of it, the median of nine processes; elapsed time stands beside it.  Processes beside which something else had a processor
# for more than a hundredth of their time are repeated, at most so often as TRIES says.  Programs, sizes and flags were written down before any was timed.
#
#   MACHINE=file   describes this machine   (default: machines/measured/ of this processor, else a probe)
#   TRIES=30       processes of each program with so many threads, at most
#   ALONE=command  stands before what measures time
#   CORES=2        which numbers of cores: 1 and this
#
# Writes docs/threads.md and $BUILD/threads.json; with ONLY=name,… the page is $BUILD/threads.md.  Alone:
#     BUILD=$PWD/build PATH=$PWD/build/bin:$PATH bash bench/accuracy/time/threads.sh
# shellcheck source=bench/lib/bench.bash
. "$(dirname "$0")/../../lib/bench.bash"
in_folder threads
tries=${TRIES:-30}
cores=${CORES:-2}
processes=9

# cases FUNCTION: calls it with the words of each line of threads.conf that is wanted.
cases() {
    local words
    while read -ra words; do
        [[ ",${ONLY-${words[0]}}," == *",${words[0]},"* ]] && "$1" "${words[@]}"
    done < <(grep -v '^#' "$here/threads.conf")
    return 0
}

# ---- the clock (bash bench/accuracy/time/threads.sh clocks) ---------------------------------------------------

# Hundredths of a second that all processors were at work.
work_of_all() { awk '/^cpu / { print $2 + $3 + $4 + $7 + $8 + $9 }' /proc/stat; }

# Lines "milliseconds, of the busiest thread on its processor, disturbed (0 or 1)", until nine are not disturbed.
clock() {
    local threads=$1 try good=0 before after busiest real user system
    shift
    TIMEFORMAT='%R %U %S'
    for ((try = 0; try < tries && good < processes; try++)); do
        before=$(work_of_all)
        { read -r busiest && read -r real user system; } < <({ time OMP_WAIT_POLICY=passive OMP_NUM_THREADS=$threads "$@" >/dev/null; } 2>&1)
        after=$(work_of_all)
        awk -v real="$real" -v busiest="$busiest" -v mine="$user" -v kernel="$system" -v all="$((after - before))" \
            'BEGIN { print 1000 * real, 1000 * busiest, (all / 100 - mine - kernel > 0.02 + 0.01 * real) }'
        good=$(awk '$3 == 0' "$folder/clock.lines" | wc -l)
    done
}

time_case() {
    local name=$1 source=$2 size=$3 threads
    shift 4
    for threads in 1 "$cores"; do
        say "$name: time with $threads threads"
        clock "$threads" "$folder/$source" "$size" "$@" | tee "$folder/clock.lines" >"$folder/$name.$threads.times"
    done
}

if [ "${1-}" = clocks ]; then
    cases time_case
    exit
fi

# ---- machine, programs, counts ------------------------------------------------------------------

# Of the last cache, as the system says it; a probe on one core cannot see it.
sharing() {
    local list=/sys/devices/system/cpu/cpu0/cache/index3/shared_cpu_list
    [ -r "$list" ] && awk -F'[-,]' '{ n = $2 == "" ? 1 : $2 - $1 + 1; if (n > 1) print "L3.shared_by=" n }' "$list"
}

# predict STORE SIZE THREADS: the first prediction of the report, in one line.
predict() {
    pmodel report "$1" -m "$folder/host.conf" "${shared[@]}" -P "N=$2,p=$3" --format json 2>/dev/null |
        jq -c '.predictions[0] | {seconds, low_seconds, high_seconds, cores}'
}

# count STORE THREADS SIZES SOURCE ARGUMENT...: a store has one number of threads, so that models are of the size alone.
count() {
    local store=$1 threads=$2 sizes=$3 source=$4
    shift 4
    pmodel run -q -o "$store" -m "$folder/host.conf" --env 'OMP_NUM_THREADS={p}' -P "p=$threads" -P "N=$sizes" -- \
        "$folder/$source" '{N}' "$@" >/dev/null 2>"$folder/errors" || die "$(tail -1 "$folder/errors")"
}

# NAME SOURCE SIZE FIT ARGUMENT...
count_case() {
    local name=$1 source=$2 size=$3 fit=$4 threads
    shift 4
    # shellcheck disable=SC2046 # flags are words
    gcc -O3 -march=native -g -fopenmp $(pmodel flags) -o "$folder/$source" "$apps/threads/$source.c"
    rm -f "$folder/$name".*pmdb
    for threads in 1 "$cores"; do
        say "$name: count at N = $fit and $size, $threads threads"
        count "$folder/$name.at.$threads.pmdb" "$threads" "$size" "$source" "$@"
        count "$folder/$name.$threads.pmdb" "$threads" "$fit" "$source" "$@"
        pmodel fit "$folder/$name.$threads.pmdb" >/dev/null
    done
}

# A line of JSON for each number of cores.
judge_case() {
    local name=$1 size=$3 threads
    for threads in 1 "$cores"; do
        jq -n -c --arg name "$name" --argjson size "$size" --argjson cores "$threads" \
            --argjson counted "$(predict "$folder/$name.at.$threads.pmdb" "$size" "$threads")" \
            --argjson modelled "$(predict "$folder/$name.$threads.pmdb" "$size" "$threads")" \
            --argjson times "$(jq -R -s -c 'split("\n") | map(select(. != "") | split(" ") | map(tonumber))' "$folder/$name.$threads.times")" '
            def median: sort | .[length / 2 | floor];
            ($times | map(select(.[2] == 0))) as $alone | ($alone | length >= 5) as $undisturbed
            | (if $undisturbed then $alone else $times end | map(.[1] / 1000) | sort) as $t
            | {name: $name, size: $size, cores: $cores, counted: $counted, modelled: $modelled, measured: ($t | median),
               elapsed: (if $undisturbed then $alone | map(.[0] / 1000) | median else null end),
               p10: $t[(($t | length) / 10 | floor)], p90: $t[(($t | length) * 9 / 10 | floor)], processes: ($t | length)}'
    done
}

# ---- the page -----------------------------------------------------------------------------------

write_page() {
    cat <<EOF
# Time on several cores, against a clock

Written by \`bench/accuracy/time/threads.sh\` on $(cpu_name)${shared[1]+, with ${shared[1]}}. The programs are those of \`bench/apps/threads/\`, built by \`gcc -O3 -march=native -fopenmp\`.
*Counted here*: predicted by \`pmodel report\` from the counts of each thread at this very size; *from models*: from counts at the small sizes of
\`bench/accuracy/time/threads.conf\`, where threads share the work as in the nearest run. *Measured*: processor time of the thread that has most of it, while threads that wait sleep: the median of nine processes. Processes beside which something
else had a processor are repeated, at most $tries times. *Elapsed*: the same processes from beginning to end; \`-\`: all but a few were disturbed, and what was
measured are all. More cores than $cores were not checked.

How the time on several cores is predicted stands in \`sched/cores/cores.h\`, how to ask for it in \`docs/pmodel-report.md\` (TIME ON SEVERAL CORES).

EOF
    jq -r 'def ms: . * 1e4 | round / 10 | tostring + " ms"; def percent: . * 100 | round | tostring + "%" | if startswith("-") then "−" + .[1:] else "+" + . end;
        def error(of): if of == null then "-" else of / .measured - 1 | percent end;
        "| program | N | cores | measured | p10 to p90 | elapsed | predicted, counted here | error | from models | error | imbalance | rounds of spin loops left out |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        (.[] | "| \(.name) | \(.size) | \(.cores) | \(.measured | ms) | \(.p10 | ms) to \(.p90 | ms) | \(if .elapsed then .elapsed | ms else "-" end) "
            + "| \(.counted.seconds | ms) | \(error(.counted.seconds)) | \(.modelled.seconds | ms) | \(error(.modelled.seconds)) "
            + "| \(if .counted.cores then .counted.cores.imbalance * 100 | round / 100 else "" end) | \(if .counted.cores then [.counted.cores.spin_loops[].rounds] | add // 0 else "" end) |"),
        "", "How many times faster the program is on more cores, which errors of the core and of memory alike do not move:", "",
        "| program | cores | measured | predicted, counted here | from models |", "| --- | ---: | ---: | ---: | ---: |",
        (group_by(.name)[] | . as $of | .[0] as $one | .[1:][] | "| \(.name) | \(.cores) | \($one.measured / .measured * 100 | round / 100) "
            + "| \($one.counted.seconds / .counted.seconds * 100 | round / 100) | \($one.modelled.seconds / .modelled.seconds * 100 | round / 100) |")' \
        "$BUILD/threads.json"
}

rm -f "$folder/host.conf"
describe_this_machine "$folder/host.conf"
shared=()
[ -z "$(sharing)" ] || shared=(--set "$(sharing)")
page=$(page_of threads)
cases count_case
TRIES=$tries "${alone[@]}" bash "$here/threads.sh" clocks
cases judge_case | jq -s . >"$BUILD/threads.json"
write_page | wrap >"$page"
say "wrote $page"
