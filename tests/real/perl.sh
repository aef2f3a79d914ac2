# perl, as Debian installs it: a large interpreter, on a script with hashes, regular expressions,
# sorting and arithmetic over N items.
# time limit: 900 s
. "$TOP/tests/lib.sh"
. "$TOP/tests/real/real.bash"

perl_script >script.pl
real_program perl /usr/bin/perl 200,400,600,800,1200,1600 6400 /usr/bin/perl '{PWD}/script.pl' '{N}'

same_behaviour perl whole
nothing_irregular perl whole
real_coverage perl short
