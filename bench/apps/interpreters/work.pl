# Hashes, sorting with a comparison, regular expressions, closures.
use strict;
use warnings;

my $state = 42;
sub random { $state = ($state * 1103515245 + 12345) % 2147483648; return $state % $_[0] }

my %counts;
$counts{ "k" . random(20000) }++ for 1 .. 600000;
my @names = sort { $counts{$b} <=> $counts{$a} || $a cmp $b } keys %counts;

my @numbers = map { random(1000000) } 1 .. 400000;
my @sorted = sort { $a <=> $b } @numbers;

sub counter { my $step = shift; my $n = 0; return sub { $n += $step; return $n } }
my @counters = map { counter($_) } 1 .. 1000;
my $sum = 0;
for my $round (1 .. 1000) { $sum += $_->() for @counters }

my $text = join " ", map { scalar reverse uc } (@names) x 5;
my ($digits, %lengths) = (0);
$digits++ while $text =~ /\d/g;
$lengths{ length $1 }++ while $text =~ /(\S+)/g;
$text =~ s/(\d)K/<$1>/g;
print join(" ", $names[0], $counts{ $names[0] }, $sorted[0], $sorted[-1], $sum, $digits, length $text,
    map { "$_:$lengths{$_}" } sort { $a <=> $b } keys %lengths), "\n";
