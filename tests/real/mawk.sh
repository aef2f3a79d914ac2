# mawk, as Debian installs it: an interpreter, on a script that sieves primes up to N, counts words
# and formats numbers.
# time limit: 600 s
. "$TOP/tests/lib.sh"
. "$TOP/tests/real/real.bash"

awk_script >script.awk
real_program mawk "$(command -v mawk)" 500,1000,1500,2000,3000,4000 16000 \
    mawk -v 'n={N}' -f '{PWD}/script.awk'

same_behaviour mawk whole
real_coverage mawk short
