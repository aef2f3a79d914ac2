# `pmodel run` of MPI programs and `pmodel show --as communication`: numbers and bytes of events, in C and Fortran, with both MPI libraries, for
# 1 to 4 ranks, beside other counts of the same runs: Open MPI's monitoring component (what goes from rank to rank) and a simple counter
# behind ours (tests/mpi/counter.c), and the programs' own formulas. What is sent is received; traces have what is counted.
. "$TOP/tests/lib.sh"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# build LIBRARY NAME SOURCE FLAG...
build() {
    local mpi=$1 name=$2 source=$3 compiler=mpicc
    shift 3
    case $source in *.f90) compiler=mpif90 ;; esac
    "$compiler.$mpi" -g -O1 -w "$@" -o "$name.$mpi" "$TOP/tests/mpi/$source"
}
# run LIBRARY NAME ARGUMENT...: at 1 to 4 ranks, into NAME.LIBRARY.pmdb, with both other counts.
run() {
    local mpi=$1 name=$2 launcher
    shift 2
    launcher="mpirun.$mpi -np {p}"
    [ "$mpi" = mpich ] || launcher="mpirun.$mpi --oversubscribe --mca pml_monitoring_enable 2 --mca pml_monitoring_enable_output 3
        --mca pml_monitoring_filename $PWD/$name.monitoring.{p} -np {p}"
    # shellcheck disable=SC2086 # words
    pmodel run -q --no-memory -o "$name.$mpi.pmdb" --env "LD_PRELOAD=$PWD/counter.$mpi.so" --env "COUNTER=$PWD/$name.$mpi.{p}" \
        -P p=1,2,3,4 -P N=3 -- $launcher "./$name.$mpi" '{N}' >"$name.$mpi.output"
}
for mpi in openmpi mpich; do
    "mpicc.$mpi" -shared -fPIC -O1 -w -o "counter.$mpi.so" "$TOP/tests/mpi/counter.c" || fail "the counter builds"
    build "$mpi" exchange exchange.c && build "$mpi" module exchange.f90 -cpp && build "$mpi" f08 exchange.f90 -cpp -DF08 &&
        build "$mpi" mpif exchange.f90 -cpp -DMPIF || fail "programs build with $mpi"
    for name in exchange module; do
        check "$name runs with $mpi at 1 to 4 ranks" run "$mpi" "$name"
    done
    printf '0\n12\n162\n576\n' >expected
    check "$mpi: it prints what it prints without us" diff expected "exchange.$mpi.output"
done

# sent STORE P WITHOUT: a line "from to messages bytes" for each pair, of messages that are sent, but for those of an operation. (Open
# MPI's monitoring component does not see persistent requests.)
sent() {
    sqlite3 -separator ' ' "$1" "SELECT r.rank, c.partner, sum(c.n), sum(c.n * c.bytes_sent) FROM communication c
        JOIN run ON run.id = c.run JOIN rank r ON r.run = c.run AND r.process = c.process
        WHERE run.parameters = 'N=3 p=$2' AND c.partner >= 0 AND c.operation IN ('MPI_Send', 'MPI_Ssend', 'MPI_Isend', 'MPI_Sendrecv',
        'MPI_Send_init')
        AND c.operation != '$3' GROUP BY 1, 2 ORDER BY 1, 2"
}
monitored() { cat "$1.monitoring.$2".*.prof | awk '$1 == "E" { print $2, $3, $6, $4 }' | sort -n -k1 -k2; }
for name in exchange module; do
    for p in 1 2 3 4; do
        sent "$name.openmpi.pmdb" "$p" MPI_Send_init >ours
        monitored "$name" "$p" >theirs
        check "$name, $p ranks: messages and bytes are those of Open MPI's monitoring" diff theirs ours
        sent "$name.openmpi.pmdb" "$p" '' >ours
        sent "$name.mpich.pmdb" "$p" '' >mpich
        check "$name, $p ranks: MPICH's are the same" diff ours mpich
    done
done

