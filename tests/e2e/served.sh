# A machine file whose last level `serves` a part of the reuses: misses are those that follow from the histograms by
# hand, with the interval of what is served; views say what stands for the level.
. "$TOP/tests/lib.sh"
. "$TOP/tests/truth/tools.sh"

truth_app heat || fail "heat builds"
cat >part.conf <<'END'
include = zen4
cache L3 { serves = {"64KiB: 1", "512KiB: 0.75 (0.5 to 0.875)", "2MiB: 0.25 (0.125 to 0.5)"} }
END
printf 'include = part\ncache L3 { size = 64MiB }\n' >double.conf
pmodel run -q -o heat.pmdb -m zen4 -P N=16,20,24,28,32,36,40 -- ./heat '{N}' >/dev/null
pmodel show --as histograms --format csv -P N=40 heat.pmdb >histograms.csv

# The sum over bins of what is not served, distances taken one by one.
by_hand() {
    python3 - "$@" <<'END'
import csv, math, sys
points = [tuple(map(float, p.split(":"))) for p in sys.argv[1:]]
def serves(distance):
    if distance <= points[0][0]:
        return points[0][1]
    for (a, s), (b, t) in zip(points, points[1:]):
        if distance <= b:
            return s + (t - s) * math.log(distance / a) / math.log(b / a)
    return points[-1][1]
misses = 0
for row in csv.DictReader(open("histograms.csv")):
    if row["block_bytes"] != "64" or row["stream"] != "sum":
        continue
    accesses = float(row["loads"]) + float(row["stores"])
    if row["record"] == "reuse":
        low, high = int(float(row["distance_low"])), int(float(row["distance_high"]))
        distances = [low + (high - low) * k / 1000 for k in range(1001)] if high - low > 1000 else range(low, high + 1)
        accesses *= 1 - sum(serves((d + 0.5) * 64) for d in distances) / len(distances)
    misses += accesses
print(misses)
END
}
l3() { pmodel query heat.pmdb -P N=40 --format json -m "$1" | jq ".answers[] | select(.cache.name == \"L3\") | $2"; }
near() {
    awk -v a="$2" -v b="$3" 'BEGIN { exit !(a > 0 && a <= b * 1.001 && b <= a * 1.001) }' && pass "$1" || fail "$1" "$2, not $3"
}
near "misses are what is not served" "$(l3 ./part.conf .misses)" "$(by_hand 65536:1 524288:0.75 2097152:0.25)"
near "at most what the low end leaves" "$(l3 ./part.conf .interval.high)" "$(by_hand 65536:1 524288:0.5 2097152:0.125)"
near "at least what the high end leaves" "$(l3 ./part.conf .interval.low)" "$(by_hand 65536:1 524288:0.875 2097152:0.5)"
near "twice the size serves twice as far" "$(l3 ./double.conf .misses)" "$(by_hand 131072:1 1048576:0.75 4194304:0.25)"
check "without it nothing is uncertain of a measured size" test "$(l3 zen4 .interval)" = null

pmodel fit heat.pmdb >fit.txt
report() { pmodel report heat.pmdb -P N="$1" -m "$2" --format json | jq ".predictions[0] | $3"; }
near "a report has the same misses" "$(report 40 ./part.conf '[.rows[] | select(.iterations > 0) | .misses_per_iteration.L3 * .iterations] | add')" \
    "$(l3 ./part.conf .misses)"
wider() {
    [ "$(jq -n "$(report "$1" ./part.conf .high_seconds) > $(report "$1" ./part.conf .seconds)")" = true ] &&
        printf 'include = part\ncache L3 { serves = {"64KiB: 1", "512KiB: 0.75", "2MiB: 0.25"} }\n' >sure.conf &&
        [ "$(jq -n "$(report "$1" ./part.conf .high_seconds) > $(report "$1" ./sure.conf .high_seconds)")" = true ] &&
        [ "$(jq -n "$(report "$1" ./part.conf .low_seconds) < $(report "$1" ./sure.conf .low_seconds)")" = true ]
}
check "the interval of what is served is in that of a measured size's time" wider 40
check "and in that of a predicted one's" wider 80
told='L3, of 32 MiB, is shared: it serves half of the reuses at 1 MiB.'
check "a query says so" sh -c "pmodel query heat.pmdb -P N=40 -m ./part.conf | grep -F '$told'"
check "so does a report" sh -c "pmodel report heat.pmdb -P N=40 -m ./part.conf --notes | grep -F '$told'"
check "and a check of the file" sh -c "pmodel machines --check ./part.conf | grep -F '$told'"
check "two machines differ in it" sh -c "pmodel machines --diff zen4 ./part.conf | grep -F 'L3.serves'"
check "what fits stands where half is served" test "$(pmodel query heat.pmdb --fits --format json -m ./part.conf |
    jq '[.answers[].cache | select(.name == "L3") | .size_bytes] | unique | .[]')" = 1048576
pmodel run -q -o profile.pmdb --profile --simulate ./part.conf -P N=40 -- ./heat '{N}' >/dev/null
check "and a simulated cache is as large" sh -c "pmodel show --as profile profile.pmdb --format json |
    jq -e '[.. | objects | select(.level? == \"L3\") | .size_bytes // empty] == [1048576]'"
