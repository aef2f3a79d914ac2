#!/usr/bin/env bash
# Compares the rows of an old machine with GCC's scheduling description of its processor: latency, the cycles for which a unit is busy
# (repeat) and units, and the latencies of bypasses.  NAME.map says which reservation of GCC is which row, NAME.differences which
# differences are known, each with a reason.
#
#     gcc-md.sh [--list | --summary] [--json FILE] NAME FILE.md
#
#     (no option)  both sides of each row, then what is not listed with a reason, what is listed but no longer so, and what the map lacks;
#                  status 1 if there is any
#     --list       lines for NAME.differences of what is not listed, the reasons empty
#     --summary    the counts and these lists as JSON
#     --json       the machine as `pmodel machines NAME --format json` prints it
#
# A row agrees if all three figures are the same and none of its figures is unverified: such a figure may come from this table.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
die() {
    printf '%s: %s\n' "$0" "$*" >&2
    exit 2
}
show=table json=''
while [ "${1#--}" != "${1-}" ]; do
    case $1 in
    --list | --summary) show=${1#--} ;;
    --json)
        json=${2-}
        shift
        ;;
    *) die "unknown option $1" ;;
    esac
    shift
done
[ $# -eq 2 ] || die 'usage: gcc-md.sh [--list | --summary] [--json FILE] NAME FILE.md'
name=$1 description=$2
[ -s "$here/$name.map" ] || die "$name.map, which says what of GCC's is which row, does not exist"
[ -s "$description" ] || die "$description does not exist"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if [ -n "$json" ]; then
    cp "$json" "$scratch/machine.json"
else
    pmodel machines "$name" --format json >"$scratch/machine.json" || die "pmodel cannot print $name as JSON"
fi
awk -f "$here/gcc-md.awk" "$here/$name.map" "$description" >"$scratch/gcc.json"
[ -s "$scratch/gcc.json" ] || die "$description describes no instruction of the processor that $name.map names"
differences=$here/$name.differences
[ -e "$differences" ] || differences=/dev/null

jq -L "$here" --slurpfile gcc "$scratch/gcc.json" --rawfile map "$here/$name.map" --rawfile listed "$differences" '
    include "llvm-mca";
    def figure($what; $ours; $theirs): if $ours == $theirs then empty else "\($what): ours \($ours), GCC\u0027s \($theirs)" end;
    # The cycles for which the busiest unit of a row is reserved: "p0:8|p1:8@2" has 8.
    def repeat_of_row: [(.uses // [])[] | [splits("\\+")][] | capture(":(?<cycles>[0-9.]+)").cycles | tonumber] | max // 1;
    def text: if . == [] then "none" else join(" ") end;
    .costs as $costs | .figures as $figures
    | [$map | split("\n")[] | sub("#.*"; "") | [splits("\\s+") | select(. != "")] | select(length > 0 and (.[0] | IN("unit", "cpu", "file") | not))] as $lines
    | ([$lines[] | select(.[0] != "bypass")] | map({name: .[0], class: .[1], width: (.[2] // "0" | tonumber), element: (.[3] // "0" | tonumber)})) as $rows
    | [$lines[] | select(.[0] == "bypass")] as $bypasses
    | [$rows[] | select(.class != "-") | . as $row | ([$gcc[] | select(.name == $row.name)][0]) as $theirs
        | row_of($costs; {class: .class, width: .width, element: .element}) as $index
        | "\(.class) \(.width) \(.element)" as $title
        | if $theirs == null then {row: $title, gone: "GCC has no reservation \(.name)"}
          elif $theirs.unknown != [] then {row: $title, gone: "the map does not name the units \($theirs.unknown | join(" ")) of \(.name)"}
          elif $index == null then {row: $title, unverified: false, found: ["\($title) row: ours none, GCC\u0027s \(.name)"]}
          else $costs[$index] as $ours | {row: $title, unverified: ($ours.unverified != []),
            ours: "\($ours.latency) \($ours | repeat_of_row) \($ours | units_of_row | text)",
            gcc: "\($theirs.latency) \($theirs.repeat) \($theirs.units | sort | text)",
            found: [(if .class | has_result then figure("\($title) latency"; $ours.latency; $theirs.latency) else empty end),
                figure("\($title) repeat"; $ours | repeat_of_row; $theirs.repeat),
                figure("\($title) units"; $ours | units_of_row | text; $theirs.units | sort | text)]} end] as $compared
    | [$gcc[] | select(.from) as $theirs | [$bypasses[] | select((.[1] == $theirs.from and .[2] == $theirs.to) or .[1] == "*")][0] as $line
        | if $line == null then "the map has no bypass from \($theirs.from) to \($theirs.to)"
          elif $line[3] == "-" then empty
          else figure("\($line[4]) bypass"; [$figures[] | select(.name == "bypass/\($line[3]).latency").number][0] // "none"; $theirs.latency) end]
        as $passed
    | ([$compared[].found // empty | .[]] + [$passed[] | select(test(": ours "))]) as $found
    | ([$compared[].gone // empty] + [$passed[] | select(test(": ours ") | not)]
        + [$gcc[] | select(.name) | .name as $name | select(any($rows[]; .name == $name or ((.name | endswith("*")) and (.name[:-1] as $start
            | $name | startswith($start)))) | not) | "the map has no line for \($name)"]
        + [$bypasses[] | . as $line | select(.[1] != "*" and (any($gcc[]; .from == $line[1] and .to == $line[2]) | not)) | "GCC has no bypass from \(.[1]) to \(.[2])"])
        as $lacking
    | [$listed | split("\n")[] | select(test("^[a-z]")) | capture("^(?<what>.*), reason: (?<reason>.*)$") // {what: ., reason: ""}] as $known
    | {rows: ($compared | length), agreeing: [$compared[] | select(.found == [] and .unverified == false)] | length,
       unverified: [$compared[] | select(.unverified)] | length, differences: ($found | length),
       not_listed: [$found[] | . as $one | select(any($known[]; .what == $one and .reason != "") | not)],
       gone: [$known[].what | . as $one | select(any($found[]; . == $one) | not)], lacking: $lacking,
       table: [$compared[] | select(.ours) | [.row, .ours, .gcc, (if .unverified then "unverified" else "" end)]]}' \
    "$scratch/machine.json" >"$scratch/summary.json"

case $show in
summary) jq 'del(.table)' "$scratch/summary.json" ;;
list) jq -r '.not_listed[] | . + ", reason: "' "$scratch/summary.json" ;;
table)
    jq -r '["row", "ours", "GCC"], .table[] | @tsv' "$scratch/summary.json" | column -t -s "$(printf '\t')"
    jq -r '"", "\(.agreeing) of \(.rows) rows agree, \(.unverified) are unverified",
        (.not_listed[] | "not listed with a reason: " + .), (.gone[] | "listed, but no longer so: " + .), .lacking[]' "$scratch/summary.json"
    jq -e '.not_listed + .gone + .lacking == []' "$scratch/summary.json" >/dev/null
    ;;
esac
