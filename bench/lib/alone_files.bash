# The files whose innermost loops are run alone: `. "$bench/lib/alone_files.bash"`.  BUILD is the build folder.
# shellcheck shell=bash
alone_libraries=(libopenblas0-pthread libfftw3-double3 libgsl27) # packages

# library_file PACKAGE PATTERN: the first file of the installed package that the pattern fits.
library_file() { dpkg-query -L "$1" 2>/dev/null | grep -E -- "$2" | head -1 | xargs -r readlink -f; }

# Names of all: the example applications, then the libraries, which are installed if they are not there.
alone_names() {
    dpkg-query -W "${alone_libraries[@]}" >/dev/null 2>&1 || sh "$TOP/tests/setup" real >&2
    local program
    for program in "$BUILD"/apps/*; do
        [ ! -f "$program" ] || basename "$program" # folders are of parallel ones
    done
    printf '%s\n' OpenBLAS FFTW GSL
}

# alone_arguments NAME: what `pmodel loops` is told, a word a line.  Of OpenBLAS, which has a copy of its kernels for each
# processor, the ones for Haswell: x86-64-v3, as the applications are.
alone_arguments() {
    case $1 in
    OpenBLAS) printf '%s\n' --routine '*_HASWELL' "$(library_file libopenblas0-pthread '/libopenblas.*\.so\.0$')" ;;
    FFTW) library_file libfftw3-double3 '/libfftw3\.so\.3$' ;;
    GSL) library_file libgsl27 '/libgsl\.so\.27$' ;;
    *) printf '%s\n' "$BUILD/apps/$1" ;;
    esac
}

# run_alone NAME: the loops of a file as JSON, with `file`.
run_alone() {
    local arguments
    mapfile -t arguments < <(alone_arguments "$1")
    pmodel loops --time --format json "${arguments[@]}" | jq -c --arg file "$1" '. + {file: $file}'
}
