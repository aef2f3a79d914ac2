# Machine files beside llvm-mca 19: each row that is not as llvm's is known, with a reason, and what is known is still so
# (machines/checks/llvm-mca.sh).  The instructions that this is asked of are what they are said to be.
# shellcheck shell=bash
. "$TOP/tests/lib.sh"
checks=$TOP/machines/checks

# ---- the probes: class, width and element are those that the lifter gives such an instruction

# lifted ISA TYPE AS LD [FLAG]...: the lines of ISA.probes that pmodel reads otherwise.  Each is a routine.
lifted() {
    local isa=$1 type=$2 as=$3 ld=$4
    shift 4
    {
        [ "$isa" != x86-64 ] || echo '.intel_syntax noprefix'
        printf '.text\n.globl _start\n_start: ret\n'
        jq -R -s -r -L "$checks" --arg type "$type" 'include "llvm-mca"; probes | to_entries[] | "probe_\(.key)" as $name
            | ".type \($name), \($type)function", "\($name):", .value.text, "1:", "ret", ".size \($name), . - \($name)"' "$checks/../$isa.probes"
    } >"$isa.s"
    "$as" "$@" -o "$isa.o" "$isa.s" && "$ld" -o "$isa.elf" "$isa.o" || return
    pmodel loops --mix --level routine --format json "$isa.elf" 2>messages |
        jq -r -L "$checks" --rawfile probes "$checks/../$isa.probes" 'include "llvm-mca";
            ([.rows[] | {key: .label, value: .mix}] | from_entries) as $mix
            | $probes | probes | to_entries[] | .value as $probe | "probe_\(.key)" as $name
            # The width of a scalable vector is not in the instruction.
            | select((if $probe.class == "several" then [$mix[$name][]?.count] | add > 3 # two are of the return
                else any($mix[$name][]?; .class == $probe.class and (.element_bytes // 0) == $probe.element
                and (.width_bits // 0) == (if $probe.text | test("[zp][0-9]\\.") then 0 else $probe.width end)) end) | not)
            | "\($probe.class) \($probe.width) \($probe.element) \($probe.text)  is \($mix[$name] | tojson)"' >"$isa.wrong" && [ -s "$isa.elf" ]
}
nothing_wrong() {
    lifted "$@" && ! grep . "$1.wrong"
}
check "probes of x86-64 are read as they are listed" nothing_wrong x86-64 @ as ld
check "probes of AArch64 are read as they are listed" nothing_wrong aarch64 % \
    aarch64-linux-gnu-as aarch64-linux-gnu-ld -march=armv8.4-a+sve+crypto

# ---- the machines

isa_of() { jq -r '.isa // empty' "$1.json"; }
shipped=$(pmodel machines | awk '{ print $1 }')
for name in $shipped; do
    pmodel machines "$name" --format json >"$name.json" || fail "$name as JSON" "pmodel machines does not print it"
    if ! grep -q "^$name " "$checks/llvm.machines"; then
        isa=$(isa_of "$name")
        [ -z "$isa" ] || [ ! -e "$checks/../$isa.probes" ] || fail "$name: llvm.machines says what to compare it with" "no line begins with its name"
        continue
    fi
    "$checks/llvm-mca.sh" --summary "$name" >"$name.summary"
    jq -r '"\(.machine), \(.cpu): \(.agreeing) of \(.rows) rows agree, \(.unverified) are unverified, \(.differences) figures differ"' "$name.summary"
    check "$name: llvm.machines names its units" jq -e '.unmatched_units == []' "$name.summary"
    check "$name: what differs from llvm-mca is listed, with a reason" jq -e '.not_listed == []' "$name.summary"
    check "$name: what is listed differs" jq -e '.gone == []' "$name.summary"
    compared=$name
done

# ---- and a new difference is seen

jq '(.costs[] | select(.class == "fp_add") | .latency) += 30' "$compared.json" >changed.json
"$checks/llvm-mca.sh" --json changed.json "$compared" >changed.out
check "another latency fails" test $? -eq 1
check "and is named" grep -q '^not listed with a reason: fp_add 64 8 latency: ours' changed.out
"$checks/llvm-mca.sh" --json "$compared.json" --summary "$compared" >before.summary
"$checks/llvm-mca.sh" --json changed.json --summary "$compared" >after.summary
check "its rows do not agree" test "$(jq .agreeing after.summary)" -lt "$(jq .agreeing before.summary)"
jq '.costs |= map(.unverified = ["latency"])' "$compared.json" >unverified.json
"$checks/llvm-mca.sh" --json unverified.json --summary "$compared" >unverified.summary
check "unverified rows do not count as agreeing" jq -e '.agreeing == 0 and .rows > 0 and .close > 0' unverified.summary
jq '.costs |= map(select(.class != "fp_div"))' "$compared.json" >fewer.json
check "rows that are left out are not compared" test \
    "$("$checks/llvm-mca.sh" --json fewer.json --summary "$compared" | jq .rows)" -lt "$(jq .rows before.summary)"
jq '.costs[0].class = "string"' "$compared.json" >unknown.json
"$checks/llvm-mca.sh" --json unknown.json "$compared" >unknown.out
check "a row that no probe reaches is a difference" grep -q '^not listed.* string .* probe: ours a row' unknown.out
expect_error "a machine that llvm does not know is refused" 2 'does not say which of' "$checks/llvm-mca.sh" --json "$compared.json" nowhere
