# perl, as Debian installs it: a large interpreter, on a script with hashes, regular expressions,
# sorting and arithmetic over N items.
# time limit: 900 s
. "$TOP/tests/lib.sh"
. "$TOP/tests/real/real.bash"

cat >script.pl <<'P'
use strict;
use warnings;
my ($n) = @ARGV;
my ($state, %count, @list) = (1);
for my $i (1 .. $n) {
    $state = ($state * 1103515245 + 12345) % 2147483648;
    push @list, sprintf("%s-%06d", chr(97 + $state % 26), $state % 100000);
    $count{substr $list[-1], 0, 3}++;
}
my @sorted = sort { $a cmp $b } @list;
my $matched = grep { /^[a-m]-0*([1-9]\d*)5$/ && $1 > 10 } @sorted;
my $text = join ',', @sorted;
(my $other = $text) =~ s/(\d)-?/$1 % 2 ? "x" : "yy"/ge;
my $check = 0;
$check = ($check * 31 + ord) % 1000003 for split //, $other;
eval { die { code => scalar @sorted } };
printf "%d %d %d %s\n", scalar keys %count, $matched, $check, $@->{code};
P
real_program perl /usr/bin/perl 200,400,600,800,1200,1600 6400 /usr/bin/perl '{PWD}/script.pl' '{N}'
