# Frames of new code against those of the old, as readelf reads them:
# `. "$TOP/tests/rewrite/frame_rows.bash"`.
# shellcheck shell=bash

# section FILE NAME: address, offset and size of the last section of that name, in hexadecimal.
section() {
    readelf -SW "$1" | sed 's/^ *\[ *[0-9]*\] *//' | awk -v name="$2" '$1 == name { found = $3 " " $4 " " $5 } END { print found }'
}

# first_code FILE: the lowest address of code in the original's sections.
first_code() {
    readelf -SW "$1" | sed 's/^ *\[ *[0-9]*\] *//' | awk '/ AX / { print $3 }' | sort | head -n 1
}

# frame_rows FILE: "ADDRESS = RULES" where rules begin to hold, "ADDRESS = none" where an FDE ends, of the last .eh_frame.
frame_rows() {
    readelf -W --debug-dump=frames-interp "$1" 2>/dev/null | awk '
        / CIE / { end = ""; inside = 0 }
        / FDE / {
            match($0, /pc=[0-9a-f]+\.\.[0-9a-f]+/)
            split(substr($0, RSTART + 3, RLENGTH - 3), limits, /\.\./)
            print limits[2], "- none"
            print limits[1], "= CFA:rsp+8 ra:c-8" # those of the CIE, which have no line of their own
            inside = 1
        }
        /^Contents of the .eh_frame section/ { print "anew" }
        inside && $1 == "LOC" { n = NF; for (i = 2; i <= NF; i++) column[i] = $i; next }
        inside && $1 ~ /^[0-9a-f]+$/ && length($1) == 16 && NF == n {
            row = ""
            for (i = 2; i <= NF; i++)
                if (column[i] == "ra" || ($i != "u" && $i != "s"))
                    row = row " " column[i] ":" $i
            print $1, "=" row
        }' | awk '$1 == "anew" { n = 0; next } { line[n++] = $0 } END { for (i = 0; i < n; i++) print line[i] }'
}

# Calls of COPY that moved whose rules are not those of the call at its old place: none is printed but
# their number, and that of all.
# different_frames COPY
different_frames() {
    local copy=$1 header table old
    read -r header _ _ <<<"$(section "$copy" .pmodel_probe)"
    table=$(section "$copy" .pmodel_returns)
    old=$(first_code "$copy")
    # shellcheck disable=SC2086
    set -- $table
    od -An -v -w8 -t u4 -j $((16#$2)) -N $((16#$3)) "$copy" |
        awk -v header=$((16#$header)) -v old=$((16#$old)) '
            { printf "%016x ? %d new\n%016x ? %d old\n", header + $1 - 1, NR, old + $2 - 1, NR }' >queries.txt
    frame_rows "$copy" >rows.txt
    # Where one FDE ends and the next begins the end comes first, and then what holds, and questions last.
    LC_ALL=C sort -k1,1 -k2,2 -s <(sed 's/ - / ! /' rows.txt) queries.txt |
        awk '$2 != "?" { holds = $0; sub(/^[^ ]+ [!=] ?/, "", holds); next }
             $4 == "new" { new[$3] = holds }
             $4 == "old" { before[$3] = holds }
             END { for (i in new) { n++; bad += new[i] != before[i] || new[i] == "none" || new[i] == "" }
                   print bad + 0, n + 0 }'
}
