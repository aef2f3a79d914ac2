# A sweep through a real Slurm, started here from Debian's packages: jobs are killed, a node is lost, and the store is in
# the end that of a plain run. Ranks of an MPI program are on both nodes.
# time limit: 300 s
. "$TOP/tests/lib.sh"
. "$TOP/tests/launchers.bash"
. "$TOP/tests/cluster.bash"

check "munged, slurmctld and two slurmd start" start_cluster || exit
gcc -O2 -g -fno-inline $(pmodel flags) -o heat "$TOP/bench/apps/heat/heat.c" -lm
# Of what `mean` does reuse distances are the same in all runs: it uses no stack, whose place is random.
measure=(pmodel run -q --block 64,4096 --start-at mean --stop-after mean --exe ./heat)
in_slurm=("${measure[@]}" --launcher slurm)
sizes=(-P N=16:36:4)
slowly=(sh -c 'sleep 2; ./heat {N}')

counts() { sqlite3 "$1" 'SELECT parameters, processes, hex(counts) FROM run JOIN edges ON edges.run = run.id ORDER BY parameters'; }

"${measure[@]}" -o plain.pmdb "${sizes[@]}" -- ./heat '{N}' >plain.out
check "a sweep of sizes is an array of jobs" "${in_slurm[@]}" -o swept.pmdb "${sizes[@]}" -- ./heat '{N}'
check "and gives the store of a plain run" same_stores plain.pmdb swept.pmdb
check "its folder is gone" test ! -e swept.pmdb.jobs
pmodel run -q -o whole.pmdb "${sizes[@]}" -- ./heat '{N}' >/dev/null
check "a sweep of the whole program" pmodel run -q --launcher slurm -o whole.swept.pmdb "${sizes[@]}" -- ./heat '{N}'
check "has the edge counts of a plain run" cmp <(counts whole.pmdb) <(counts whole.swept.pmdb)

# ---- jobs and nodes are lost ----
"${measure[@]}" -o plain.slowly.pmdb "${sizes[@]}" -- "${slowly[@]}" >/dev/null
running() { [ "$(squeue --noheader --states=RUNNING | wc -l)" -ge "$1" ]; }
on_node() { squeue --noheader --array --states=RUNNING --nodelist="$1" --format='%i' | head -n 1; }
"${in_slurm[@]}" -o lost.pmdb "${sizes[@]}" -- "${slowly[@]}" >/dev/null 2>errors &
process=$!
check "jobs run on both nodes" wait_for sh -c 'squeue --noheader --states=RUNNING --format=%N | sort -u | tr "\n" " " | grep -q "node1 node2"'
killed=$(on_node node1)
scancel "$killed"
on_lost_node=$(squeue --noheader --array --states=RUNNING --nodelist=node2 --format='%i' | wc -l)
kill_node node2
wait $process
check "a job that is cancelled is a sentence" grep -qE "its job \($killed\) (was told to end|ended without a result)" errors
check "so is each job of a node that is lost" test "$(grep -c 'ended without a result' errors)" -ge "$on_lost_node"
check "what else was measured is kept" test "$(sizes_in lost.pmdb | wc -w)" = $((6 - $(grep -c 'the size is left out' errors)))
check "the node comes back" start_node node2
wait_for nodes_are_idle
check "the same command runs what is missing" "${in_slurm[@]}" -o lost.pmdb "${sizes[@]}" -- "${slowly[@]}"
check "and the store is that of a plain run" same_stores plain.slowly.pmdb lost.pmdb

# ---- pmodel itself ends, or the queue ----
"${in_slurm[@]}" -o resumed.pmdb "${sizes[@]}" -- "${slowly[@]}" >/dev/null 2>&1 &
process=$!
wait_for running 2
kill -KILL $process
wait $process 2>/dev/null
last_array() { scontrol show jobs --oneliner | grep -o 'ArrayJobId=[0-9]*' | sort -V | tail -n 1; }
last=$(last_array)
check "what a pmodel that was killed has submitted is waited for" \
    "${in_slurm[@]}" -o resumed.pmdb "${sizes[@]}" -- "${slowly[@]}"
check "and not submitted twice" test "$(last_array)" = "$last"
check "it is all there" same_stores plain.slowly.pmdb resumed.pmdb
"${in_slurm[@]}" -o ended.pmdb "${sizes[@]}" -- "${slowly[@]}" >/dev/null 2>errors &
process=$!
wait_for running 2
kill -TERM $process
wait $process
check "a signal cancels what waits and runs" wait_for sh -c '[ -z "$(squeue --noheader)" ]'
expect_error "a queue that refuses is quoted" 2 'left out: .*sbatch: error: .*partition' \
    "${in_slurm[@]}" --submit-options '--partition=none' -o none.pmdb -P N=16 -- ./heat '{N}'

# ---- ranks on several nodes ----
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_hwloc_base_binding_policy=none
messages() {
    sqlite3 "$1" 'SELECT parameters, rank, operation, partner, tag, sum(n), sum(n * bytes_sent), sum(n * bytes_received)
        FROM communication AS c JOIN run ON run.id = c.run JOIN rank AS r ON r.run = c.run AND r.process = c.process
        GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5'
}
# across NAME PLUGIN RANKS: with Slurm's PLUGIN for that library.
across() {
    local program=$1.cg_mpi
    cp "$BUILD/apps/$1/cg_mpi" "$program"
    local ranks=(--exe "./$program" -q --no-memory -P N=8,12 -P "p=$3")
    check "ranks of $1 are measured on two nodes" timeout 60 pmodel run "${ranks[@]}" -o "$1.pmdb" --launcher slurm \
        --submit-options '--nodes=2 --ntasks={p}' -- srun --overcommit "--mpi=$2" "./$program" '{N}' 3
    pmodel run "${ranks[@]}" -o "$1.plain.pmdb" -- "mpirun.$1" -np '{p}' "./$program" '{N}' 3 >/dev/null
    check "and do what they do on one" cmp <(counts "$1.plain.pmdb") <(counts "$1.pmdb")
    check "and tell each other the same" cmp <(messages "$1.plain.pmdb") <(messages "$1.pmdb")
}
across mpich pmi2 2,4
across openmpi pmix 2 # more ranks take two nodes of one host for one, and wait for ever
