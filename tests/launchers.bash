# Stores side by side, and a queue to submit jobs to: `. "$TOP/tests/launchers.bash"` after tests/lib.sh.
# shellcheck shell=bash

# dump_store STORE: all that runs measured, but times.
dump_store() {
    sqlite3 "$1" "SELECT parameters, processes, threads, block_sizes, settings, hex(counts), hex(inexact)
            FROM run JOIN edges ON edges.run = run.id ORDER BY parameters" \
        "SELECT parameters, scope_group, block_bytes, stream, cold, accesses, hex(data)
            FROM run JOIN histogram ON histogram.run = run.id ORDER BY 1, 2, 3, 4"
}
same_stores() { cmp <(dump_store "$1") <(dump_store "$2"); }
sizes_in() { sqlite3 "$1" 'SELECT group_concat(parameters, " ") FROM (SELECT parameters FROM run ORDER BY parameters)'; }

is_gone() { ! pgrep -f "$1" >/dev/null; }

# make_queue FILE: a launcher whose jobs are shells in the background. Each submission adds the number of its last
# job to the file `submitted`.
make_queue() {
    cat >"$1" <<'C'
index = '$TASK'
submit = 'echo {LAST} >>submitted
    for TASK in $(seq 0 {LAST}); do
        export TASK
        setsid sh {SCRIPT} </dev/null >{FOLDER}/$TASK/queue 2>&1 &
        echo $! >{FOLDER}/$TASK/pid
    done
    basename {FOLDER}'
poll = 'for job in {IDS}; do
        kill -0 $(cat {FOLDER}/$(echo $job | tr _ /)/pid) 2>/dev/null && echo "$job running"
    done; true'
job = "{ID}_{INDEX}"
cancel = 'for job in {IDS}; do kill $(cat {FOLDER}/$(echo $job | tr _ /)/pid); done'
interval = 0
settle = 0
C
}