# counted STORE P RANK: a line "operation calls sent received" for each operation that the counter knows.
counted() {
    sqlite3 -separator ' ' "$1" "SELECT c.operation, sum(c.n), sum(c.n * c.bytes_sent), sum(c.n * c.bytes_received) FROM communication c
        JOIN run ON run.id = c.run JOIN rank r ON r.run = c.run AND r.process = c.process
        WHERE run.parameters = 'N=3 p=$2' AND r.rank = $3 GROUP BY 1" >all
    awk 'NR == FNR { known[$1]; next } $1 in known' "$4" all | sort
}
for run in exchange.openmpi exchange.mpich module.mpich; do
    for p in 1 2 3 4; do
        different=
        for ((rank = 0; rank < p; rank++)); do
            awk '{ n[$1]++; s[$1] += $2; r[$1] += $3 } END { for (o in n) print o, n[o], s[o], r[o] }' "$run.$p.$rank" | sort >theirs
            counted "$run.pmdb" "$p" "$rank" "$run.$p.$rank" >ours
            diff theirs ours || different+=" $rank"
        done
        check "$run, $p ranks: calls and bytes of each rank are the counter's" test -z "$different"
    done
done

# What one sends the other receives: pairs with their messages and bytes from both ends.
for run in exchange.openmpi exchange.mpich module.openmpi module.mpich; do
    sqlite3 "$run.pmdb" "SELECT run, r.rank AS a, partner AS b, sum(c.n), sum(c.n * bytes_sent) FROM communication c JOIN rank r USING (run, process)
        WHERE partner >= 0 AND operation IN ('MPI_Send', 'MPI_Ssend', 'MPI_Isend', 'MPI_Sendrecv', 'MPI_Send_init') GROUP BY 1, 2, 3" | sort >ours
    sqlite3 "$run.pmdb" "SELECT run, other, rank, sum(n), sum(n * bytes_received) FROM (
        SELECT run, partner AS other, r.rank AS rank, c.n AS n, bytes_received FROM communication c JOIN rank r USING (run, process)
        WHERE operation IN ('MPI_Recv', 'MPI_Irecv', 'MPI_Mrecv', 'MPI_Recv_init')
        UNION ALL SELECT run, source, r.rank, c.n, bytes_received FROM communication c JOIN rank r USING (run, process)
        WHERE operation = 'MPI_Sendrecv') WHERE other >= 0 GROUP BY 1, 2, 3" | sort >theirs
    check "$run: what is sent is received" diff ours theirs
    check "$run: nothing is unknown" test "$(sqlite3 "$run.pmdb" 'SELECT count(*) FROM communication WHERE bytes_sent IS NULL OR bytes_received IS NULL OR partner < -2')" = 0
    check "$run: traces have as many events as were counted" test \
        "$(sqlite3 "$run.pmdb" 'SELECT sum(events) || " " || sum(lost) FROM trace')" = "$(sqlite3 "$run.pmdb" 'SELECT sum(n) || " 0" FROM communication')"
done

# The formulas of the Fortran program: of 3 steps with p ranks on a line.
for p in 1 2 3 4; do
    halo=$(((p - 1) * 3)) bytes=$((3 * 8 * (20 * (p - 1) + (p - 1) * (p - 2) / 2 + 30 * (p - 1))))
    check "$p ranks: halo messages and bytes by formula" test "$(sqlite3 -separator ' ' module.openmpi.pmdb "SELECT coalesce(sum(n), 0),
        coalesce(sum(n * bytes_sent), 0) FROM communication c JOIN run ON run.id = c.run WHERE run.parameters = 'N=3 p=$p'
        AND operation = 'MPI_Isend' AND partner >= 0")" = "$((2 * halo)) $bytes"
done

# mpi_f08 and mpif.h, which come to the library in other ways.
for mpi in openmpi mpich; do
    for name in f08 mpif; do
        oversubscribe=
        [ "$mpi" = mpich ] || oversubscribe=--oversubscribe
        # shellcheck disable=SC2086 # empty or a word
        check "$name runs with $mpi" pmodel run -q --no-memory -o "$name.$mpi.pmdb" -P p=3 -- "mpirun.$mpi" $oversubscribe -np '{p}' "./$name.$mpi"
        query="SELECT c.process, c.operation, c.partner, c.tag, c.bytes_sent, c.bytes_received, c.requests, c.n FROM communication c JOIN run
            ON run.id = c.run WHERE run.parameters LIKE '%p=3' ORDER BY 1, c.id"
        check "$mpi: $name has the events of the module" diff <(sqlite3 "module.$mpi.pmdb" "$query") <(sqlite3 "$name.$mpi.pmdb" "$query")
    done
done

