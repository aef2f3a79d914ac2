# The plugin in a cross compiler: code for AArch64 stays the same, and is described as well.
# time limit: 300 s
# shellcheck shell=bash
. "$TOP/tests/lib.sh"
# shellcheck disable=SC2034
TARGET=aarch64-linux-gnu
# shellcheck source=tests/plugin/plugin.bash
. "$TOP/tests/plugin/plugin.bash"

# Blocks and operands are at multiples of an instruction; in loops nearly all accesses are named.
describes_code() {
    awk '
        $1 == "block" || $1 == "memory" { n[$1]++; odd += $2 !~ /[048c]$/ }
        $1 == "edge" || $1 == "loop" { n[$1]++ }
        $1 == "memory" && $NF > 0 && $6 == 0 { accesses++; named += $4 > 0 }
        END { print n["block"], n["edge"], n["loop"], accesses, named, odd + 0
              exit !(n["block"] > 30 && n["edge"] > n["block"] && n["loop"] > 1 && accesses > 5 &&
                     named >= 0.95 * accesses && !odd) }' marked.dump
}
for source in "$SOURCES"/mixed.c "$SOURCES"/strides.c "$APPS"/heat/heat.c "$APPS"/cg/cg.c; do
    name=$(basename "$source")
    while read -r options; do
        # shellcheck disable=SC2086
        check "$name: nothing but .pmodel changes with $options" same_object "$source" $options
        check "$name: loops, blocks and accesses are told with $options" describes_code
    done <<'OPTIONS'
-O0 -g
-O2 -g
-O3 -g -march=armv8.2-a+sve
-Ofast -funroll-loops
-Os -g -fPIC -ffunction-sections
OPTIONS
done

same_object "$SOURCES/strides.c" -O2 -fno-tree-vectorize -g ||
    fail "strides.c compiles" "the object or its section is not right"
has() {
    check "$1" grep -E -e "$2" marked.dump
}
has "strides over three loops" 'text \[grid\[i\]\[j\]\[k\]\].* strides L3:8 L2:240 L1:9600$'
has "a walk backwards" 'size 8 .* strides L1:-32$'
has "an access through an index" 'size 8 .* strides L1:indirect$'
has "a symbolic stride" 'strides L2:8 L1:\(8\*width\)$'
has "loops have lines, trip counts and variables" '^loop 1 .*strides\.c:1[0-9]-.* trips \[49\].*variable i$'
same_object "$SOURCES/mixed.c" -Os -fPIC || fail "mixed.c compiles" "the object is not right"
has "a switch's table is told with its targets" '^jump [0-9a-f]+ to( [0-9a-f]+){8}'
has "a call that does not return is told" '^noreturn '

mkdir -p native
cp "$PLUGIN" "$BUILD/lib/pmodel/pmodel-12.so" native/
printf 'int main(void) { return 0; }\n' >small.c
expect_error "a cross compiler without a body of its own gets a sentence" 1 \
    '^pmodel: this compiler is GCC 12\..* for aarch64-linux-gnu.*install gcc-12-plugin-dev-aarch64-linux-gnu and rebuild pmodel with CROSS=aarch64-linux-gnu' \
    aarch64-linux-gnu-gcc-12 -fplugin="$PWD/native/pmodel.so" -c small.c
cp native/pmodel-12.so native/pmodel-12-aarch64-linux-gnu.so
expect_error "a body for another machine gets a sentence" 1 '^pmodel: .*(does not fit|configured differently)' \
    aarch64-linux-gnu-gcc-12 -fplugin="$PWD/native/pmodel.so" -c small.c
