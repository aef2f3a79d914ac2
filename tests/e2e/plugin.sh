# The plugin leaves code, debug information and diagnostics alone; what it says of known loops is
# right; a compiler that it does not fit gets a sentence.
# time limit: 600 s
# shellcheck shell=bash
. "$TOP/tests/lib.sh"

# shellcheck source=tests/plugin/plugin.bash
. "$TOP/tests/plugin/plugin.bash"

# (tests/real/plugin.sh has all options for the other languages, too, whose compilers take long, and for the applications.)
same_with_options "$SOURCES"/mixed.c <<OPTIONS
$ALL_OPTIONS
OPTIONS
same_with_options "$SOURCES"/strides.f90 "$SOURCES"/mixed.cc <<'OPTIONS'
-O0 -g
-O2 -g -fopenmp
-O3 -g -march=x86-64-v3
OPTIONS
same_with_options "$APPS"/heat/heat.c "$APPS"/adi/adi.f90 <<'OPTIONS'
-Ofast -march=x86-64-v4 -funroll-loops
OPTIONS

# same_program SOURCE OPTION...: of a linked program; with -flto code is made at the link.
same_program() {
    local source=$1 compiler
    shift
    compiler=$(compiler_of "$source")
    "$compiler" "$@" $SAME -o plain.exe "$source" -lm &&
        "$compiler" "$@" $SAME -fplugin="$PLUGIN" -o marked.exe "$source" -lm || return 1
    for section in .text .rodata .eh_frame; do
        objcopy -O binary -j $section plain.exe plain.bytes &&
            objcopy -O binary -j $section marked.exe marked.bytes &&
            cmp plain.bytes marked.bytes || return 1
    done
    ./dump_section marked.exe >marked.dump
}
for source in "$SOURCES"/mixed.c "$SOURCES"/mixed.cc "$APPS"/adi/adi.f90; do
    name=$(basename "$source")
    check "$name: the same program with -flto" same_program "$source" -O3 -flto
    check "$name: the same program with --gc-sections" same_program "$source" -O2 \
        -ffunction-sections -Wl,--gc-sections
done

# What GCC finds early, and late, while the plugin's stamps are on the statements. (Not a file of
# its own: the sources' own checks would complain about it.)
cat >warnings.c <<'SOURCE'
#include <stdio.h>
#include <string.h>

int unused_parameter(int used, int unused) { return used; }

int uninitialised(int n) {
    int values[8], sum = 0, last;
    for (int i = 0; i < n; i++) {
        sum += values[i];
        last = i;
    }
    return sum + last;
}

int beyond(void) {
    int values[4] = {1, 2, 3, 4}, sum = 0;
    for (int i = 0; i <= 4; i++)
        sum += values[i];
    return sum + values[5];
}

void overflow(char *out, const char *name) {
    char buffer[8];
    sprintf(buffer, "name=%s", "a name that is too long");
    strcpy(out, buffer);
    for (int i = 0; i < 20; i++)
        buffer[i] = name[i];
    strcpy(out, buffer);
}
SOURCE
same_diagnostics() {
    gcc-12 "$@" -c -o /dev/null warnings.c 2>plain.err
    gcc-12 "$@" -fplugin="$PLUGIN" -c -o /dev/null warnings.c 2>marked.err
    [ "$(grep -c warning: plain.err)" -ge 3 ] && diff plain.err marked.err
}
check "warnings are the same at -O0" same_diagnostics -O0 -Wall -Wextra
check "warnings are the same at -O2" same_diagnostics -O2 -Wall -Wextra
check "warnings are the same at -O3" same_diagnostics -O3 -Wall -Wextra -Wnull-dereference

# ---- what the section says ----

# address_of SYMBOL PROGRAM (`nm` starts the linker's plugins, which takes twenty times as long as `readelf`.)
address_of() {
    readelf -sW "$2" | awk -v name="$1" '$8 == name && !found++ { sub(/^0*/, "", $2); print $2 }'
}

# facts FUNCTION: the records of one function of known.exe, reachable by its symbol's address.
facts() {
    local address
    address=$(address_of "$1" known.exe)
    awk -v address="$address" '/^contribution/ { show = $2 == address } show' known.dump
}

# has NAME FUNCTION PATTERN
has() {
    if facts "$2" | grep -E -e "$3" >/dev/null; then
        pass "$1"
    else
        fail "$1" "no record of $2 matches: $3"
        facts "$2" | grep -E '^(loop|object|reference)'
    fi
}

