# What is not the same on every machine or in every folder, in an output that e2e/golden.sh compares.
#
#     awk -v name=NAME -v scratch=FOLDER -v build=FOLDER -f filter.awk OUTPUT

# Replaces a text, not a pattern.
function replace(line, old, new,    before, at) {
    before = ""
    while ((at = index(line, old)) > 0) {
        before = before substr(line, 1, at - 1) new
        line = substr(line, at + length(old))
    }
    return before line
}

# Numbers of full precision: the last digits depend on the order of sums, and on which instructions the
# mathematics library has for the processor. Below 1e-12 there is nothing else but that.
function shorten(line,    before, number, digits) {
    before = ""
    while (match(line, /-?[0-9]+\.[0-9]+(e[-+]?[0-9]+)?/)) {
        number = substr(line, RSTART, RLENGTH)
        before = before substr(line, 1, RSTART - 1)
        line = substr(line, RSTART + RLENGTH)
        digits = number
        sub(/e.*/, "", digits)
        if (length(digits) >= 12) {
            if (number + 0 < 1e-12 && number + 0 > -1e-12)
                number = "0.0"
            else
                number = sprintf("%.9g", number + 0)
        }
        before = before number
    }
    return before line
}

# A line of CSV with another text in COUNT of its fields, which stand before the last LAST ones.
function without(line, last, count, text,    field, fields, i) {
    fields = split(line, field, ",")
    line = ""
    for (i = 1; i <= fields; i++)
        line = line (i > 1 ? "," : "") (i <= fields - last && i > fields - last - count ? text : field[i])
    return line
}

{
    # Under `make check` the scratch folder is in the build folder.
    $0 = replace($0, scratch, "SCRATCH")
    $0 = replace($0, build, "BUILD")
    gsub(/pmodel\.[A-Za-z0-9]+\//, "pmodel.XXXXXX/")
    $0 = shorten($0)
}

# How long a run took.
/^pmodel (run|validate): / {
    gsub(/  [0-9.]+ s,/, "  SECONDS s,")
}

# How long fitting took.
name ~ /(^|\.)fit/ {
    gsub(/ in [0-9.]+ (s|ms|us|ns):/, " in TIME:")
    gsub(/"seconds": [-+.e0-9]+/, "\"seconds\": SECONDS")
    if (/^program,runs,/)
        with_seconds = 1
    else if (with_seconds && /^[a-z]+,[0-9]+,/)
        $0 = without($0, 1, 1, "SECONDS")
}

# A plan tells seconds, memory in use and bytes of the store, which the compression of its pages decides.
name ~ /^plan/ {
    gsub(/[0-9.]+ (s|ms|us|min)/, "TIME")
    gsub(/[0-9.]+ ([KMG]iB|bytes|B)/, "BYTES")
    gsub(/"(seconds|total_seconds)": [-+.e0-9]+/, "\"seconds\": SECONDS")
    gsub(/_bytes": [-+.e0-9]+/, "_bytes\": BYTES")
    if (name ~ /csv$/ && /,[01]\r?$/)
        $0 = without($0, 1, 3, "MEASURED")
    gsub(/ +/, " ")
}

{ print }
