#!/usr/bin/env bash
# What a prediction costs: processor time and largest memory in use of `pmodel report` on one thread, for each of the
# machines that are shipped, at 2, 8 and 64 times the largest fitted size; and of a page and of a table of scaling of ssor.
# Of the programs of bench/apps/sizes.conf, and apart of those of bench/lib/apart.bash.
#
# Writes $BUILD/predict_costs.json (the figures) and $BUILD/predict/rows.jsonl (each prediction), and prints a line for each
# program. Stores stay in $BUILD/predict/stores and are made where they are missing. Alone:
#     BUILD=$PWD/build PATH=$PWD/build/bin:$PATH bash bench/cost/predict.sh
# ONLY=name,…: of these programs. ROUNDS: how often each is timed, the least counts (2). TIME_LIMIT: seconds of processor
# time (60), and MEMORY_LIMIT: MiB (8192), at which a prediction is given up. MACHINES: some of them, separated by commas.
# shellcheck source=bench/lib/bench.bash
. "$(dirname "$0")/../lib/bench.bash"
# shellcheck source=bench/lib/apart.bash
. "$bench/lib/apart.bash"
in_folder predict
rounds=${ROUNDS:-2}
time_limit=${TIME_LIMIT:-60}
memory_limit=${MEMORY_LIMIT:-8192}
factors='2 8 64'
export OMP_NUM_THREADS=1
cd "$folder"
mkdir -p stores programs

all_machines=$(for file in "$TOP"/machines/*.conf; do basename "$file" .conf; done | paste -s -d ,)
machines=${MACHINES:-$all_machines}

# ---- stores -------------------------------------------------------------------------------------------

# measure NAME SIZES OPTION... -- COMMAND...: into stores/NAME.pmdb, with the blocks of all machines.
measure() {
    local name=$1 fit=$2
    shift 2
    say "$name is measured"
    rm -f new.pmdb
    pmodel run -q -o new.pmdb -m "$all_machines" -P "N=${fit// /,}" "$@" >run.out 2>errors && pmodel fit new.pmdb >fit.out 2>errors ||
        { say "$name: $(tail -1 errors)"; return 1; }
    mv new.pmdb "stores/$name.pmdb"
}

measure_application() {
    local arguments
    # shellcheck disable=SC2046 # the flags are words
    build_program "$1" "programs/$1" $(pmodel flags) || return
    mapfile -t arguments < <(program_arguments "$1" fit)
    measure "$1" "$(size_value "$1" fit)" -- "programs/$1" "${arguments[@]}"
}

# ---- what one command takes ---------------------------------------------------------------------------

# used COMMAND...: {"seconds": of processor time, the least of the rounds, "mib": the largest memory}; null where it was
# given up or failed, with a message on standard error.
used() {
    local round
    for ((round = 0; round < rounds; round++)); do
        if (ulimit -t "$time_limit" -v $((1024 * memory_limit)) && command time -q -o used -f '%U %S %M' "$@" >/dev/null 2>errors); then
            cat used
        else
            say "status $? from: $* ($(tail -1 errors))"
            echo '{"seconds": null, "mib": null}'
            return
        fi
    done | awk '/^\{/ { print; given_up = 1 } !given_up && (NR == 1 || $1 + $2 < least) { least = $1 + $2 } $3 > most { most = $3 }
        END { if (!given_up) printf "{\"seconds\": %s, \"mib\": %.1f}\n", least, most / 1024 }'
}

# predict SET NAME SIZES: a row for each factor and machine.
predict() {
    local store=stores/$2.pmdb largest factor machine counts
    largest=$(tr ' ' '\n' <<<"$3" | sort -n | tail -1)
    counts=$(sqlite3 -json "$store" "SELECT (SELECT count(*) FROM scope WHERE kind = 'loop') AS loops,
        (SELECT count(DISTINCT scope_group) FROM histogram) AS groups" | jq -c '.[0]')
    say "$2 is predicted"
    for factor in $factors; do
        for machine in ${machines//,/ }; do
            used pmodel report "$store" -m "$machine" -P "N=$((factor * largest))" |
                jq -c --arg set "$1" --arg program "$2" --arg machine "$machine" --argjson factor "$factor" --argjson counts "$counts" \
                    '{$set, $program, $machine, $factor} + . + $counts'
        done
    done >>rows.jsonl
}

# Names of ONLY in both lists, or all.
chosen() { # NAME...
    local name
    for name in "$@"; do
        if [[ -z ${ONLY-} || ",$ONLY," == *",$name,"* ]]; then echo "$name"; fi
    done
}

: >rows.jsonl
# shellcheck disable=SC2046 # names are words
for name in $(chosen $(ONLY='' program_names)); do
    [ -s "stores/$name.pmdb" ] || measure_application "$name" || continue
    predict applications "$name" "$(size_value "$name" fit)"
done
# shellcheck disable=SC2086
for name in $(chosen $apart_names); do
    [ -s "stores/$name.pmdb" ] || measure_apart "$name" || continue
    predict apart "$name" "$(apart_fit "$name")"
done

# ---- commands that ask many times ---------------------------------------------------------------------

: >others.jsonl
if [ -n "$(chosen ssor)" ]; then
    say "a page and a table of scaling of ssor"
    used pmodel report --as page stores/ssor.pmdb -m r12000,sapphire-rapids,zen4 --sizes 60 -o page.html |
        jq -c '{what: "page"} + .' >>others.jsonl
    for machine in r12000 sapphire-rapids zen4; do
        used pmodel report --as scaling stores/ssor.pmdb -m "$machine" -P N=8:240:8 | jq -c '{what: "scaling"} + .'
    done >>others.jsonl
fi

jq -n -L "$here" --slurpfile rows rows.jsonl --slurpfile others others.jsonl 'include "predict"; figures($rows; $others)' >"$BUILD/predict_costs.json"
jq -n -r -L "$here" --slurpfile rows rows.jsonl 'include "predict"; table($rows) | @tsv' | column -t -s "$(printf '\t')"
jq -r '.[] | "\(.name) \(.value // "?") \(.unit)\(if .worst then " (\(.worst))" else "" end)"' "$BUILD/predict_costs.json"
