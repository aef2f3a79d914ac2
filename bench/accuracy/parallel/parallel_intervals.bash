# Intervals of MPI programs beside callgrind's, for bench/accuracy/parallel/parallel.sh and e2e/interval_counts: each rank of
# each run, interval by interval.
# shellcheck shell=bash

# What callgrind is to write its counts before: the calls that end intervals in C, or in Fortran, whose routines
# have many names in a library (mpi_send, mpi_send_, MPI_Send_f …), of which callgrind takes one.
interval_triggers() {
    local list=$1 language=$2
    if [ "$language" = c ]; then
        sed -n 's/^MPI_[A-Za-z_]*$/--dump-before=& --dump-before=P&/p' "$list"
    else
        sed -n 's/^\(MPI_\)\([A-Za-z_]*\)$/\1\2 \U\1\2\E \L\1\2/p' "$list" | while read -r name upper lower; do
            for prefix in '' P; do
                printf -- '--dump-before=%s ' "$prefix$upper" "$prefix${name}_f" "$prefix${name}_f08"
            done
            for prefix in '' p; do
                printf -- '--dump-before=%s ' "$prefix$lower" "$prefix${lower}_" "$prefix${lower}__"
            done
        done
    fi | tr '\n' ' '
}

# compare_intervals FOLDER LANGUAGE P PROGRAM ARGUMENT...: prints "PROGRAM P intervals kinds differing", of all
# ranks. PROGRAM is built with -no-pie for a CPU that valgrind knows; FOLDER is for what is written.
compare_intervals() {
    local folder=$1 language=$2 p=$3 program=$4 intervals=0 kinds=0 differing=0 rank process said
    shift 4
    local name
    name=$(basename "$program")
    rm -rf "$folder/$name.$p" && mkdir -p "$folder/$name.$p"
    # shellcheck disable=SC2164 # it was just made
    (
        cd "$folder/$name.$p"
        pmodel run -q --no-memory --no-libm --no-communication -o run.pmdb -- mpirun -np "$p" "$program" "$@" >run.out 2>&1 &&
            pmodel show --as intervals run.pmdb -o run.json
        triggers=$(interval_triggers "$TOP/measure/mpi.intervals" "$language")
        # shellcheck disable=SC2016 # the shells of the ranks expand it
        TRIGGERS=$triggers mpirun -np "$p" sh -c 'exec valgrind --tool=callgrind --dump-instr=yes --dump-line=no \
            --compress-pos=no --compress-strings=no $TRIGGERS --callgrind-out-file="rank$OMPI_COMM_WORLD_RANK" \
            "$@"' rank "$program" "$@" >callgrind.out 2>&1
    )
    for ((rank = 0; rank < p; rank++)); do
        process=$(sqlite3 "$folder/$name.$p/run.pmdb" "SELECT process FROM rank WHERE rank = $rank")
        if said=$(python3 "$TOP/tests/truth/interval_counts.py" "$folder/$name.$p/run.json" \
            "$folder/$name.$p/rank$rank" "${process:-0}" 2>&1); then
            read -r n _ _ k _ <<<"$said"
            intervals=$((intervals + n)) kinds=$((kinds > k ? kinds : k))
        else
            differing=$((differing + 1))
            printf '%s, rank %s of %s: %s\n' "$name" "$rank" "$p" "$said" >&2
        fi
    done
    printf '%s %s %s %s %s\n' "$name" "$p" "$intervals" "$kinds" "$differing"
}
