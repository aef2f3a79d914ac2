# The reference BLAS of Debian's source package lapack (Fortran), built with the plugin: its own test
# of the matrix products and triangular solvers (dblat3) with matrices of order N.
# time limit: 900 s
. "$TOP/tests/lib.sh"
. "$TOP/tests/real/real.bash"

check "the source of lapack unpacks" debian_source lapack || exit
flags=$(pmodel flags)
build() {
    local routine files=()
    for routine in dgemm dsymm dtrmm dtrsm dsyrk dsyr2k lsame; do # the test has its own xerbla
        files+=("lapack/BLAS/SRC/$routine.f")
    done
    # shellcheck disable=SC2086 # the flags are several words
    gfortran -O3 -g $flags -o program lapack/BLAS/TESTING/dblat3.f "${files[@]}"
}
check "the test of the reference BLAS builds with the flags of pmodel" build || exit
for size in 16 20 24 28 32 36 64; do
    awk -v size=$size '
        /NUMBER OF VALUES OF N/ { sub(/[0-9]+/, 1) }
        / VALUES OF N$/ && !/NUMBER/ { $0 = size " VALUES OF N" }
        { print }' lapack/BLAS/TESTING/dblat3.in >in.$size
done
printf '#!/bin/sh\ncd "$1" && ${RUNNER-} ./program <"in.$2" && cat dblat3.out\n' >launch
chmod +x launch
real_program blas3 ./program 16,20,24,28,32,36 64 ./launch '{PWD}' '{N}'
