# `pmodel run` of several sizes at once: processes of this machine (-j), and a queue that a file describes (--launcher),
# for which shells in the background stand in. What is lost, left over, refused or damaged is a sentence, and the same
# command goes on.
. "$TOP/tests/lib.sh"
. "$TOP/tests/launchers.bash"

build_once "ends sums" sums gcc -O1 -g -o sums "$TOP/tests/endings/sums.c" || exit
# `work` uses no stack but for its return address, so that its reuse distances are the same in each run.
measure=(pmodel run -q --block 64,4096 --start-at work --stop-after work) # in the background as an array, so that signals reach it
run() { "${measure[@]}" "$@"; }

run -o plain.pmdb -P N=1:4 -- ./sums '{N}' >plain.out

# ---- side by side on this machine ----
check "sizes are measured side by side" run -j 2 -o local.pmdb -P N=1:4 -- ./sums '{N}'
check "the store is that of a plain run" same_stores plain.pmdb local.pmdb
check "and nothing else is left" test ! -e local.pmdb.jobs
run -j 3 --again -o local.pmdb -P N=1:4 -- ./sums '{N}' >local.out
check "what is printed comes whole" cmp <(sort plain.out) <(sort local.out)
expect_error "a size that fails is left out, and its last words are said" 2 'N=3.*ended with status 7, last saying: oh no' \
    run -j 2 -o some.pmdb --exe ./sums -P N=1:4 -- sh -c './sums {N}; test {N} != 3 || { echo oh no >&2; exit 7; }'
check "the others are there" test "$(sizes_in some.pmdb)" = "N=1 N=2 N=4"
check "the end of a size's time is kept with --keep-partial" \
    run -j 2 --timeout 1 --keep-partial -o late.pmdb -P N=1,2 -- ./sums '{N}' ever
check "as of a plain run" test "$(sqlite3 late.pmdb 'SELECT group_concat(truncated, "; ") FROM run')" = \
    "was ended after 1 s (--timeout); was ended after 1 s (--timeout)"
echo '{N}' >template
run -j 1 --scratch runs --input template:size -o input.pmdb --exe ./sums -P N=1,2 -- sh -c "$PWD/sums \$(cat size)" >/dev/null
check "each size has its folder and its input" cmp <(echo 2) runs/N=2/size
check "no job is left there" test "$(ls runs)" = $'N=1\nN=2'
"${measure[@]}" -j 2 -o ended.pmdb -P N=1:4 -- "$PWD/sums" '{N}' slowly >/dev/null 2>errors &
process=$!
wait_for pgrep -f "^$PWD/sums [1-4] slowly" >/dev/null
kill -TERM $process
wait $process
check "a signal ends all sizes, and one sentence says so" test "$(grep -c interrupted errors)" = 1
check "no job of it goes on" is_gone "^$PWD/sums"
check "nor is its folder there" test ! -e ended.pmdb.jobs
check "the same command goes on" run -j 2 -o ended.pmdb -P N=1:4 -- "$PWD/sums" '{N}' slowly
check "and completes the store" test "$(sizes_in ended.pmdb)" = "N=1 N=2 N=3 N=4"

# ---- a queue ----
make_queue queue.conf
in_queue=("${measure[@]}" --launcher ./queue.conf)
queue() { "${in_queue[@]}" "$@"; }
check "a file describes a queue" queue -o queue.pmdb -P N=1:4 -- ./sums '{N}'
check "that gives the store of a plain run" same_stores plain.pmdb queue.pmdb
check "all sizes were one array" test "$(cat submitted)" = 3
check "what it has is not submitted again" queue -o queue.pmdb -P N=1:4 -- ./sums '{N}'
check "at all" test "$(cat submitted)" = 3

rm -f submitted
queue -o killed.pmdb -P N=1:4 --exe ./sums -- sh -c "[ {N} != 2 ] || [ -e mended ] || kill -KILL 0; ./sums {N}" >/dev/null 2>errors
check "a job that dies is a sentence" grep -q 'N=2: its job (1_1) ended without a result' errors
check "what the others measured is there" test "$(sizes_in killed.pmdb)" = "N=1 N=3 N=4"
touch mended
check "the same command measures what is missing" \
    queue -o killed.pmdb -P N=1:4 --exe ./sums -- sh -c "[ {N} != 2 ] || [ -e mended ] || kill -KILL 0; ./sums {N}"
