# Old texts (ADDRESS TEXT), new texts (NEST TEXT), what shadow_loops printed: each nest's instructions in turn. No-ops and
# jumps are let be: where blocks stand is the copy's own matter. Prints the differences, and one line with all counts.
FILENAME ~ /old.texts$/ { old[$1] = $2; next }
FILENAME ~ /new.texts$/ { if ($2 !~ /^(nop|xchg %ax,%ax)/) new[$1, n_new[$1]++] = $2; next }
function mnemonic(text) { sub(/ .*/, "", text); return text }
# Of registers objdump leaves the letter of the width away.
function is_same(a, b) { return a == b || substr(a, 1, length(a) - 1) == b }
function take() {
    while (new[nest, at[nest]] ~ /^jmp/) at[nest]++
    return new[nest, at[nest]++]
}
function wrong(expected, found) {
    if (n_wrong++ < 20)
        print "nest " nest " of " routine ": " $3 " " $4 ": " expected " became " found
}
# Up to the first jump, words of replayed branches are loaded.
$1 == "nest" {
    nest = $2; routine = $3; n_nests++; n_chained += $8; at[nest] = 0
    while (at[nest] < n_new[nest] && new[nest, at[nest]] !~ /^jmp/) at[nest]++
    next
}
$1 == "impossible" { n_impossible = $2; next }
$1 != "insn" || $4 == "dropped" || $4 == "jump" { next }
{ n_insns++; expected = old[$3] }
$4 == "replayed" {
    first = take(); second = take(); third = take(); n_replayed++
    if (first ~ /^v?ptest M,/) {
        fourth = take()
        if (!(second ~ /^v?paddq / && third == "ja" && fourth == "jb"))
            wrong(expected, first "; " second "; " third "; " fourth)
    } else if (!((first ~ /^add / || first == "shlq M") && second == "je" && third == "jb"))
        wrong(expected, first "; " second "; " third)
    next
}
$4 == "apart" && new[nest, at[nest]] != expected {
    first = take(); second = take(); third = take(); n_apart++
    if (!(first ~ /^mov[a-z]* M,/ && third ~ /^mov [^,]*,M$/ && is_same(mnemonic(expected), mnemonic(second))))
        wrong(expected, first "; " second "; " third)
    next
}
{
    found = take()
    while (expected ~ /^call/ && found ~ /^lea M,%r[ds]i$/) # where sincos stores to
        found = take()
    if (found != expected)
        wrong(expected, found)
    n_slots += $4 != "same"
}
END { printf "nests %d impossible %d instructions %d slots %d apart %d chained %d replayed %d wrong %d\n", n_nests, n_impossible, n_insns, n_slots, n_apart, n_chained, n_replayed, n_wrong }
