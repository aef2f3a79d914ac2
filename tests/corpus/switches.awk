# Writes a C program of switches: each line below main's is one routine, in all combinations of how
# the labels lie and of what stands behind them.  awk -f switches.awk >switches.c
#
# Labels:  dense, negative, sparse, clusters (dense pieces far apart), characters, long (64-bit), ranges.
# Arms:    value, call, tail (the arm is a tail call), fall (falls into the next), shared (several
#          labels an arm), loop (the switch is in a loop), stop (some arms never return), nested.
function label(kind, i) {
    if (kind == "dense") return i
    if (kind == "negative") return i - 7
    if (kind == "sparse") return i * i * 37 + i
    if (kind == "clusters") return i % 9 + 1000 * int(i / 9)
    if (kind == "characters") return "'" substr("abcdefghijklmnopqrstuvwxyz", i + 1, 1) "'"
    if (kind == "long") return "0x1000000" sprintf("%02xL", i)
    return 4 * i " ... " 4 * i + 2
}
function body(arm, i, n) {
    if (arm == "value") return "r += x * " i + 3 "; break;"
    if (arm == "call") return "r = sink(r + " i "); break;"
    if (arm == "tail") return "return target" i % 4 "(x, r);"
    if (arm == "fall") return (i % 3 == 2) ? "r ^= x; break;" : "r += sink(" i ");"
    if (arm == "shared") return (i % 4 == 3) ? "r -= sink(x + " i "); break;" : ""
    if (arm == "loop") return "r = r * 3 + sink(" i "); break;"
    if (arm == "stop") return (i % 5 == 4) ? "stop(" i ");" : "r ^= sink(" i "); break;"
    return "switch (r & 7) { case 0: sink(1); break; case 1: r = sink(2) + 1; break; case 2: sink(3);" \
        " case 3: r -= sink(4); break; case 4: return r; case 5: r = sink(9); break;" \
        " case 6: r *= 5; break; } break;"
}
BEGIN {
    print "#include <stdio.h>\n#include <stdlib.h>"
    print "#define KEEP __attribute__((noinline, noipa, used))"
    print "KEEP long sink(long x) { static volatile long s; s += x; return s; }"
    for (i = 0; i < 4; i++)
        print "KEEP long target" i "(long x, long r) { return sink(x * " i + 2 ") - r; }"
    print "KEEP __attribute__((noreturn)) void stop(long x) { printf(\"stop %ld\\n\", x); exit(0); }"
    n_labels = split("dense negative sparse clusters characters long ranges", labels)
    n_arms = split("value call tail fall shared loop stop nested", arms)
    for (l = 1; l <= n_labels; l++)
        for (a = 1; a <= n_arms; a++) {
            kind = labels[l]; arm = arms[a]; n = 11 + (3 * l + 5 * a) % 14
            name = kind "_" arm; names[++n_names] = name
            print "KEEP long " name "(long x, const char *p) {\n    long r = 1;"
            if (arm == "loop") print "    for (; *p; p++) { x = *p;"
            # Half of the operands are narrower than a register.
            print "    switch (" (kind == "characters" ? "(char)x" : kind == "long" ? "x" : a % 2 ? "(int)x" : "(short)x") ") {"
            for (i = 0; i < n; i++) print "    case " label(kind, i) ": " body(arm, i, n)
            if (arm == "fall" || arm == "shared") print "    break;"
            if (a % 3 == 0) print "    default: r = sink(77);"
            if (a % 4 == 1) print "    default: return -1;"
            print "    }"
            if (arm == "loop") print "    }"
            print "    return r;\n}"
        }
    print "int main(int argc, char **argv) {\n    long s = 0, x = argc;\n    (void)argv;"
    for (i = 1; i <= n_names; i++) print "    s += " names[i] "(x, \"abc\");"
    print "    printf(\"%ld\\n\", s);\n    return 0;\n}"
}
