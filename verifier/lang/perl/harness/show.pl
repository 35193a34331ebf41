# Runs a program that printed nothing once more, and prints the value of its last expression, as a
# notebook would. The last statement counts when it is an expression and neither an assignment nor
# a bare number, as in the `1;` of a module.
use strict;
use warnings;

package Assay::Show;

my $path = '/work/@SOLUTION@';

# Of a text without what follows __END__, comments at its end and blanks.
sub last_statement {
	my ($text) = @_;
	$text =~ s/^__(?:END|DATA)__\b.*//ms;
	1 while $text =~ s/(?:\s|;|^[ \t]*#[^\n]*)+\z//m;
	return $text =~ /([^;}\n][^;]*)\z/ ? $1 : '';
}

sub is_value {
	my ($text) = @_;
	$text = last_statement($text);
	$text =~ s/\A.*\}[ \t]*\n//s;
	return 0 if $text =~ /\A\s*(?:my|our|local|state|sub|package|use|no|print|printf|say|return|die|warn|for|foreach|while|until|if|unless|open|close|push|exit|\}|\d+\s*\z)/;
	return $text !~ /(?<![=!<>~])=(?![=~>])/;
}

sub shown {
	my ($value) = @_;
	return $value unless ref $value;
	require Data::Dumper;
	return Data::Dumper->new([$value])->Terse(1)->Indent(0)->Sortkeys(1)->Useqq(1)->Dump;
}

open my $source, '<', $path or die "$path: $!";
my $wanted = is_value(do { local $/; <$source> });
close $source;
$0 = $path;
my @values = do { package main; do $path };
die $@ if $@ ne '';
print map { shown($_) . "\n" } grep { defined } @values if $wanted;
