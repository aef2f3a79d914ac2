# A whole quick `pmodel probe`: what it writes is a machine file that reads the same, and its figures have intervals.
# What this machine's figures are is not asserted, but for what is the same everywhere.
. "$TOP/tests/lib.sh"

[ "$(uname -m)" = x86_64 ] || exit 0
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
    grep -c "^curve" here.conf >drawn && grep -c "^curve" changed.conf >read && cmp drawn read && [ "$(cat drawn)" -ge 2 ]'
