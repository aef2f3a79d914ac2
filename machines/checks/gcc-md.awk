# From a scheduling description of GCC: its instruction reservations and bypasses of one processor as JSON, a line each, with the units and the
# cycles for which one of them is busy, and units of it that the map does not name.  First file: the map (NAME.map).
#
#     awk -f gcc-md.awk NAME.map FILE.md

# Lines of the map: `cpu NAME`, and `unit GCC'S = OURS…`, where GCC's may be a whole reservation without spaces.
FILENAME == ARGV[1] {
    if ($1 == "cpu") cpu = $2
    if ($1 == "unit") { ours[$2] = ""; for (i = 4; i <= NF; i++) ours[$2] = ours[$2] " " $i }
    next
}
{
    sub(/;.*/, "")
    sub(/\\$/, "")
    text = text $0 "\n"
}
# next_token: of the text the next bracket, string (with its quotes) or word.
function next_token(  token) {
    sub(/^[ \t\n]+/, "", text)
    if (match(text, /^"[^"]*"/) || match(text, /^[()]/) || match(text, /^[^ \t\n()"]+/)) {
        token = substr(text, 1, RLENGTH)
        text = substr(text, RLENGTH + 1)
    }
    return token
}
function unquoted(string) { gsub(/"|[ \t\n]/, "", string); return string }
# of_cpu CONDITION: whether an `eq_attr "cpu"` of it names the processor.
function of_cpu(condition) {
    return match(condition, /eq_attr "cpu" "[^"]*"/) && index("," unquoted(substr(condition, RSTART + 13, RLENGTH - 13)) ",", "," cpu ",")
}
# note UNIT CYCLES: that one of ours is busy for so long.
function note(unit, cycles,  names, n, i) {
    if (!(unit in ours)) { unknown = unknown (unknown == "" ? "" : ",") "\"" unit "\""; return }
    n = split(ours[unit], names, " ")
    for (i = 1; i <= n; i++) busy[names[i]] += cycles
}
# reserve EXPRESSION: fills `busy`.  Steps stand between commas; within one, units are alternatives or together, each may be repeated.
function reserve(expression,  steps, n, parts, m, i, j, factors, cycles) {
    split("", busy); unknown = ""
    if (expression in ours) { note(expression, 1); return }
    gsub(/[()]/, "", expression)
    n = split(expression, steps, ",")
    for (i = 1; i <= n; i++) {
        m = split(steps[i], parts, /[|+]/)
        for (j = 1; j <= m; j++)
            if (parts[j] != "nothing") { cycles = split(parts[j], factors, "*") == 2 ? factors[2] : 1; note(factors[1], cycles) }
    }
}
function units_json(  unit, list, most) {
    for (unit in busy) { list = list (list == "" ? "" : ",") "\"" unit "\""; if (busy[unit] > most) most = busy[unit] }
    return "\"repeat\":" most + 0 ",\"units\":[" list "],\"unknown\":[" unknown "]"
}
END {
    while ((token = next_token()) != "") {
        if (token != "(") continue
        form = next_token(); depth = 1; n = 0; inner = ""
        while (depth && (token = next_token()) != "") {
            if (token == "(") depth++
            if (depth > 1) inner = inner (token ~ /[()]/ ? "" : " ") token
            else if (token != ")") argument[++n] = token
            if (token == ")") depth--
        }
        gsub(/\( /, "(", inner)
        if (form == "define_insn_reservation" && of_cpu(inner)) {
            reserve(unquoted(argument[3]))
            printf "{\"name\":\"%s\",\"latency\":%d,%s}\n", unquoted(argument[1]), argument[2], units_json()
        } else if (form == "define_bypass")
            printf "{\"from\":\"%s\",\"to\":\"%s\",\"latency\":%d}\n", unquoted(argument[2]), unquoted(argument[3]), argument[1]
    }
}
