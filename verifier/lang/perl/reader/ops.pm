# What is to be known of one operation of a program that perl has compiled: its operands, its name,
# what it holds. A part of walk.pm, which judges; nothing is refused here.
package Assay::Walk;
use strict;
use warnings;
use B ();

sub kids {
	my ($op) = @_;
	my @kids;
	return @kids unless $op->flags & B::OPf_KIDS();
	for (my $kid = $op->first; $$kid; $kid = $kid->sibling) {
		push @kids, $kid;
	}
	return @kids;
}

sub name_of { my $n = $_[0]->name; return $n eq 'null' ? 'ex-' . substr(B::ppname($_[0]->targ), 3) : $n }

sub value_of {
	my ($op, $cv) = @_;
	my $sv = $op->sv;
	$sv = (($cv->PADLIST->ARRAY)[1]->ARRAY)[$op->targ] unless ref $sv && $$sv && ref $sv ne 'B::SPECIAL';
	return $sv;
}

sub text_of {
	my ($op, $cv) = @_;
	my $sv = value_of($op, $cv);
	return undef if !ref $sv || ref $sv eq 'B::SPECIAL' || $sv->can('RV') && $sv->FLAGS & B::SVf_ROK();
	return ${ $sv->object_2svref };
}

# What an operation names is in the pad of the sub that it belongs to, where perl has threads.
sub operand_of {
	my ($op) = @_;
	return ref $op eq 'B::PADOP' ? ((our $cv)->PADLIST->ARRAY)[1]->ARRAYelt($op->padix) : $op->gv;
}

sub gv_of {
	my ($op) = @_;
	return unless $op->can('gv') || ref $op eq 'B::PADOP';
	my $gv = operand_of($op);
	return ref $gv eq 'B::GV' ? $gv : undef;
}

sub full_name {
	my ($gv) = @_;
	return $gv->isGV_with_GP && $gv->STASH->can('NAME') ? $gv->STASH->NAME . '::' . $gv->NAME : 'a name';
}

sub above_name { my ($n, @above) = @_; return $above[$n] ? $above[$n]->name : '' }

# 1 .. 4 is a list before the program runs.
sub is_list {
	my ($sv) = @_;
	return ref $sv && $$sv && (ref $sv eq 'B::AV' || $sv->FLAGS & B::SVf_ROK());
}

sub is_statement {
	my ($op, $outer) = @_;
	return ($op->flags & B::OPf_WANT()) == B::OPf_WANT_VOID() ||
		!$outer || $outer->name =~ /\A(?:lineseq|leave|leavesub|leavetry|scope)\z/;
}

sub operands { return grep { $_->name ne 'pushmark' && name_of($_) ne 'ex-pushmark' } kids($_[0]) }

1;