# Receives that are completed late, or never: counted as what they were, in the trace as what was known.
build mpich late late.c || fail "late builds"
check "late runs" pmodel run -q --no-memory -o late.pmdb -P p=2 -- mpirun.mpich -np '{p}' ./late.mpich
printf '98 -3 ? 1\n99 1 12 1\n' >expected
sqlite3 -separator ' ' late.pmdb "SELECT tag, partner, coalesce(bytes_received, '?'), n FROM communication
    WHERE process = 0 AND operation = 'MPI_Irecv' AND n > 0 ORDER BY 1" >ours
check "a receive that waits long has what came, one that is never completed is unknown" diff expected ours
pmodel show --as communication late.pmdb --rank 1 --format csv | tr -d '\r' | awk -F, '$4 == "MPI_Irecv" { n += $10 } END { print n }' >ours
check "rows of a rank have each event once" grep -qx 2 ours

# What is rarer, the same with both libraries.
for mpi in openmpi mpich; do
    oversubscribe=
    [ "$mpi" = mpich ] || oversubscribe=--oversubscribe
    build "$mpi" rare rare.c -pthread || fail "rare builds"
    # shellcheck disable=SC2086 # empty or a word
    pmodel run -q --no-memory -o "rare.$mpi.pmdb" -P p=4 -- "mpirun.$mpi" $oversubscribe -np '{p}' "./rare.$mpi" >"rare.$mpi.output"
    check "rare runs with $mpi" test $? = 0
    check "$mpi: an error is returned as it is" grep -qx 'level 1, error class right: 1' "rare.$mpi.output"
    pmodel show --as communication "rare.$mpi.pmdb" --format csv >"rare.$mpi.csv"
done
check "both libraries have the same events" diff rare.openmpi.csv rare.mpich.csv
check "threads are told apart" test "$(sqlite3 rare.mpich.pmdb "SELECT count(*) FROM (SELECT DISTINCT process, thread FROM communication)")" = 8
check "what is made and freed again has one number" test "$(sqlite3 rare.mpich.pmdb "SELECT count(*) FROM communicator WHERE made_by = 'MPI_Comm_dup'")" = 1
check "both sides of two groups have one number" test "$(sqlite3 rare.mpich.pmdb "SELECT count(*) FROM communicator WHERE made_by = 'MPI_Intercomm_create'")" = 1
volume() { awk -F, -v operation="$1" '$4 == operation { sent += $11; received += $12 } END { print sent + 0, received + 0 }' rare.mpich.csv; }
check "neighbours on a line of 4" test "$(volume MPI_Neighbor_alltoall)" = "48 48"
check "types for each partner" test "$(volume MPI_Alltoallw)" = "96 96"
check "a broadcast to another group" test "$(volume MPI_Bcast)" = "12 24"
check "a derived type" test "$(volume MPI_Send)" = "192 0"

# The command.
pmodel show --as communication exchange.mpich.pmdb -P p=4,N=3 --matrix --format csv | tr -d '\r' >matrix
check "--matrix" grep -qx '0,1,.*' matrix
pmodel show --as communication exchange.mpich.pmdb -P p=4,N=3 --format json >events.json
check "JSON has its format" jq -e '.format == "pmodel-communication" and .version == 1 and .ranks == 4 and (.events | length > 20)' events.json
check "partners that are relative to the rank" jq -e '[.events[] | select(.operation == "MPI_Sendrecv")] | length == 1 and .[0].partner == "rank+1, rank−1" and .[0].events == 12' events.json
pmodel show --as communication exchange.mpich.pmdb -P p=4,N=3 --trace 2 --format json >trace.json
check "--trace has loops" jq -e '[.threads[0].trace[] | select(.times == 3)] | length > 0' trace.json
check "as many events as they say" jq -e 'def n: if .times then .times * ([.body[] | n] | add) else 1 end; .threads[0].events == ([.threads[0].trace[] | n] | add)' trace.json
expect_error "a rank that is not there" 2 'no rank 9' pmodel show --as communication exchange.mpich.pmdb -P p=4,N=3 --trace 9
expect_error "two reports at once" 2 'matrix and --trace exclude each other' pmodel show --as communication exchange.mpich.pmdb --matrix --trace 0
check "--no-communication" pmodel run -q --no-memory --no-communication -o none.pmdb -- mpirun.mpich -np 2 ./exchange.mpich
expect_error "traces nothing" 2 'no communication was traced' pmodel show --as communication none.pmdb