check "and nothing else" test "$(cat submitted)" = $'3\n0'
check "all are there" test "$(sizes_in killed.pmdb)" = "N=1 N=2 N=3 N=4"

rm -f submitted
"${in_queue[@]}" -o resumed.pmdb -P N=1:4 -- ./sums '{N}' slowly >/dev/null 2>&1 &
process=$!
wait_for test -e resumed.pmdb.jobs/1/id
kill -KILL $process
wait $process 2>/dev/null
check "jobs outlive a pmodel that is killed" test -e resumed.pmdb.jobs/1/3/pid
expect_error "another command does not wait for them" 2 'has jobs that were submitted with --launcher .*queue.conf' \
    run -j 2 -o resumed.pmdb -P N=1:4 -- ./sums '{N}' slowly
"${in_queue[@]}" -o resumed.pmdb -P N=1:4 -- ./sums '{N}' slowly >/dev/null 2>&1 &
process=$!
wait_for grep -q "process $process " resumed.pmdb.jobs/lock
expect_error "one process at a time waits for them" 2 "another pmodel, process $process on .* waits for the jobs" \
    queue -o resumed.pmdb -P N=1:4 -- ./sums '{N}' slowly
wait $process
check "the same command waits for them" test "$(sizes_in resumed.pmdb)" = "N=1 N=2 N=3 N=4"
check "and submits none twice" test "$(cat submitted)" = 3
"${in_queue[@]}" -o cancelled.pmdb -P N=1,50 -- "$PWD/sums" '{N}' slowly >/dev/null 2>errors &
process=$!
wait_for test -e cancelled.pmdb
kill -TERM $process
wait $process
check "a signal cancels the jobs" wait_for is_gone "^$PWD/sums 50 slowly"
check "and keeps what is whole" test "$(sizes_in cancelled.pmdb)" = "N=1"
check "--detach leaves them" queue --detach -o left.pmdb -P N=1:3 -- ./sums '{N}'
wait_for test -e left.pmdb.jobs/1/2/result
check "the same command takes in what they measured" queue --detach -o left.pmdb -P N=1:3 -- ./sums '{N}'
check "all of it" test "$(sizes_in left.pmdb)" = "N=1 N=2 N=3"

# A limit of a file's size stands for a full disk: jobs have their results, the store has no room.
rm -f submitted
(ulimit -f 40; queue -o full.pmdb -P N=1:3 -- ./sums '{N}') >/dev/null 2>errors
check "a store without room is a sentence for each size" test "$(grep -c 'N=.: full.pmdb: the store cannot be' errors)" = 3
check "what jobs measured is taken in later" queue -o full.pmdb -P N=1:3 -- ./sums '{N}'
check "without running them again" test "$(cat submitted) $(sizes_in full.pmdb)" = "2 N=1 N=2 N=3"
(ulimit -f 4; queue -o none.pmdb -P N=1:3 -- ./sums '{N}') 2>errors
check "no room for the copies is one, too" grep -q 'cannot write the instrumented program' errors

# The shipped file for ssh, with a shell in place of another machine.
printf '%s\n' '#!/bin/sh' 'shift 2' 'exec sh -c "$*"' >ssh
chmod +x ssh
sed 's/^\(interval\|settle\) .*/\1 = 0/' "$BUILD/share/pmodel/launchers/ssh.conf" >ssh.conf
check "another machine is reached by ssh" env PATH="$PWD:$PATH" pmodel run -q --launcher ./ssh.conf --block 64,4096 --start-at work \
    --stop-after work -o ssh.pmdb -P N=1:4 -- ./sums '{N}'
check "and its store is that of a plain run" same_stores plain.pmdb ssh.pmdb

