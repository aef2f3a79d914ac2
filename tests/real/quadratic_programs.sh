# The solver of fits under constraints (fit/algebra/quadratic_program.c) finds the minima that Octave's qp finds: of thousands of
# random problems, well and badly conditioned, with redundant and contradicting constraints, and of those that
# fits hand to it.
# time limit: 900 s
. "$TOP/tests/lib.sh"

read -ra libraries <"$BUILD/ldlibs"
build() {
    gcc -std=gnu11 -O2 -g -Wall -Wextra -Werror -I"$TOP" -fopenmp -o programs \
        "$TOP/tests/truth/quadratic_programs.c" -Wl,--wrap=pm_qp_solve,--wrap=pm_qp_nearest "$BUILD"/libpm_fit.a \
        "$BUILD"/libpm_core.a "${libraries[@]}" -lm
}
check "the program that writes problems builds" build || exit

# compare NAME KIND...: as check, and shows how many were compared.
compare() {
    local name=$1
    shift
    ./programs "$@" >problems || { fail "$name" "problems without an answer"; return; }
    if octave-cli --norc "$TOP/tests/truth/quadratic_programs.m" problems >compared 2>&1; then
        pass "$name"
    else
        fail "$name" "$(tail -n 3 compared | tr '\n' ' ')"
    fi
    cat compared
}
compare "minima of random problems are Octave's" random 6000
compare "minima of the problems of fits are Octave's" fit
