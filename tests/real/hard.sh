# As tests/e2e/behaviour.sh of hard programs and ways out of routines, of code that is optimised most.
# time limit: 900 s
. "$TOP/tests/lib.sh"
PMODEL_LONG_TESTS=1 # all of what same_behaviour tries
. "$TOP/tests/rewrite/rewrite.bash"

hard_programs "-O3 -march=native -fcf-protection"
join_asides
ways_out "-O3 -march=x86-64-v3"
