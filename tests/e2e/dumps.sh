# What `pmodel loops --dump` and `--svg` print: text against kept text, graphs and drawings against
# Graphviz and an XML reader, names with characters that would break either, and size.
. "$TOP/tests/lib.sh"

gcc -o dumped "$TOP/tests/dumps/dumped.s"

# Addresses depend on the linker.
without_addresses() {
    sed -E 's/0x[0-9a-f]{3,}/A/g'
}

for pass in cfg loops live formulas deps groups bounds counters; do
    routines='nest,odd*'
    [ $pass = deps ] && routines="$routines,carry"
    pmodel loops --dump $pass --routine "$routines" dumped | without_addresses >$pass.txt
    check "dump of $pass is the kept one" diff "$TOP/tests/dumps/$pass.txt" $pass.txt
done

gcc -o nests "$TOP/tests/dumps/nests.s"
pmodel loops --dump bounds --routine 'in_place,recur*,accumulate,add_to_memory,walk,spilled,escaping,calls,refused' nests | without_addresses >nests.txt
check "dump of loop nests, their slots, replayed branches and refusals is the kept one" diff "$TOP/tests/dumps/nests.txt" nests.txt

# What the passes of fit and of predictions made, each under its name.
gcc -no-pie -o sweeps "$TOP/tests/dumps/sweeps.s"
fixed_addresses='setarch -R' # so that the same data meet in a set
$fixed_addresses true 2>/dev/null || fixed_addresses=''
measure() { # STORE OPTION...
    $fixed_addresses pmodel run -o "$1" -P N=16,24,32,40,48,64 "${@:2}" -- ./sweeps {N} >/dev/null 2>&1
}
# all_passes COMMAND ARGUMENT... PART: the dump of each of its passes, of a part of the program.
all_passes() {
    local part=${*: -1} pass
    for pass in $(pmodel "$1" --dump list | cut -d ' ' -f 1); do
        echo "== $pass"
        pmodel "${@:1:$#-1}" --dump "$pass:$part" || echo "status $?"
    done
}
# none_is_empty FILE: each of its headings has lines under it.
none_is_empty() {
    awk '/^== / {if (heading) exit 1; heading = 1; n++; next} {heading = 0} END {exit heading || n < 5}' "$1"
}
check "runs for fit" measure fit.pmdb --block 64
check "runs for report" measure report.pmdb -m r12000
check "models for report" pmodel fit report.pmdb
# How far off the misses of the whole are hangs on where the stack is.
all_passes fit fit.pmdb sweep/2 | sed 's/are off by [^ ]*/are off by SHARE/' >fit.txt
all_passes report report.pmdb -m r12000 -P N=100 sweep/2 >report.txt
for stage in fit report; do
    check "dumps of $stage are the kept ones" diff "$TOP/tests/dumps/$stage.txt" $stage.txt
    check "every pass of $stage has something to say" none_is_empty $stage.txt
done
check "fit with a dump makes the models that it makes without" sh -c \
    'pmodel report --format csv fit.pmdb -m zen4 --interpolate -P N=100 >dumped.csv &&
     pmodel fit fit.pmdb >fitted.txt && pmodel report --format csv fit.pmdb -m zen4 --interpolate -P N=100 | diff dumped.csv -'
check "a loop that is not named is not dumped" sh -c \
    'pmodel fit --dump edges:chain fit.pmdb | tee edges && grep -q "^edge chain" edges && ! grep -q sweep edges'
check "dumps have a list, and take a routine behind the pass" sh -c \
    'pmodel loops --dump list | grep -q "^formulas " && pmodel loops --dump cfg --routine nest dumped >nest.txt &&
     pmodel loops --dump cfg:nest dumped | diff nest.txt -'

all_graphs_are_xml() {
    pmodel loops --dump "$1" --dump-format dot dumped >graphs.dot && dot -Tsvg -O graphs.dot &&
        [ "$(ls graphs.dot*.svg | wc -l)" -ge 3 ] && xmllint --noout graphs.dot*.svg
}
for pass in cfg loops live deps counters; do
    check "Graphviz reads the graph of $pass, odd names too" all_graphs_are_xml $pass
done
check "tree edges of counters are dashed, the others have numbers" sh -c \
    'pmodel loops --dump counters --dump-format dot --routine nest dumped >c.dot &&
     [ "$(grep -c style=dashed c.dot)" = 5 ] && [ "$(grep -c "label=\"c[0-3]\"" c.dot)" = 4 ]'
check "boxes of loops are nested" sh -c \
    'pmodel loops --dump loops --dump-format dot --routine nest dumped |
     awk "/subgraph/ {depth++; if (depth > most) most = depth} /^}/ {depth--}
          END {exit !(most == 2)}"'

# Instructions and their places against objdump's.
pmodel loops --dump cfg dumped | awk '$1 == "insn" {print $2}' | sort >lifted.addresses
objdump -d --no-show-raw-insn dumped | awk '
    /^[0-9a-f]+ </ {inside = /<(nest|main|odd)/}
    inside && $1 ~ /^[0-9a-f]+:$/ && $2 != "nop" {sub(":", "", $1); print "0x" $1}' | sort >objdump.addresses
check "all instructions of the three routines are in the dump" sh -c \
    'comm -13 lifted.addresses objdump.addresses | tee missing && [ ! -s missing ] &&
     [ "$(wc -l <objdump.addresses)" = 23 ]'

