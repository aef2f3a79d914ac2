# GCC's compiler of Fortran, as Debian installs it (20 MB of text): the assembler that it makes of the example
# applications.
# time limit: 1200 s
. "$TOP/tests/lib.sh"
. "$TOP/tests/real/behaviour.bash"

same_behaviour f951 whole
nothing_irregular f951 whole
real_coverage f951 short
