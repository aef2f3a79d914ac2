# The tools of this folder and the example applications, for the scripts that compare pmodel with
# something independent: `. "$TOP/tests/truth/tools.sh"` after lib.sh.
# shellcheck shell=bash

# truth_tool NAME [FILE...]: builds NAME.c of this folder, with other files of it, into $TMP. The C library stands before the runtime,
# so that the runtime's wrappers of pthread_create and the like are not taken for the originals.
truth_tool() {
    local name=$1
    shift
    gcc -std=gnu11 -O2 -g -Wall -Wextra -Werror -I"$TOP" -fopenmp -o "$TMP/$name" \
        "$TOP/tests/truth/$name.c" "${@/#/$TOP/tests/truth/}" -Wl,--start-group "$BUILD"/libpm_core.a "$BUILD"/libpm_binlift.a \
        -Wl,--end-group -lelf -ldw -lZydis -lsqlite3 -lxxhash -lzstd -lm -lpthread -ldl -lc \
        "$BUILD"/libpm_runtime.a
}

# truth_app NAME: builds an example application, marked, into $TMP. Valgrind stops at AVX-512.
truth_app() {
    local flags compiler=gcc source=$TOP/bench/apps/$1/$1.c
    flags=$(pmodel flags) || return
    if [ ! -e "$source" ]; then
        compiler=gfortran source=$TOP/bench/apps/$1/$1.f90
    fi
    # shellcheck disable=SC2086 # the flags are several words
    "$compiler" -O3 -g -march=x86-64-v3 $flags -o "$TMP/$1" "$source" -lm
}
