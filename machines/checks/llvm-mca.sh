#!/usr/bin/env bash
# Compares the rows of a machine file with what llvm-mca 19 says of probe instructions of each operation class, width and
# element (ISA.probes): latency, reciprocal throughput, units.  Differences are known if NAME.differences has them, with a reason.
#
#     llvm-mca.sh [--table | --list | --summary] [--json FILE] NAME
#
#     --table    (if not told otherwise) both sides of each probe, then differences that are not listed with a reason, listed ones
#                that are no longer there, and units that llvm.machines does not name; status 1 if there are any
#     --list     lines for NAME.differences of what is not listed with a reason, the reasons empty
#     --summary  figures of the machine as JSON
#     --json     the machine as `pmodel machines NAME --format json` prints it
#
# A row agrees if its latency and reciprocal throughput are within one cycle of llvm's for each probe that counts, and none of its
# figures is unverified.  llvm's latency of an instruction with a memory operand includes that of a load; so only probes of loads have one.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
die() {
    printf '%s: %s\n' "$0" "$*" >&2
    exit 2
}
usage='usage: llvm-mca.sh [--table | --list | --summary] [--json FILE] NAME'

show=table name='' json=''
while [ $# -gt 0 ]; do
    case $1 in
    --table | --list | --summary) show=${1#--} ;;
    --json)
        [ $# -gt 1 ] || die "$usage"
        json=$2
        shift
        ;;
    -*) die "$usage" ;;
    *)
        [ -z "$name" ] || die "$usage"
        name=$1
        ;;
    esac
    shift
done
[ -n "$name" ] || die "$usage"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# jq_here OPTION... PROGRAM FILE: PROGRAM knows llvm-mca.jq.
jq_here() {
    local options=("${@:1:$#-2}") program=${*: -2:1}
    jq -L "$here" "${options[@]}" "include \"llvm-mca\"; $program" "${*: -1}"
}

if [ -n "$json" ]; then
    cp "$json" "$scratch/all.json"
else
    pmodel machines "$name" --format json >"$scratch/all.json" || die "pmodel cannot print $name as JSON"
fi
jq_here '.costs |= once' "$scratch/all.json" >"$scratch/machine.json"
jq_here -R -s --arg name "$name" 'llvm_machines[] | select(.machine == $name)' "$here/llvm.machines" >"$scratch/llvm.machine"
[ -s "$scratch/llvm.machine" ] || die "llvm.machines does not say which of llvm's processors $name is"
isa=$(jq -r .isa "$scratch/llvm.machine")
[ -s "$here/../$isa.probes" ] || die "$isa.probes, with instructions for $name, does not exist"
jq_here -R -s probes "$here/../$isa.probes" >"$scratch/probes.json"

# Each probe is a region of its own, with its number as name.
syntax=''
[ "$isa" != x86-64 ] || syntax='.intel_syntax noprefix'
jq -r --arg syntax "$syntax" '$syntax, (to_entries[] | "# LLVM-MCA-BEGIN \(.key + 1)", .value.text, "1:", "# LLVM-MCA-END \(.key + 1)")' \
    "$scratch/probes.json" >"$scratch/probes.s"
llvm-mca-19 -mtriple="${isa/-/_}" -mcpu="$(jq -r .cpu "$scratch/llvm.machine")" \
    -instruction-tables -skip-unsupported-instructions=any -json -o "$scratch/llvm.json" "$scratch/probes.s" 2>"$scratch/errors" ||
    die "llvm-mca-19: $(head -1 "$scratch/errors")"
jq_here llvm_figures "$scratch/llvm.json" >"$scratch/figures.json"
jq_here --slurpfile probes "$scratch/probes.json" --slurpfile figures "$scratch/figures.json" --slurpfile llvm "$scratch/llvm.machine" \
    'compare($probes[0]; $figures[0]; $llvm[0].units)' "$scratch/machine.json" >"$scratch/compared.json"
differences=$here/$name.differences
[ -e "$differences" ] || differences=/dev/null
jq_here -R -s listed "$differences" >"$scratch/listed.json"

case $show in
list) jq_here -r --slurpfile listed "$scratch/listed.json" 'list($listed[0])' "$scratch/compared.json" ;;
summary)
    jq_here --slurpfile listed "$scratch/listed.json" --slurpfile llvm "$scratch/llvm.machine" \
        '($llvm[0] | {machine, cpu, counted}) + summary($listed[0])' "$scratch/compared.json"
    ;;
table)
    jq_here -r --slurpfile machine "$scratch/machine.json" 'table($machine[0].costs)' "$scratch/compared.json" |
        column -t -s "$(printf '\t')"
    jq_here --slurpfile listed "$scratch/listed.json" 'summary($listed[0])' "$scratch/compared.json" >"$scratch/summary.json"
    jq -r '"", "\(.agreeing) of \(.rows) rows agree; \(.unverified) are unverified, with those within a cycle \(.close)",
        (.unmatched_units[] | "no line of llvm.machines names the unit " + .),
        (.not_listed[] | "not listed with a reason: " + .), (.gone[] | "listed, but no longer so: " + .)' "$scratch/summary.json"
    jq -e '.unmatched_units + .not_listed + .gone == []' "$scratch/summary.json" >/dev/null
    ;;
esac
