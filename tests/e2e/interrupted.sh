# `pmodel run` when the run, or pmodel itself, does not come to its end: what is kept, marked, left out and removed.
. "$TOP/tests/lib.sh"
. "$TOP/tests/endings/interrupted.bash"

export NAP=1000.$$ # no other test sleeps that long
run() { pmodel run -q --block 32,64,128,4096,32768 "$@" >/dev/null; }

# ---- runs that are truncated ----
expect_error "a run that a signal ends is left out, and the signal is named" 2 \
    'was ended by signal 15 \(Terminated\).*left out' run -o none.pmdb -P N=50 -- ./sums '{N}' 15
check "and makes no store" test ! -e none.pmdb
check "a store of whole runs" run -o s.pmdb -P N=10:40:10 -- ./sums '{N}'
check "--keep-partial keeps one that a signal ended" \
    run -o s.pmdb --keep-partial -P N=50 --again -- ./sums '{N}' 15
check "one that its time ended" \
    run -o s.pmdb --keep-partial --timeout 1 -P N=60 -- ./sums '{N}' ever
check "and of one that was killed its last checkpoint" \
    run -o s.pmdb --keep-partial --checkpoint 1 -P N=70 --exe ./sums -- \
    sh -c './sums {N} ever & sleep 2; kill -KILL $!; wait $!'
check "all three are truncated" test "$(sqlite3 s.pmdb 'SELECT group_concat(truncated, "; ") FROM run')" = \
    "was ended by signal 15 (Terminated); was ended after 1 s (--timeout); ended with status 137"
check "what they did is counted" test "$(sqlite3 s.pmdb "SELECT min(n) FROM (SELECT count(*) AS n FROM histogram
    JOIN run ON run.id = run WHERE parameters IN ('N=50', 'N=60', 'N=70') GROUP BY run)")" -gt 3
expect_error "a program that fails is not one that is truncated" 2 'ended with status 7' \
    run -o s.pmdb --keep-partial -P N=80 --exe ./sums -- sh -c './sums {N}; exit 7'
expect_error "nor is there anything to keep of one that is killed without a checkpoint" 2 'ended by signal 9' \
    run -o s.pmdb --keep-partial -P N=80 -- ./sums '{N}' 9
check "a size whose run was truncated is run again" run -o s.pmdb -P N=50 -- ./sums '{N}' slowly
check "and then is whole" test "$(sqlite3 s.pmdb 'SELECT count(truncated) FROM run')" = 2

pmodel fit s.pmdb >s.fit 2>errors
check "fit leaves them out" grep -q '^sums: 5 runs, N from 10 to 50' s.fit
check "and says so, with what ended them" \
    grep -q 'N=60: the run did not come to its end (it was ended after 1 s (--timeout)), and is left out' errors
check "a size beyond them is predicted without a word" \
    sh -c '! pmodel report -m r12000 -P N=90 s.pmdb | grep "did not come to their end"'
check "and is said to be beyond the largest whole one" \
    sh -c 'pmodel report -m r12000 -P N=90 s.pmdb | grep -q "measured up to N=50"'
check "a report of one says that it is not whole" \
    sh -c 'pmodel report -m r12000 -P N=60 s.pmdb | grep -q "^warning: this run did not come to its end (it was ended after 1 s"'
pmodel show --as histograms s.pmdb -P N=60 >exported.json 2>errors
check "and so does an export" grep -q '^pmodel show: N=60: this run did not come to its end' errors
check "in JSON too" test "$(pmodel report -m r12000 -P N=70 --format json s.pmdb | jq -r '.warnings[0].kind')" = truncated
pmodel fit --with-partial s.pmdb >s.fit 2>errors
check "--with-partial takes them" grep -q '^sums: 7 runs, N from 10 to 70' s.fit
check "and says so" grep -q 'N=60: .*taken all the same' errors
check "predictions from them say so" \
    sh -c 'pmodel report -m r12000 -P N=90 s.pmdb | grep -q "^warning: 2 of the runs that the models were made from"'

# A process whose parent is gone is found by the command's group.
run -o lost.pmdb --timeout 1 --exe ./sums -P N=5 -- sh -c '(sleep $NAP &); ./sums {N} ever' 2>/dev/null
check "at the end of its time nothing of a command is left" is_gone "sleep $NAP"

# ---- pmodel itself ----
random_interruptions 12
pmodel run -q --block 64 -o child.pmdb -P N=5 -- ./sums '{N}' child >/dev/null 2>errors &
process=$!
wait_for is_alive "sleep $NAP"
kill -TERM $process
wait $process
check "what the command started is ended with it" is_gone "sleep $NAP"
check "and the user is told one sentence" test "$(grep -c interrupted errors)" = 1
pmodel run -q --block 64 -o part.pmdb --keep-partial -P N=5,6 -- ./sums '{N}' ever >begun 2>errors &
process=$!
wait_for test -s begun # it prints, then goes on
kill -TERM $process
wait $process
check "an interrupted run is kept with --keep-partial" \
    test "$(sqlite3 part.pmdb 'SELECT parameters, truncated FROM run WHERE truncated IS NOT NULL')" = \
    'N=5|was ended by signal 15 (Terminated)'

# ---- no room ----
# A limit of a file's size stands for a full disk: first copies do not fit, then raw files, then the store.
run -o full.pmdb -P N=1 -- ./sums '{N}'
for limit in 10 40 60 70; do
    (ulimit -f $limit; run -o full.pmdb -P N=10 -- ./sums '{N}') 2>errors
    grep -q '^pmodel: ' errors || echo "limit $limit: $(cat errors)"
    is_whole full.pmdb && [ "$(n_runs full.pmdb)" = 1 ] || echo "limit $limit: the store has changed"
done >wrong
check "what does not fit on the disk is a sentence, and the store stays as it was" sh -c 'cat wrong; ! [ -s wrong ]'
for limit in 20000 40000 60000 100000; do
    status=0
    (ulimit -v $limit; run -o full.pmdb -P N=10 --again -- ./sums '{N}') 2>errors || status=$?
    [ $status -lt 128 ] && is_whole full.pmdb || echo "limit $limit: status $status, $(cat errors)"
done >wrong
check "so is a lack of memory" sh -c 'cat wrong; ! [ -s wrong ]'
check "neither leaves a folder" test -z "$(ls "$TMPDIR")"

# ---- where the store is to be ----
expect_error "a folder that is not there is noticed before anything runs" 2 'no/such/folder' \
    run -o no/such/folder/s.pmdb -P N=10 -- sh -c 'touch ran; ./sums {N}'
check "nothing ran" test ! -e ran
