# PMODEL_SHARED, pmodel run --shared: the interleaved stream of all threads beside each thread's own.
# time limit: 600 s
. "$TOP/tests/lib.sh"
. "$TOP/tests/rewrite/rewrite.bash"

# measured PROGRAM ARGUMENT...: histograms in measured.txt, a line each.
measured() {
    rm -rf raw && mkdir raw
    PMODEL_OUT=$TMP/raw PMODEL_BLOCK=64 PMODEL_BIN_WIDTH=0 PMODEL_SHARED=1 timeout 60 "$@" >measured.out 2>&1
    "$tool" -d raw/*.raw >measured.txt 2>measured.notes
}

# ---- one thread ----
build "-O2" beside && "$tool" -m -r "$runtime" beside beside.i
for way in longjmps signals; do
    ./beside $way >plain.out
    measured ./beside.i $way
    check "$way: behaves as the plain program" cmp plain.out measured.out
    grep 'thread 0 ' measured.txt | sed 's/thread 0 //' | sort >private.txt
    grep 'thread -1 ' measured.txt | sed 's/thread -1 //' | sort >shared.txt
    check "$way: of one thread the stream of all is its own to the bit" sh -c '[ -s shared.txt ] && cmp private.txt shared.txt'
done

# ---- two that take turns ----
# at STREAMS LOW HIGH: loads at distances from LOW to HIGH, of these threads, in the loop that makes most.
at() {
    local group
    group=$(awk '$4 == "-1" && $14 > most { most = $14; group = $6 } END { print group }' measured.txt)
    awk -v streams="$1" -v low="$2" -v high="$3" -v group="$group" '
        $4 ~ "^(" streams ")$" && $6 == group {
            split(substr($0, index($0, ":") + 1), word)
            for (i = 1; i in word; i += 4) {
                split(word[i], ends, "-")
                if (ends[1] >= low && ends[2] <= high) n += word[i + 2]
            }
        }
        END { print n + 0 }' measured.txt
}
near=64 # other blocks: stacks, what the barrier is told
build "-O1" alternate && "$tool" -m -r "$runtime" alternate alternate.i
again=0 common=0 private=0
for _ in $(seq 10); do
    measured ./alternate.i disjoint
    [ "$(at -1 4095 $((4096 + near)))" = $((18 * 2048)) ] && again=$((again + 1))
    [ "$(at '[0-9]+' 2047 $((2048 + near)))" = $((18 * 2048)) ] && private=$((private + 1))
    measured ./alternate.i common
    [ "$(at -1 2047 $((2048 + near)))" = $((19 * 2048)) ] && common=$((common + 1))
done
check "own arrays: between two uses lie both" test $again = 10
check "own arrays: in a private cache lies one" test $private = 10
check "a common array: what one brought the other finds" test $common = 10
measured ./alternate.i disjoint waiting
check "a thread that waits holds nobody up and moves nothing" \
    test "$(at -1 4095 $((4096 + near)))" = $((18 * 2048))

# ---- processes, threads that come and go ----
build "-O2" hard_threads && "$tool" -m -r "$runtime" hard_threads hard.i
./hard_threads >plain.out 2>&1
measured ./hard.i
check "threads in every form behave as the plain program" cmp plain.out measured.out
for way in threads forks executes exit_in_thread; do
    ./beside $way >plain.out
    measured ./beside.i $way
    check "$way: behaves as the plain program" cmp plain.out measured.out
    check "$way: each process has the stream of its threads" \
        test "$(grep -c 'thread -1 ' measured.txt)" -gt 3
done
# What all threads touch is what the threads touch, once or more often.
measured ./beside.i threads
total() {
    awk -v streams="$1" '$4 ~ "^(" streams ")$" {
        split(substr($0, index($0, ":") + 1), word)
        for (i = 1; i in word; i += 4) n += word[i + 2] + word[i + 3]
        sub(/:/, "", $15)
        n += $14 + $15
    } END { print n + 0 }' measured.txt
}
check "no access is lost and none comes twice" test "$(total -1)" = "$(total '[0-9]+')" -a "$(total -1)" -gt 1000000

# ---- pmodel run ----
check "pmodel run has it" "$PMODEL" run -q -o shared.pmdb --block 64 --shared -P N=1 -- ./alternate disjoint
check "and its store keeps the stream apart" \
    test "$(sqlite3 shared.pmdb "SELECT count(*) FROM stream WHERE kind = 'shared'")" = 1
"$PMODEL" run -q -o plain.pmdb --block 64 -P N=1 -- ./alternate disjoint >/dev/null
for store in shared plain; do
    sqlite3 $store.pmdb "SELECT sum(accesses) FROM histogram h JOIN stream s ON s.run = h.run AND
        s.stream = h.stream WHERE s.kind <> 'shared'" >$store.sum
done
check "models see threads, never the stream of all" cmp plain.sum shared.sum
expect_error "not beside the program" 2 '--second-core' \
    "$PMODEL" run -o other.pmdb --shared --second-core -P N=1 -- ./alternate disjoint
expect_error "not without an analysis" 2 '--shared' \
    "$PMODEL" run -o other.pmdb --shared --no-memory -P N=1 -- ./alternate disjoint
