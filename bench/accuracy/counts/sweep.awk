# From the lines of sweep.sh to the page docs/sweep.md.
# Fields: kind, status, KiB, seconds, then pmodel's CSV: file,routines,partial,refused,instructions,text,lifted,loops,
# irreducible,indirect,resolved,first unresolved,metadata,lines.

function percent(part, whole) { return whole ? sprintf("%.2f%%", 100 * part / whole) : "-" }
function add(kind) {
    files[kind]++
    routines[kind] += f[2]; partial[kind] += f[3]; refused[kind] += f[4]; instructions[kind] += f[5]
    text[kind] += f[6]; lifted[kind] += f[7]; loops[kind] += f[8]
    indirect[kind] += f[10]; resolved[kind] += f[11]
}
function print_row(kind, to) {
    printf "| %s | %d | %d | %d | %d | %d | %s | %d | %d | %s |\n", kind, files[kind], routines[kind], partial[kind],
        refused[kind], instructions[kind], percent(lifted[kind], text[kind]), loops[kind], indirect[kind],
        percent(resolved[kind], indirect[kind]) | to
}
{
    split($5, f, ",")
    if ($3 + 0 > most_kib) n_too_large++
    if ($3 + 0 > peak) { peak = $3 + 0; peak_file = f[1] }
    if ($4 + 0 > longest) { longest = $4 + 0; longest_file = f[1] }
}
$2 == "ok" {
    add($1); add("all")
    kinds[$1] = 1
    missing = f[10] - f[11]
    if (missing > 0) { unresolved[f[1]] = missing; of[f[1]] = f[10]; kind_of[f[1]] = $1; first[f[1]] = f[12] }
    next
}
$2 == "refused" {
    why = f[2]
    sub(/^pmodel: /, "", why); gsub(f[1] " ", "", why)
    gsub(/[0-9][0-9][0-9]+/, "N", why)
    reasons[why]++; n_refused_files++
    next
}
{ failures[f[1]] = $2 ": " f[2]; n_failures++ }
END {
    print "# Every ELF file of a Debian 12 system\n"
    print "`make sweep` reads each ELF file under /usr/bin, /usr/sbin, /usr/lib and /usr/libexec with `pmodel loops --summary --plain`,"
    print "with limits of time and memory, and writes this page. Indirect jumps: those through the PLT and tail calls through"
    print "pointers are not counted. The kind of a file is what it holds and which libraries it needs."
    print "Debian makes C, C++ and Fortran with GCC, but for a few packages.\n"
    print "| kind | files | routines | partial | refused | instructions | text lifted | loops | indirect jumps | resolved |"
    print "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    fflush()
    sort = "LC_ALL=C sort"
    for (kind in kinds) print_row(kind, sort)
    close(sort)
    print_row("all", "cat")
    close("cat")
    in_gcc = indirect["GCC C"] + indirect["GCC Fortran"]
    printf "\nOf the %d indirect jumps of GCC's C and Fortran %s are resolved.\n", in_gcc,
        percent(resolved["GCC C"] + resolved["GCC Fortran"], in_gcc)
    printf "\nMost memory: %d MiB (%s). Longest: %s s (%s). Files above 1 GiB: %d. Crashes, hangs and other failures: %d.\n",
        peak / 1024, peak_file, longest, longest_file, n_too_large, n_failures
    for (file in failures) printf "\n- %s: %s", file, failures[file]
    if (n_failures) print ""
    printf "\n## Refused files: %d\n\n", n_refused_files
    fflush()
    sort = "LC_ALL=C sort -k 2,2nr | head -n 40"
    for (why in reasons) printf "- %d: %s\n", reasons[why], why | sort
    close(sort)
    print "\n## Where most jumps are not resolved\n"
    print "`pmodel loops --dump cfg` shows each. Assembler text that computes addresses of code (copying of memory in libc and ldconfig,"
    print "arithmetic in libgmp) has no table; compilers other than GCC leave jumps without a bounds check or a frame that says more.\n"
    print "| file | kind | not resolved | of | the first |\n|---|---|--:|--:|---|"
    fflush()
    sort = "LC_ALL=C sort -t '|' -k 4,4nr -k 2,2 | head -n 30"
    for (file in unresolved)
        printf "| %s | %s | %d | %d | %s |\n", file, kind_of[file], unresolved[file], of[file], first[file] | sort
    close(sort)
}