known_program() {
    gcc-12 -O2 -fno-tree-vectorize "$@" -g -fplugin="$PLUGIN" -c -o known_c.o "$SOURCES/strides.c" &&
        gfortran-12 -O2 -fno-tree-vectorize "$@" -g -fplugin="$PLUGIN" -c -o known_f.o \
            "$SOURCES/strides.f90" &&
        printf 'int main(void) { return 0; }\n' | gcc-12 -x c -c -o known_main.o - &&
        gcc-12 -o known.exe known_main.o known_c.o known_f.o -lgfortran -lm &&
        ./dump_section known.exe >known.dump
}
check "a program with known loops builds" known_program
has "a store over three loops has the strides of its rows" fill \
    'flags 1 size 8 text \[grid\[i\]\[j\]\[k\]\].* strides L3:8 L2:240 L1:9600$'
has "the base object has its name, type and kind" fill 'name \[grid\] type \[double ?\[50\].* kind 1$'
has "loops have lines and trip counts" fill '^loop 1 .*strides\.c:1[0-9]-[0-9]+ trips \[49\]'
has "an inner loop knows its parent" fill '^loop 3 parent 2 depth 3 .* trips \[29\]'
has "a walk across rows is seen as such" transposed 'strides L3:9600 L2:8 L1:240$'
has "a field of a structure, backwards" backwards 'flags 0 size 8 .* strides L1:-32$'
has "an index is read in order" gather 'size 4 text \[index\[i\]\].* strides L1:4$'
has "what an index leads to is indirect" gather 'size 8 .* strides L1:indirect$'
has "a row length known at run time only is a symbol" rows 'strides L2:8 L1:\(8\*width\)$'
has "a pointer parameter is named" rows 'name \[image\] type \[.*double\] kind 3$'
has "Fortran arrays go down the columns" relax_ 'text \[u.* strides L2:\(8\*n\) L1:8$'
has "a module's array has its name" __fields_MOD_sweep 'name \[fixed\] type \[real.* kind 1$'
has "a module's array has constant strides" __fields_MOD_sweep 'strides L[0-9]+:8 L[0-9]+:800$'
check "the program builds unrolled" known_program -funroll-loops
has "unrolling is counted and multiplied in" backwards 'unroll 8|strides L[0-9]+:-256$'
check "the program builds vectorised" known_program -ftree-vectorize -O3 -march=x86-64-v3
has "a vectorised loop says so, and strides by vectors" triad 'size 32 .* strides L[0-9]+:32$'
has "a vector body is told" triad '^loop .* flags (2|18) '

# Masks, scatters, blocks: what has no load or store statement of its own.
vector_program() { # [OPTION...]
    gcc-12 "$@" -O3 -march=x86-64-v4 -mprefer-vector-width=512 --param max-completely-peel-times=2 -g \
        -fplugin="$PLUGIN" -c -o known_v.o "$SOURCES/vectors.c" && gcc-12 -o known.exe known_main.o known_v.o &&
        ./dump_section known.exe >known.dump
}
check "nothing but .pmodel changes in masked and block code" same_object "$SOURCES/vectors.c" -O3 -g \
    -march=x86-64-v4 -mprefer-vector-width=512
check "nothing but .pmodel changes in block code with -O2" same_object "$SOURCES/vectors.c" -O2 -g
check "a program of masks, scatters and blocks builds" vector_program
has "a masked load is a reference with its stride" masked 'flags 4 size 64 .* strides L[0-9]:128$'
has "a masked store is a reference with its stride" masked 'flags 5 size 64 .* strides L[0-9]:128$'
loads_and_stores_apart() {
    facts masked | awk '$1 == "memory" && $NF > 0 && $6 == 0 { n[$8]++; named += $4 > 0 }
        END { exit !(n[1] >= 2 && n[2] >= 1 && !n[3] && named == n[1] + n[2]) }'
}
check "a masked store does not read" loads_and_stores_apart
has "a scatter has the size of its elements" scatter 'flags 13 size 8 .* strides L[0-9]:indirect$'
if facts broadcast | grep -E '^loop .* depth 1 .* flags (2|18) ' >/dev/null; then
    fail "an outer loop that only broadcasts is not a vector loop" "it is flagged"
else
    pass "an outer loop that only broadcasts is not a vector loop"
