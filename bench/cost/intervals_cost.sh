#!/usr/bin/env bash
# What intervals cost over edge counters alone: CPU time of the MPI applications of bench/apps, one process each, with
# intervals at all calls that communicate over that without them; the least of some rounds, of which each runs both.
#
# Writes $BUILD/intervals_cost.json (the figure intervals_over_edges, the geometric mean) and prints a line for each
# program: intervals, kinds, seconds without and with them, bytes that they take in the store. Alone, with the
# applications built (make apps):
#     BUILD=$PWD/build PATH=$PWD/build/bin:$PATH bash bench/cost/intervals_cost.sh
# COMMANDS: other lines of a program and its arguments.
# shellcheck source=bench/lib/bench.bash
. "$(dirname "$0")/../lib/bench.bash"
new_folder intervals_cost
rounds=${ROUNDS:-7}
export OMPI_MCA_hwloc_base_binding_policy=none
cd "$folder"

# A line: the program's name, then its arguments.
commands=${COMMANDS:-"cg_mpi 64 100
sweep_mpi 40 30"}

# seconds STORE OPTION... -- COMMAND...: of the instrumented program.
seconds() {
    local store=$1
    shift
    rm -f "$store"
    pmodel run -q --no-memory --no-communication -o "$store" "$@" >/dev/null 2>errors || die "$(tail -1 errors)"
    sqlite3 "$store" 'SELECT cpu_seconds FROM run'
}

least() { printf '%s\n' "${1:-$2}" "$2" | sort -g | head -1; }

while read -r name arguments; do
    program=$BUILD/apps/openmpi/$name without='' with=''
    [ -x "$program" ] || die "$program is not there: make apps, with Open MPI's compilers"
    for ((round = 0; round < rounds; round++)); do
        # shellcheck disable=SC2086 # the arguments are words
        {
            without=$(least "$without" "$(seconds edges.pmdb --interval none -- "$program" $arguments)")
            with=$(least "$with" "$(seconds intervals.pmdb -- "$program" $arguments)")
        }
    done
    read -r n kinds bytes < <(sqlite3 -separator ' ' intervals.pmdb \
        'SELECT sum(n), count(DISTINCT kind), sum(length(edges)) FROM interval')
    say "$name $arguments: $n intervals of $kinds kinds, $bytes bytes; $without s without them, $with s with them"
    jq -n -c --arg name "$name" --argjson n "$n" --argjson kinds "$kinds" --argjson bytes "$bytes" \
        --argjson without "$without" --argjson with "$with" '$ARGS.named'
done <<<"$commands" >costs.jsonl
jq -s '[{name: "intervals_over_edges", value: (map(.with / .without | log) | add / length | exp), unit: "ratio", limit: 1.10} |
    .holds = (.value <= .limit)]' costs.jsonl \
    >"$BUILD/intervals_cost.json"
jq -r '.[] | "\(.name) \(.value)"' "$BUILD/intervals_cost.json"
