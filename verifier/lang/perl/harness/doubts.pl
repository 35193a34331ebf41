# What was the program's own word about itself: reasons not to count what came out true by it.
#
# - What it says about another answer of its own: by a function that is named like a comparison; by
#   any other whose word is the truth of the assertion. Of an array, a hash or an object it may be
#   spoken by one of another name that said yes as well as no.
# - What one function of it makes of another one's answer and of the tests' own value: it may make
#   the same of everything.
# - That every item of an answer is right which has none.
# - What is compared after a function changed a variable that it was given: by what the tests hold,
#   it could be both sides. Not where one variable, or one call, stands beside what is written out.
# Part of a run with sites.pl before it.
package Assay::Doubts;
use strict;
use warnings;

our $is_trusted = sub { return 0 };	# of an object that the tests made themselves
our $is_thing = sub { return 0 };	# of any of the program's
my $refaddr = \&Scalar::Util::refaddr;
my $COMPARES = qr/equal|eq$|same|close|near|approx|almost|similar|match|compare|cmp|diff|distance|within|toler|verify|check|assert|expect|should|must|valid/i;
my $SAYS_ALL = qr/\bgrep\b|\b(?:all|none|notall|any|every|first)\s*\{/;
my (%answers, @words, %said, @spoken, $nothing, $has_changed);

sub key { return ref $_[0] ? 'at ' . $refaddr->($_[0]) : $_[0] }

# Not one that stands in the tests by chance.
sub is_telling {
	my ($v) = @_;
	return 1 if ref $v;
	return $v =~ /\A-?\d+\z/ ? abs $v > 9 : length $v > 1;
}

sub is_yes_or_no { return @_ == 0 || @_ == 1 && (!defined $_[0] || !ref $_[0] && $_[0] =~ /\A[01]?\z/) }

sub is_answer_of_another {
	my ($name, $v) = @_;
	return defined $v && is_telling($v) && !$is_trusted->($v) && grep { $_ ne $name } @{ $answers{ key($v) } || [] };
}

# A comparison of the program's own, of what it answered: it would have the expected value, and
# the last word. Not of an object that the tests made.
sub asked {
	my ($name, @args) = @_;
	return unless $name =~ $COMPARES;
	return unless grep { defined && !$is_trusted->($_) && ($is_thing->($_) || $answers{ key($_) }) } @args;
	Assay::Tally::doubt("the program's $name is asked about its own answer");
}

# by: the name of what was asked; '' for what has none.
sub remember {
	my ($by, $line, @told) = @_;
	push @{ $answers{ key($_) } }, $by for grep { defined } @told;
	return if @told > 1 || @told == 1 && !(ref $told[0] eq 'ARRAY' && !@{ $told[0] });
	$nothing ||= Assay::Sites::statement_at($line) =~ $SAYS_ALL ? 1 : 0;
}

# given: without the object whose method it is.
sub said {
	my ($name, $given, @told) = @_;
	my $line = Assay::Tally::line_here();
	my ($is_made, $is_own, $is_truth) = Assay::Sites::look_at_call($name, $line);
	$is_made = 1 if grep { is_answer_of_another($name, $_) } @$given;
	$said{$name}{ $told[-1] ? 'yes' : 'no' } = 1 if is_yes_or_no(@told);
	remember($name, $line, @told);
	push @words, { name => $name, is_made => $is_made, is_own => $is_own, is_truth => $is_truth,
		has_thing => scalar(grep { ref } @$given), count => scalar @$given, told => \@told };
	Assay::Tally::doubt("the program's $name is asked about its own answer")
		if $is_made && $name =~ $COMPARES && is_yes_or_no(@told);
}

sub changed { $has_changed = 1 }

# Two objects whose content is its word on both sides.
sub both { Assay::Tally::doubt('two objects of the program are compared') }

# Whether of calls that are given an answer, and of others, two said the same.
sub makes_the_same {
	my (@calls) = @_;
	return unless grep { $_->{is_made} } @calls and grep { $_->{is_own} } @calls;
	while (my $one = shift @calls) {
		return 1 if grep { !defined Assay::Tally::differ($one->{told}, $_->{told}, '', {}) } @calls;
	}
	return;
}

# The words that an assertion was made with. truth: whether it is of true or false; or undef.
sub settled {
	my ($line, $truth) = @_;
	my %of;
	for my $word (grep { $truth && $_->{is_made} && $_->{is_truth} && is_yes_or_no(@{ $_->{told} }) } @words) {
		next if $truth eq 'is' && $word->{count} < 2;
		if ($word->{has_thing}) { push @spoken, [$word->{name}, $line] }
		else { Assay::Tally::doubt("the program's $word->{name} is asked about its own answer") }
	}
	push @{ $of{ $_->{name} } }, $_ for @words;
	for my $name (grep { makes_the_same(@{ $of{$_} }) } sort keys %of) {
		Assay::Tally::doubt("the program's $name makes something of its own answer and of what is expected");
	}
	Assay::Tally::doubt('that all of an answer is right is said of one that has nothing')
		if $nothing || defined $nothing && Assay::Sites::statement_at($line) =~ $SAYS_ALL;
	Assay::Tally::doubt('the program changed what the tests hold')
		if $has_changed && Assay::Sites::count_of_things($line) > 1;
	(%answers, @words, $nothing) = ();
}

sub ends {
	for my $one (@spoken) {
		next if $said{ $one->[0] }{yes} && $said{ $one->[0] }{no};
		Assay::Tally::doubt("the program's $one->[0] is asked about its own answer");
		Assay::Tally::settle($one->[1]);
	}
	for my $line (Assay::Sites::unmade()) {
		Assay::Tally::doubt('this assertion was never made');
		Assay::Tally::settle($line);
	}
}

sub is_answer { return exists $answers{ key($_[0]) } }