fi
has "its inner loop is" broadcast '^loop .* depth 2 .* flags (2|18) '
has "a vector body is told from" remainder_of '^loop .* flags (2|18) '
has "its remainder" remainder_of '^loop .* flags (4|20) '
has "a copy in line has the strides of its source" copy_blocks 'flags 0 size 64 .* strides L1:128$'
has "a copy in line has the strides of its target" copy_blocks 'flags 1 size 64 .* strides L1:64$'
has "a clearing in line is a store" clear_blocks 'flags 1 size 48 .* strides L1:64$'

# Whether gathers are instructions depends on the processor that is tuned for.
check "a program of gathers builds" vector_program -mtune=skylake-avx512
has "a gather has the size of its elements" gathered 'flags 12 size 8 .* strides L[0-9]:indirect$'
gathers_are_told() {
    facts gathered | awk '$1 == "reference" && $8 == 12 { gather[$2] = 1 }
        $1 == "memory" && $4 in gather { n++ } END { print n + 0 }' >told
    objdump -d --no-show-raw-insn --disassemble=gathered known.exe | grep -c vgather | tee gathers
    [ "$(cat gathers)" -gt 0 ] && cmp told gathers
}
check "they are the gathers of the code" gathers_are_told

# Places: every block begins at an instruction, memory operands are instructions with an operand in
# memory, and the blocks of a part cover its instructions.
places_are_right() {
    objdump -d --no-show-raw-insn "$1" >code && ./dump_section "$1" >places &&
        awk '
        NR == FNR { if (match($0, /^ +[0-9a-f]+:\t/)) {
            address = $1; sub(":", "", address)
            text[address] = substr($0, RLENGTH + 1) } next }
        $1 == "block" { blocks++; if (!($2 in text)) bad++ }
        $1 == "memory" { memory++
            if ($2 in text && text[$2] ~ /\(|push|pop|leave|movs|stos|%fs:|ds:/ &&
                text[$2] !~ /^lea|^nop/) hits++ }
        END { print blocks, bad + 0, memory, hits
              exit !(blocks > 20 && bad == 0 && memory > 20 && hits >= 0.99 * memory) }
        ' code places
}
for app in heat/heat.c cg/cg.c adi/adi.f90; do
    for options in "-O3" "-O3 -march=x86-64-v3"; do
        # shellcheck disable=SC2086
        "$(compiler_of $app)" $options -fplugin="$PLUGIN" -o app.exe "$APPS/$app" -lm
        check "$app $options: blocks and memory operands are where it says" places_are_right app.exe
        # Of what a loop accesses (spills, constants and stack traffic apart) nearly all is named.
        check "$app $options: references are known" awk '
            $1 == "memory" && $NF > 0 && $6 == 0 { n++; named += $4 > 0 }
            END { print n, named; exit !(n > 20 && named >= 0.98 * n) }' places
    done
done

# A cold part may begin with a `nop` in front of a landing pad: not all bases are its symbol's.
cold_part() {
    g++-12 -O2 -fplugin="$PLUGIN" -o mixed.exe "$SOURCES/mixed.cc" &&
        ./dump_section mixed.exe >mixed.dump && nm mixed.exe >mixed.symbols &&
        awk '
        NR == FNR { if ($3 ~ /\.cold$/) { sub(/^0*/, "", $1); symbols[$1] = 1 } next }
        $1 == "contribution" && $4 != "0" { parts++; base[$4] = 1; found += $4 in symbols }
        $1 == "block" && $2 in base { blocks[$2] = 1 }
        END { print parts, found, length(blocks)
              exit !(parts >= 3 && found >= 3 && length(blocks) == parts) }
        ' mixed.symbols mixed.dump
}
check "a cold part has its own base and blocks" cold_part
check "mixed.c builds" gcc-12 -O2 -fplugin="$PLUGIN" -o mixed.exe "$SOURCES/mixed.c"
./dump_section mixed.exe >mixed.dump
check "a switch's table is told with its targets" grep -qE '^jump [0-9a-f]+ to( [0-9a-f]+){8}' mixed.dump
check "a call that does not return is told" grep -q '^noreturn ' mixed.dump

# ---- which references may touch the same bytes ----

# independent FUNCTION PATTERN: of aliases.exe a pair with a store whose texts match is told apart.
independent() {
    local address
    address=$(address_of "$1" aliases.exe)
    awk -v address="$address" -v pattern="$2" '
        /^contribution/ { show = $2 == address }
        !show { next }
        $1 == "loop" { match($0, /flags [0-9]+/); known[$2] = int(substr($0, RSTART + 6) / 16) % 2 }
        $1 == "reference" { match($0, /text \[.*\] at/); n++; number[n] = $2; loop[n] = $4
            store[n] = $8 % 2; text[n] = substr($0, RSTART + 6, RLENGTH - 10) }
        $1 == "alias" { for (i = 4; i <= NF; i++) may[$2, $i] = may[$i, $2] = 1 }
        END { for (i = 1; i <= n; i++) for (j = 1; j < i; j++)
                  if (loop[i] && loop[i] == loop[j] && known[loop[i]] && store[i] + store[j] &&
                      text[i] text[j] ~ pattern && !((number[i], number[j]) in may)) exit 0
              exit 1 }' aliases.dump
}
aliases_are_sound() {
    valgrind --tool=lackey --trace-mem=yes ./aliases.exe >aliases.trace 2>&1 &&
        awk -f "$SOURCES/alias_trace.awk" aliases.dump aliases.trace
}
while read -r options; do
    # shellcheck disable=SC2086
    check "aliases.c builds with $options" gcc-12 $options -g -no-pie -fplugin="$PLUGIN" \
        -o aliases.exe "$SOURCES/aliases.c"
    ./dump_section aliases.exe >aliases.dump
    check "no pair that meets in a memory trace is called independent, $options" aliases_are_sound
    for function in pointers:p.*q by_recursion:p.*q by_iteration:p types:memory.*memory \
        allocation:p.*q stack:a.*b variable_length:a.*b bytes:whole escaped:grid local:local.*p \
        alias_symbol:grid union:u.*u shifted:p.*p indirect:grid.*grid; do
        # shellcheck disable=SC2015
        name=bad_${function%%:*}
        case $function in by_*) name=bad_restrict_${function%%:*} ;; esac
        case $options in -O0*) continue ;; esac # each scalar is in memory there, with these names
        if independent "$name" "${function#*:}"; then
            fail "$name is not called independent, $options" "${function#*:}"
        else
            pass "$name is not called independent, $options"
        fi
    done
