# What llvm-mca says of loop bodies that are given as bytes: `. "$bench/lib/mca.bash"`.
# shellcheck shell=bash
#
#     mca_cycles CPU LOOPS FOLDER     lines "number TAB cycles" for lines "number TAB bytes as hexadecimal digits" of LOOPS
#
# Cycles are those of an iteration in the steady state: of 200 iterations less 100.  In their place stands `unparsable` where llvm does
# not know an instruction, and `time-out`.  Branches stay as they are: llvm-mca takes none of them.  Many loops go through one process,
# regions of one file; where a process fails, its loops are divided, until it is known which one it was.
mca_loops=64         # of a process
mca_seconds=60       # that one may take
mca_options=(-mtriple=x86_64 -json -instruction-info=false -resource-pressure=false)

# mca_assembler LOOPS: regions whose names are the numbers; what cannot be disassembled is left out.
mca_assembler() {
    local scratch=$1.scratch
    mkdir -p "$scratch"
    # A line each.  It begins with a nop whose displacement is the loop's number, and ends with plain ones, so that instructions that llvm
    # decodes otherwise do not reach into the next line.
    awk '{
        printf "0x0f 0x1f 0x80 0x%02x 0x%02x 0x%02x 0x5a", $1 % 256, int($1 / 256) % 256, int($1 / 65536)
        for (i = 1; i < length($2); i += 2) printf " 0x%s", substr($2, i, 2)
        for (i = 0; i < 15; i++) printf " 0x90"
        print ""
    }' "$1" >"$scratch/bytes"
    llvm-mc-19 --disassemble -triple=x86_64 "$scratch/bytes" >"$scratch/s" 2>"$scratch/warnings" || true
    awk -v loops="$1" -v warnings="$scratch/warnings" '
        BEGIN {
            while ((getline line < warnings) > 0)
                if (match(line, /:[0-9]+:[0-9]+: warning/)) { split(substr(line, RSTART + 1), place, ":"); bad[place[1]] = 1 }
            while ((getline line < loops) > 0) { n++; split(line, loop, "\t"); if (n in bad) left_out[loop[1]] = 1 }
        }
        function end(   i) {
            if (number != "" && !(number in left_out)) {
                print "# LLVM-MCA-BEGIN " number
                for (i = 1; i <= n_body - 15; i++) print body[i]
                print "# LLVM-MCA-END"
            }
            n_body = 0
        }
        $1 == "nopl" && $2 ~ /^15[0-9]*\(%rax\)$/ { end(); number = $2 - 90 * 16777216; next }
        $1 != ".text" { body[++n_body] = $0 }
        END { end() }' "$scratch/s"
}

# mca_run CPU FILE.s ITERATIONS: lines "name TAB cycles of all iterations"; fails as llvm-mca does.
mca_run() {
    timeout "$mca_seconds" llvm-mca-19 "${mca_options[@]}" -mcpu="$1" -iterations="$3" -o "$2.json" "$2" 2>"$2.errors" &&
        jq -r '.CodeRegions[] | "\(.Name)\t\(.SummaryView.TotalCycles)"' "$2.json"
}

# mca_some CPU LOOPS: as mca_cycles, of a few.
mca_some() {
    local cpu=$1 loops=$2 status=0 n
    mca_assembler "$loops" >"$loops.s"
    if [ -s "$loops.s" ]; then
        { mca_run "$cpu" "$loops.s" 100 >"$loops.100" && mca_run "$cpu" "$loops.s" 200 >"$loops.200"; } || status=$?
    else
        : >"$loops.100"
        : >"$loops.200"
    fi
    n=$(wc -l <"$loops")
    if [ "$status" -eq 0 ]; then
        awk -F'\t' -v OFS='\t' 'FILENAME ~ /100$/ { less[$1] = $2; next } FILENAME ~ /200$/ { cycles[$1] = ($2 - less[$1]) / 100; next }
            { print $1, $1 in cycles ? cycles[$1] : "unparsable" }' "$loops.100" "$loops.200" "$loops"
    elif [ "$n" -eq 1 ]; then
        awk -v OFS='\t' -v why="$([ "$status" -eq 124 ] && echo time-out || echo unparsable)" '{ print $1, why }' "$loops"
    else
        head -n "$((n / 2))" "$loops" >"$loops.a"
        tail -n "+$((n / 2 + 1))" "$loops" >"$loops.b"
        mca_some "$cpu" "$loops.a"
        mca_some "$cpu" "$loops.b"
    fi
}

mca_cycles() {
    local cpu=$1 loops=$2 folder=$3 part
    rm -rf "$folder"
    mkdir -p "$folder"
    split -l "$mca_loops" -a 3 "$loops" "$folder/part."
    for part in "$folder"/part.???; do
        mca_some "$cpu" "$part"
    done
}

# mca_kinds FOLDER: what the loops that mca_cycles put there consist of: lines "number TAB kind TAB width of vectors TAB first instructions".
# The kind is
# division (also square roots) or gather where there are any, else what most vector instructions are, else move or integer.
mca_kinds() {
    cat "$1"/part.???.s | awk -v OFS='\t' '
        function kind_of(name) {
            if (name ~ /^v?(div|sqrt)[ps][sd]$|^i?div[bwlq]?$/) return "division"
            if (name ~ /^v?p?(gather|scatter)/) return "gather"
            if (name ~ /^v?(cvt|unpck|shuf|perm|pshuf|pshu|punpck|insert|extract|broadcast|pbroadcast|pinsr|pextr|blend|pblend|palign|movddup|movs[lh]dup|movhl|movlh|movmsk|pack)/) return "shuffle"
            if (name ~ /^v?p?mov|^lea|^push|^pop|^prefetch/) return "move"
            if (name ~ /^v?(add|sub|mul|max|min|fn?m|hadd|addsub|cmp|u?comis|and|or|xor|andn|round|rndscale|rcp|rsqrt)[a-z0-9]*[ps][sdh]$/) return "floating point"
            if (name ~ /^v?p/) return "vector integer"
            if (name ~ /^j/) return "branch"
            return "integer"
        }
        function end(   k, most) {
            best = n["move"] > n["integer"] ? "move" : "integer"
            most = 0
            for (k in n) if (k ~ /^(floating point|shuffle|vector integer)$/ && n[k] > most) { most = n[k]; best = k }
            if (n["gather"]) best = "gather"
            if (n["division"]) best = "division"
            print number, best, width ? width : "-", text
        }
        /LLVM-MCA-BEGIN/ { number = $3; split("", n); width = 0; text = ""; lines = 0; next }
        /LLVM-MCA-END/ { end(); next }
        {
            sub(/ *#.*/, "")
            n[kind_of($1)]++
            if (/%zmm/) width = 512; else if (/%ymm/ && width < 256) width = 256; else if (/%xmm/ && width < 128) width = 128
            gsub(/[ \t]+/, " "); sub(/^ /, "")
            if (++lines <= 8) text = text (lines > 1 ? "; " : "") $0
            else if (lines == 9) text = text "; ..."
        }'
}