# ---- what is refused or damaged ----
cat >refuses.conf <<'C'
submit = 'test {JOBS} = 1 || { echo "no array of {JOBS} for {OPTIONS}" >&2; exit 3; }; sh {SCRIPT} >/dev/null 2>&1; echo 1'
poll = 'true'
index = '0'
settle = 0
interval = 0
C
expect_error "a queue that refuses is quoted" 2 \
    '2 sizes are left out: .* ended with status 3, last saying: no array of 2 for -p 0' \
    run --launcher ./refuses.conf --submit-options '-p {queue}' -P N=1,2,3 -P 'queue=N==3' -o refused.pmdb -- ./sums '{N}'
check "sizes with other options are another array" test "$(sizes_in refused.pmdb)" = "N=3 queue=1"
cat >unknown.conf <<'C'
submit = 'echo {SCRIPT} {WHEN}'
poll = 'true'
C
expect_error "a word that means nothing is named" 2 'unknown\.conf: \{WHEN\} means nothing' \
    run --launcher ./unknown.conf -o none.pmdb -P N=1 -- ./sums '{N}'
for wrong in "poll = 'true'|it says no .submit." "submit = 'true'|it says no .poll." "submit = true{|wrong.conf:1: " \
    "sumbit = 'true'|wrong.conf:1: no such option 'sumbit'" 'poll = "$HOME"|between single quotes' "needs = {'no-such-command'}
submit = 'true'
poll = 'true'|there is no .no-such-command. here" "most = 0
submit = 'true'
poll = 'true'|most is 0, not a number from 1"; do
    printf '%s\n' "${wrong%|*}" >wrong.conf
    expect_error "a launcher's file with $(head -n 1 wrong.conf)" 2 "${wrong##*|}" \
        run --launcher ./wrong.conf -o none.pmdb -P N=1 -- ./sums '{N}'
done
expect_error "a launcher that is not there" 2 'neither `local`, nor a file' run --launcher nowhere -o none.pmdb -P N=1 -- ./sums '{N}'
mkdir only
ln -s "$(command -v rm)" "$(command -v sh)" only
for shipped in "$BUILD"/share/pmodel/launchers/*.conf; do
    sed '/^needs/d' "$shipped" >shipped.conf
    expect_error "$(basename "$shipped") is read" 2 'ended with status' \
        env PATH="$BUILD/bin:$PWD/only" pmodel run -q --launcher ./shipped.conf -o none.pmdb -P N=1 -- ./sums '{N}'
done
expect_error "runs with timers need the machine for themselves" 2 'time and -j exclude each other' \
    pmodel run -j 2 --time -o none.pmdb -P N=1 -- ./sums '{N}'
check "none of these leaves anything" test ! -e none.pmdb -a ! -e none.pmdb.jobs

# Jobs that are run by hand: what happens to their files between the node and us.
cat >hand.conf <<'C'
submit = 'basename {FOLDER}'
poll = 'for i in {IDS}; do ! [ -e waits ] || echo $i; done'
index = '$1'
job = "{ID}_{INDEX}"
settle = 0
interval = 0
C
by_hand() { run --launcher ./hand.conf --exe ./program -o hand.pmdb "$@" -P N=1:4 -- ./program '{N}'; }
cp sums program
touch waits
by_hand --detach
for job in 0 1 2; do check "a job is run by hand" pmodel run-one hand.pmdb.jobs/1/$job; done
truncate -s -9 hand.pmdb.jobs/1/1/raw/*.raw
printf '%s\n' 'form pmodel 1' >hand.pmdb.jobs/1/2/result
echo ' ' >>program
check "on a node with another build it fails" sh -c '! pmodel run-one hand.pmdb.jobs/1/3 2>/dev/null'
cp sums program
rm waits
by_hand 2>errors >/dev/null
check "a raw file that is truncated is a sentence" grep -q 'N=2: .*raw' errors
check "so is a result" grep -q 'N=3: .*result: is not whole' errors
check "and another build on a node" grep -q 'N=4: .*program is another file here than the one that was instrumented' errors
check "what is whole is kept" test "$(sizes_in hand.pmdb)" = N=1
check "and nothing else is left" test ! -e hand.pmdb.jobs