done <<'OPTIONS'
-O0
-O1
-O2
-O3
-O3 -march=x86-64-v3 -funroll-loops
-O2 -flto
OPTIONS
check "aliases.c builds with -O2" gcc-12 -O2 -g -no-pie -fplugin="$PLUGIN" -o aliases.exe \
    "$SOURCES/aliases.c"
./dump_section aliases.exe >aliases.dump
check "two global arrays are told apart" independent good_globals 'grid.*other|other.*grid'
check "restrict parameters are told apart" independent good_restrict 'p.*q|q.*p'
check "a global array and a pointer to another type are told apart" independent \
    good_declared_type 'grid.*p|p.*grid'
check "two allocations are told apart" independent good_heap 'p.*q|q.*p'

# The lifter takes it from there: `pmodel loops --dump deps`.
unknown_pairs() {
    pmodel loops --dump deps --routine "$@" aliases.exe >deps.txt && grep -c '^ memory .* unknown$' deps.txt
}
check "restrict leaves no dependence of the binary unknown" [ "$(unknown_pairs good_restrict)" = 0 ]
check "without metadata restrict is not seen" [ "$(unknown_pairs good_restrict --plain)" -gt 0 ]
check "plain pointers leave one unknown" [ "$(unknown_pairs bad_pointers)" -gt 0 ]

# ---- compilers that it does not fit ----

printf 'int main(void) { return 0; }\n' >small.c
expect_error "another GCC gets a sentence" 1 \
    '^pmodel: this compiler is GCC 11\..*built for GCC 12.*install gcc-11-plugin-dev' \
    gcc-11 -fplugin="$PLUGIN" -c small.c
mkdir -p alone wrong
cp "$PLUGIN" alone/
expect_error "a loader without any body gets a sentence" 1 \
    '^pmodel: this compiler is GCC 12\..*no GCC at all.*install gcc-12-plugin-dev' \
    gcc-12 -fplugin="$PWD/alone/pmodel.so" -c small.c
cp "$PLUGIN" wrong/
cp "$BUILD/lib/pmodel/pmodel-12.so" wrong/pmodel-11.so
expect_error "a body of another version gets a sentence" 1 \
    '^pmodel: .*pmodel-11\.so does not fit this compiler, GCC 11\.' \
    gcc-11 -fplugin="$PWD/wrong/pmodel.so" -c small.c
