# `pmodel probe`: what it writes is a machine file that reads the same, its figures have intervals, and stopping it keeps
# what is done. What this machine's figures are is not asserted, but for what is the same everywhere.
. "$TOP/tests/lib.sh"

if [ "$(uname -m)" != x86_64 ]; then
    check "another processor is refused with a sentence" sh -c '! pmodel probe -o here.conf 2>err; grep -q x86-64 err'
    exit 0
fi
check "a quick probe ends" sh -c 'pmodel probe --quick -o here.conf 2>progress'
check "it says how far it is" grep -q "pmodel probe: .*%" progress
check "it writes a machine file without mistakes" sh -c 'pmodel machines --check ./here.conf >check.txt'
check "which has no figure without a source but counts of hardware" sh -c '! grep -q "^ *fp_add.*no source" check.txt'
pmodel machines ./here.conf --format json >here.json
check "latency of a chain of multiplications is the clock's own three cycles" jq -e '
    [.figures[] | select(.name == "int_mult/64.latency" or .name == "int_mult.latency") | .number] | length >= 1 and (.[0] > 2.85 and .[0] < 3.15)' here.json
check "caches grow from level to level" jq -e '
    [.figures[] | select(.name | test("^L[0-9].size$")) | .number] | length >= 2 and (. == sort)' here.json
check "lines are found" jq -e '.figures[] | select(.name == "L1.line") | .number == 64' here.json
check "what is changed by --set is read again" sh -c 'pmodel machines ./here.conf --set fp_add.latency=9 >changed.conf && pmodel machines --check ./changed.conf >/dev/null'
check "curves come back without loss" sh -c '
    grep -c "^curve" here.conf >drawn && grep -c "^curve" changed.conf >read && cmp drawn read && [ "$(cat drawn)" -ge 4 ]'

# Stopped: what there is, and the exit status of success.
pmodel probe -o stopped.conf 2>/dev/null &
probe=$!
sleep 3
kill -INT "$probe"
wait "$probe"
check "a probe that is stopped ends well" test $? -eq 0
check "it keeps what is done, and says so" grep -q "It was stopped" stopped.conf
check "throughputs are among it" grep -q "^cost { of = {int_add}" stopped.conf

check "an unknown argument is refused" sh -c 'pmodel probe here 2>err; [ $? -eq 2 ] && grep -q "unexpected argument" err'
check "a file that cannot be written is refused" sh -c 'timeout 5 pmodel probe -o /nowhere/here.conf 2>err; [ $? -eq 2 ] || [ $? -eq 1 ]'