# ---- drawings -------------------------------------------------------------------------------
# Texts of a drawing, one a line.
texts_of() {
    xmllint --xpath '//*[local-name()="text"]/text()' "$1"
}
drawn() {
    pmodel loops --svg "$1" dumped >drawn.svg && xmllint --noout drawn.svg && texts_of drawn.svg >drawn.txt
}
check "a routine is drawn" drawn nest
check "the drawing has all basic blocks, loops and a legend" sh -c \
    'for text in b0 b1 b2 b3 b4 nest/1 nest/2 entry "loop at depth 1"; do
         grep -qxF "$text" drawn.txt || { echo "no $text"; exit 1; }
     done'
check "a name with quotes and brackets is drawn as it is" sh -c \
    'pmodel loops --svg "odd*" dumped >odd.svg && xmllint --noout odd.svg &&
     [ "$(xmllint --xpath "string(//*[local-name()=\"text\"][1])" odd.svg)" = "odd<\"name\">&" ]'
check "an irreducible region is told" grep -q 'irreducible: several entries' odd.svg
check "instructions can be drawn" sh -c \
    'pmodel loops --svg nest --instructions dumped >i.svg && xmllint --noout i.svg &&
     grep -q "add (%rdx,%rcx,4), %eax" i.svg'

{
    printf '.globl main\n.type main, @function\nmain: xorl %%eax, %%eax\n'
    printf '1: .rept 5000\ntestl %%edi, %%edi\njz 2f\nincl %%eax\n2: decl %%esi\n.endr\njnz 1b\n'
    printf 'ret\n.size main, .-main\n.section .note.GNU-stack,"",@progbits\n'
} >large.s
gcc -o large large.s
check "a routine of 10,000 basic blocks is drawn as its loops, soon" sh -c \
    'timeout 60 pmodel loops --svg main large >large.svg 2>large.err && xmllint --noout large.svg &&
     grep -q "only its loops are drawn" large.err && grep -q "10001 basic blocks" large.svg'
check "--max-blocks sets from where on" sh -c \
    'pmodel loops --svg nest --max-blocks 2 dumped 2>err.txt | grep -q "too large to draw" && [ -s err.txt ]'

# ---- mistakes -------------------------------------------------------------------------------
expect_error "no such pass" 2 '--dump is cfg, .*counters, or list, not "tree"' pmodel loops --dump tree dumped
expect_error "no such dump format" 2 'text or dot' pmodel loops --dump cfg --dump-format svg dumped
expect_error "formulas are no graph" 2 'formulas are no graph' pmodel loops --dump formulas --dump-format dot dumped
expect_error "groups are no graph" 2 'groups are no graph' pmodel loops --dump groups --dump-format dot dumped
expect_error "no such routine to dump" 2 'no routine is called "nets"' pmodel loops --dump cfg --routine nets dumped
expect_error "no such routine to draw" 2 'no routine is called "nets"' pmodel loops --svg nets dumped
expect_error "one routine is drawn, not several" 2 '[0-9]+ routines are called "\*"' pmodel loops --svg '*' dumped
expect_error "what was refused cannot be drawn" 2 'no control flow of "_start"' pmodel loops --svg _start dumped
expect_error "dump and drawing exclude each other" 2 'dump and --svg exclude each other' pmodel loops --svg nest --dump cfg dumped
expect_error "no such pass of fit" 2 '--dump is bases, .*or list, not "tree"' pmodel fit --dump tree fit.pmdb
expect_error "no such loop to dump" 2 'no routine or loop is called "swep"; did you mean sweep' pmodel fit --dump edges:swep fit.pmdb
expect_error "no such loop of a prediction" 2 'no routine or loop is called "swep"' pmodel report --dump misses:swep report.pmdb -m r12000
expect_error "a dump is no table" 2 'dump and --models exclude each other|models and --dump exclude each other' pmodel fit --dump edges --models fit.pmdb
mkdir no_dot
expect_error "Graphviz is missing" 2 'install it' env PATH="$PWD/no_dot" "$BUILD/bin/pmodel" loops --svg nest dumped

# ---- patterns of names ----------------------------------------------------------------------
rows_of() {
    pmodel loops --format json --routine "$1" dumped |
        jq -r '.scopes[] | select(.kind == "routine") | .name' | sort | tr '\n' ' '
}
for case in 'nest|nest ' 'n?st|nest ' 'od*name*|odd<"name">& ' 'main,n*t|main nest ' 'm*n,main|main '; do
    [ "$(rows_of "${case%%|*}")" = "${case#*|}" ] && pass "routines by ${case%%|*}" ||
        fail "routines by ${case%%|*}" "$(rows_of "${case%%|*}")"
done

check "the instruction mix takes patterns too" sh -c \
    'pmodel loops --mix --level routine --format csv --routine "n?st,od*" dumped |
     grep -o "\(nest\|odd\|main\|carry\)" | sort -u | tr "\n" " " | tee mixed && grep -qx "nest odd " mixed'

# ---- a large program ------------------------------------------------------------------------
for pass in cfg loops live formulas deps groups bounds counters; do
    check "all routines of a large program: $pass" sh -c \
        "pmodel loops --dump $pass \"$BUILD/bin/pmodel\" >all.txt && [ \$(grep -c ^routine all.txt) -gt 500 ]"
done
