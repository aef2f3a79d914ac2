# GCC's compiler of C, as Debian installs it (20 MB of text): the assembler that it makes of the example
# applications.
# time limit: 1200 s
. "$TOP/tests/lib.sh"
. "$TOP/tests/real/behaviour.bash"

same_behaviour cc1 whole
real_coverage cc1 short
