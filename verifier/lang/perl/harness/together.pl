# Runs a solution, then its tests in the same interpreter, and reports. What one
# interpreter reports may be forged: verifier/tests.h says what of it is believed. Part
# of a run with scope.pl and assertions.pl before it.
package Assay::Together;
use strict;
use warnings;

my ($file, $tests) = ('/work/@SOLUTION@', '/work/@TESTS@');

sub slurp {
	my ($path) = @_;
	open my $from, '<', $path or die "$path: $!";
	local $/;
	return scalar <$from>;
}

my $ENDED = \'the program called exit';
my $text = slurp($tests);
my $source = slurp($file);
unlink $tests, $0;
{
	no warnings;
	*CORE::GLOBAL::exit = sub (;$) {
		CORE::exit($_[0]) if $_[0];
		die $ENDED;
	};
	$source =~ /^__END__[ \t]*\r?\n/m and open main::DATA, '<', \substr $source, $+[0];
}
$0 = $file;
{ package main; do $file; }
my $said = $@;
if ($said ne '' && !(ref $said && $said == $ENDED)) {
	print STDERR $said;
	Assay::Tally::fail_at(0, "the program died: $said");
	Assay::Tally::finish();
}
Assay::Tally::run_tests($text);
Assay::Tally::finish();
