# What tests of the plugin share; sourced after tests/lib.sh, with TARGET set for a cross compiler.
# shellcheck shell=bash
SOURCES=$TOP/tests/plugin
APPS=$TOP/bench/apps
PLUGIN=$BUILD/lib/pmodel/pmodel.so
# Debug information names all options, so -fplugin too, unless told not to.
SAME="-gno-record-gcc-switches"

gcc-12 -std=gnu11 -O2 -Wall -Wextra -Werror -I"$TOP" -o dump_section "$SOURCES/dump_section.c" ||
    fail "the dumper of the section compiles" "gcc-12 failed"

# With TARGET set, the cross compiler for it.
compiler_of() {
    case $1 in
    *.f90) echo "${TARGET:+$TARGET-}gfortran-12" ;;
    *.cc) echo "${TARGET:+$TARGET-}g++-12" ;;
    *) echo "${TARGET:+$TARGET-}gcc-12" ;;
    esac
}

# Every section but ours, with its name and bytes.
contents() {
    objdump -s "$1" | grep -v 'file format' |
        awk '/^Contents of section/ { show = $4 !~ /\.pmodel:|\.group:|build-id:/ } show'
}

same_contents() {
    contents "$1" >plain.contents && contents "$2" >marked.contents &&
        cmp plain.contents marked.contents
}

# same_object SOURCE OPTION...: code, tables, debug information and diagnostics of an object file.
same_object() {
    local source=$1 compiler
    shift
    compiler=$(compiler_of "$source")
    "$compiler" "$@" $SAME -Wall -c -o plain.o "$source" 2>plain.err || { cat plain.err; return 1; }
    "$compiler" "$@" $SAME -Wall -fplugin="$PLUGIN" -c -o marked.o "$source" 2>marked.err ||
        { cat marked.err; return 1; }
    cmp plain.err marked.err && same_contents plain.o marked.o &&
        readelf -SW marked.o | grep '\.pmodel' >/dev/null && ./dump_section marked.o >marked.dump
}

ALL_OPTIONS='-O0 -g
-Og -g
-O1
-O2 -g
-O3 -g
-Os -g
-O3 -g -march=x86-64-v3
-Ofast -march=x86-64-v4 -funroll-loops
-O2 -g -fPIC -ffunction-sections
-O2 -g -fopenmp'

# same_with_options SOURCE...: with each line of options on standard input.
same_with_options() {
    local options source
    while read -r options; do
        for source; do
            # shellcheck disable=SC2086
            check "$(basename "$source"): nothing but .pmodel changes with $options" same_object "$source" $options
        done
    done
}
