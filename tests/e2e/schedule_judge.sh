# What judges schedules of loops (bench/accuracy/machines/schedule.sh): which loops are chosen, its statistics, and llvm-mca asked about bytes.
# shellcheck shell=bash
. "$TOP/tests/lib.sh"
# shellcheck source=bench/lib/mca.bash
. "$TOP/bench/lib/mca.bash"

# says NAME PROGRAM: a program of schedule.jq is true.
says() { check "$1" jq -n -e -L "$TOP/bench/accuracy/machines" "include \"schedule\"; $2"; }

says "hashes of 64 bits are taken modulo ten" '["ffffffffffffffff", "fffffffffffffffa", "0x1a", "0"] | map(modulo_ten) == [5, 0, 6, 0]'
jq -n '[{file: "GSL", loops: [range(400) | {label: "f/\(.)", result: "ran", cycles: 10, cycles_low: 9.8, cycles_high: (if . % 4 == 0 then 11 else 10.2 end),
    hash: "0x\(. % 300 + 100)", instructions: 3, bytes: 2, code: "0000"}]}, {file: "heat", loops: [{label: "g/1", result: "calls", cycles: null}]}]' >alone.json
check "narrow loops are chosen, each code once, the 150 smallest hashes" jq -e -L "$TOP/bench/accuracy/machines" 'include "schedule"; chosen | length == 150
    and (map(.hash) | unique | length) == 150 and all(.[].number; . > 0) and (map(.hash) | max) < "0000000000000320"' alone.json
check "a tenth of them, more or less, is apart" jq -e -L "$TOP/bench/accuracy/machines" 'include "schedule"; chosen | map(select(.apart)) | length > 5 and length < 30' alone.json
check "a narrower interval of another run counts" jq -e -L "$TOP/bench/accuracy/machines" 'include "schedule";
    [{file: "a", loops: [{key: "k", address: "1", result: "ran", cycles: 9, cycles_low: 5, cycles_high: 10}]}]
    | narrowed({file: "a", loops: [{key: "k", address: "1", result: "ran", cycles: 8, cycles_low: 7.9, cycles_high: 8.1}]})[0].loops[0].cycles == 8' alone.json
says "a rank correlation is Spearman's, with ties" '([[1, 10], [2, 20], [3, 25], [4, 1000]] | rank_correlation) == 1
    and ([[1, 3], [2, 2], [3, 1]] | rank_correlation) == -1 and ([[1, 1], [1, 2], [2, 2]] | rank_correlation | . > 0.499 and . < 0.501)'
says "medians and 90th percentiles are of what is not apart, the others beside" \
    '[range(10) | {cycles: 10, apart: (. == 9), p: (10 + .)}] | judged(.p) | .loops == 9 and .median == 0.4 and .p90 == 0.8 and .apart.median == 0.9'
says "classes of differences are explained with patterns" '("*, division, *: divisor\nunits, *, 256: ports\n" | reasons) as $known
    | ("units, division, 128" | reason_of($known)) == "divisor" and ("units, move, 256" | reason_of($known)) == "ports" and ("recurrence, move, 256" | reason_of($known)) == ""'

# A chain of four additions to a register; the same by way of memory operands; what llvm does not know; another good one.
printf '%s\n' $'1\t4801c04801c04801c04801c075f2' $'2\t4883c008c5fb5804074839d075f2' $'7\t064801c0c5f8' $'300\t4801c075fb' >loops
mca_cycles icelake-server loops mca >cycles
check "llvm-mca tells cycles of loops that are given as bytes" grep -qxF $'1\t4' cycles
check "… of several in one process, whatever their numbers are" grep -qxF $'300\t1' cycles
check "what it cannot read is said to be so, and spoils no other" sh -c 'grep -qx "7	unparsable" cycles && [ "$(wc -l <cycles)" -eq 4 ]'
mca_seconds=0.001 mca_cycles icelake-server loops mca >late
check "what takes too long is said to be so" grep -qx '1	time-out' late
mca_cycles icelake-server loops mca >cycles
mca_kinds mca >kinds
check "kinds of instructions and widths of vectors are told" sh -c 'grep -q "^1	integer	-	addq" kinds && grep -q "^2	floating point	128	" kinds'
