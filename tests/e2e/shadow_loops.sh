# Shadow loops from which lower bounds are measured, against objdump: instruction by instruction the same operation on the
# same registers, with a slot in the place of each memory operand that has one.
# shellcheck shell=bash
. "$TOP/tests/lib.sh"
. "$TOP/tests/truth/tools.sh"

truth_tool shadow_loops || {
    fail "the tool that makes copies builds"
    exit
}

# Disassembly as "ADDRESS TEXT", memory operands as M, jumps without where they go.
normal='function tidy(text) {
        sub(/ *#.*/, "", text); sub(/ *<.*/, "", text)
        gsub(/%[c-gs]s:/, "", text); sub(/(^| )(cs|ds|es|ss|fs|gs|data16|addr32|rex[.A-Z]*|notrack) /, " ", text)
        gsub(/\*?-?(0x[0-9a-f]+)?\([^)]*\)/, "M", text)
        if (text ~ /^ *j/) sub(/[ \t]+(0x)?[0-9a-f]+$/, "", text)
        gsub(/[ \t]+/, " ", text); sub(/^ /, "", text); sub(/ $/, "", text)
        if (text ~ /^ *call[ \t]+(0x)?[0-9a-f]+/) text = "call"
        sub(/,p[nt]$/, "", text)
        return text
    }'

# copies_agree FILE: each nest of it.
copies_agree() {
    rm -rf copies && mkdir copies && ./shadow_loops "$1" copies >listed || return 1
    objdump -d --no-show-raw-insn "$1" | awk "$normal"'
        $1 ~ /^[0-9a-f]+:$/ { address = $1; sub(":", "", address); text = $0; sub(/^[^\t]*\t/, "", text); print "0x" address "\t" tidy(text) }' >old.texts
    (cd copies && objdump -D -b binary -m i386:x86-64 --no-show-raw-insn ./*.bin) | awk "$normal"'
        $1 ~ /^\.\/[0-9]+\.bin:$/ { number = $1; gsub(/[^0-9]/, "", number) }
        $1 ~ /^[0-9a-f]+:$/ { text = $0; sub(/^[^\t]*\t/, "", text); print number "\t" tidy(text) }' >new.texts
    awk -F '\t' -f "$TOP/tests/truth/compare_copies.awk" old.texts new.texts FS=' ' listed | tee compared
    grep -q "^nests [1-9][0-9]* .* wrong 0\$" compared
}

for app in heat adi cg ssor sweep multigrid fft; do
    truth_app "$app" && check "copies of $app's nests have its instructions" copies_agree "./$app"
done
check "pmodel's own" copies_agree "$BUILD/bin/pmodel"
