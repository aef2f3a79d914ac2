# Do references that `.pmodel` calls independent touch the same bytes after all?
#
#     awk -f alias_trace.awk SECTION TRACE
#
# SECTION: the output of dump_section for a program at fixed addresses; TRACE: what valgrind's lackey
# says of a run of it with --trace-mem=yes.  Prints each pair that is wrong, and in the end how many
# pairs were compared at a byte and how many of them were wrong.
function number(hex,    i, value) {
    for (i = 1; i <= length(hex); i++)
        value = value * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
    return value
}
function short(hex) { sub(/^0+/, "", hex); return hex }

BEGIN { CONVFMT = "%.0f" } # addresses as subscripts
FNR == 1 { part++ }
part == 1 && $1 == "contribution" { c++ }
part == 1 && $1 == "loop" {
    parent[c, $2] = $4
    match($0, /flags [0-9]+/)
    known[c, $2] = int(substr($0, RSTART + 6) / 16) % 2
}
part == 1 && $1 == "reference" {
    loop_of[c, $2] = $4
    store[c, $2] = $8 % 2
    match($0, /text \[.*\] at/)
    text[c, $2] = substr($0, RSTART + 6, RLENGTH - 10)
}
part == 1 && $1 == "alias" { for (i = 4; i <= NF; i++) may[c, $2, $i] = may[c, $i, $2] = 1 }
part == 1 && $1 == "block" { block[$2] = c SUBSEP $6 }
part == 1 && $1 == "memory" && $4 > 0 && $NF > 0 {
    if ($2 in contribution)
        reference[$2] = 0 # several operands: which is which is not told
    else
        reference[$2] = $4
    contribution[$2] = c
}

function contains(c, outer, loop) {
    for (; loop; loop = parent[c, loop])
        if (loop == outer)
            return 1
    return 0
}
part == 2 && $1 == "I" {
    split($2, field, ",")
    at = short(field[1])
    if (at in block) { # executions of loops that this is outside of are over
        split(block[at], now, SUBSEP)
        for (loop in active)
            if (split(loop, was, SUBSEP) && was[1] == now[1] && !contains(now[1], was[2], now[2])) {
                delete active[loop]
                execution[loop]++
            }
        if (now[2])
            active[block[at]] = 1
    }
    next
}
part == 2 && ($1 == "L" || $1 == "S" || $1 == "M") && (at in reference) && reference[at] {
    c = contribution[at]
    r = reference[at]
    loop = loop_of[c, r]
    if (!known[c, loop])
        next
    split($2, field, ",")
    first = number(short(field[1]))
    for (byte = first; byte < first + field[2]; byte++) {
        key = c SUBSEP loop SUBSEP execution[c, loop] SUBSEP byte
        n = split(touched[key], others, " ")
        for (i = 1; i <= n; i++) {
            o = others[i]
            if (o == r || !(store[c, o] || store[c, r]))
                continue
            same_bytes[c, o, r] = 1
            if (!((c, o, r) in may) && !((c, o, r) in wrong)) {
                wrong[c, o, r] = wrong[c, r, o] = 1
                n_wrong++
                print "wrong: " text[c, o] " and " text[c, r] " at " at
            }
        }
        if (!index(" " touched[key] " ", " " r " "))
            touched[key] = touched[key] " " r
    }
}
END {
    for (pair in same_bytes)
        n_same++
    print n_same + 0, "pairs met,", n_wrong + 0, "wrong"
    exit n_wrong > 0
}
