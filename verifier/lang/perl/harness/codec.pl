# Plain data between a program and its judge, the same for both sides.
#
# A message is a list of strings, each behind its length, and all behind theirs:
# its type, the number of its values, the values, then nodes. A value is a letter
# and the rest: "u" undef, "s" text (UTF-8), "n" a number with all its digits, "r" and
# the name of a node. A node is its name, its kind, what the kind needs, the number
# of its values, and those: "a" an array, "h" a hash (keys are values), "S" what a
# scalar reference refers to; and what is not plain data and stays where it is: "c" a
# function, "o" an object with its class and the operators that it overloads.
# Nodes of the program are named p1, p2 ..., those of the judge j1, j2 ...
#
# What is read is taken apart by its letters, and nothing of it is ever run.
package Assay::Codec;
use strict;
use warnings;
no warnings 'recursion';
use Scalar::Util ();

# Taken before the program, or the tests, can change them.
my ($blessed, $reftype, $refaddr) =
	(\&Scalar::Util::blessed, \&Scalar::Util::reftype, \&Scalar::Util::refaddr);
my $MESSAGE_MAX = 16 << 20;

# side: 'p' or 'j'; stand(kind, name, class, operators) makes what stands for something
# of the other side; known(reference) gives the name of such a thing, or undef.
sub new {
	my ($class, %self) = @_;
	open($self{from}, '<&=', 3) or die "descriptor 3: $!";
	open($self{to}, '>&=', 4) or die "descriptor 4: $!";
	binmode $self{$_} for qw(from to);
	return bless { next => 1, mine => {}, theirs => {}, names => {}, %self }, $class;
}

# --- the pipe ---

sub write_message {
	my ($self, @parts) = @_;
	my $bytes = pack '(N/a*)*', @parts;
	$bytes = pack('N', length $bytes) . $bytes;
	my $at = 0;
	while ($at < length $bytes) {
		my $n = syswrite $self->{to}, $bytes, length($bytes) - $at, $at;
		return 0 unless defined $n;
		$at += $n;
	}
	return 1;
}

sub read_bytes {
	my ($self, $count) = @_;
	my $bytes = '';
	while (length $bytes < $count) {
		my $n = sysread $self->{from}, $bytes, $count - length $bytes, length $bytes;
		next if !defined $n && $!{EINTR};
		return undef unless $n;
	}
	return $bytes;
}

# The parts of a message; none at the end.
sub read_message {
	my ($self) = @_;
	my $head = $self->read_bytes(4);
	return () unless defined $head;
	my $size = unpack 'N', $head;
	die "malformed\n" if $size > $MESSAGE_MAX;
	my $bytes = $self->read_bytes($size);
	return () unless defined $bytes;
	my ($at, @parts) = (0);
	while ($at < $size) {
		die "malformed\n" if $at + 4 > $size;
		my $n = unpack 'N', substr $bytes, $at, 4;
		die "malformed\n" if $at + 4 + $n > $size;
		push @parts, substr $bytes, $at + 4, $n;
		$at += 4 + $n;
	}
	return @parts;
}

# --- writing ---

sub scalar_word {
	my ($v) = @_;
	return 'u' unless defined $v;
	# A number is one by its flags; where its text says something else, the text counts.
	no warnings;
	my $text = "$v";
	if ($text =~ /\A[-+.\w]+\z/a && length((my $empty = '') & $v) && (0 + $v) eq $text) {
		return 'n' . ($text =~ /\A-?\d+\z/ ? $text : sprintf '%.17g', $v);
	}
	utf8::encode($text);
	return "s$text";
}

sub kind_of {
	my ($self, $v) = @_;
	return 'o' if defined $blessed->($v);
	my $type = $reftype->($v);
	return $type eq 'ARRAY' ? 'a' : $type eq 'HASH' ? 'h' : $type eq 'CODE' ? 'c' :
		$type eq 'SCALAR' || $type eq 'REF' ? 'S' : 'o';
}

# The word of a value; a reference that is new is put on the queue.
sub word {
	my ($self, $v, $queue, $seen) = @_;
	return scalar_word($v) unless ref $v;
	my $at = $refaddr->($v);
	my $theirs = $self->{known}->($v);
	return "r$theirs" if defined $theirs;
	my $name = $seen->{$at};
	unless (defined $name) {
		my $kind = $self->kind_of($v);
		# What stays here keeps its name; what is copied has one for each message.
		$name = $self->{names}{$at} if $kind =~ /[co]/;
		my $is_new = !defined $name;
		$name = $self->{side} . $self->{next}++ if $is_new;
		if ($kind =~ /[co]/) {
			$self->{names}{$at} = $name;
			$self->{mine}{$name} = $v;
		}
		$seen->{$at} = $name;
		$self->{sent}{$name} = $v if $kind =~ /[ahS]/;
		push @$queue, [$name, $kind, $v] if $is_new || $kind =~ /[ahS]/;
	}
	return "r$name";
}

sub node_parts {
	my ($self, $name, $kind, $v, $queue, $seen) = @_;
	my @values = $kind eq 'a' ? @$v : $kind eq 'h' ? %$v : $kind eq 'S' ? ($$v) : ();
	my @extra = $kind eq 'o' ? $self->{describe}->($v) : ('', '');
	utf8::encode($_) for @extra;
	return ($name, $kind, @extra, scalar @values,
		map { $self->word($_, $queue, $seen) } @values);
}

# again: nodes of the other side, by name, whose content is told as it is now.
sub encode {
	my ($self, $type, $values, $again) = @_;
	my (@queue, %seen, @nodes);
	$self->{sent} = {};
	for my $name (sort keys %{ $again || {} }) {
		$seen{ $refaddr->($again->{$name}) } = $name;
		push @queue, [$name, $self->kind_of($again->{$name}), $again->{$name}];
	}
	my @words = map { $self->word($_, \@queue, \%seen) } @$values;
	while (my $one = shift @queue) {
		push @nodes, $self->node_parts(@$one, \@queue, \%seen);
	}
	return ($type, scalar @words, @words, @nodes);
}

# --- reading ---

sub read_word {
	my ($self, $word, $nodes) = @_;
	my ($letter, $rest) = $word =~ /\A([usnr])(.*)\z/s or die "malformed\n";
	return undef if $letter eq 'u' && $rest eq '';
	if ($letter eq 's') {
		die "malformed\n" unless utf8::decode($rest) || $rest !~ /[\x80-\xff]/;
		return $rest;
	}
	if ($letter eq 'n') {
		die "malformed\n" unless $rest =~ /\A-?(?:\d+(?:\.\d+)?(?:e[-+]?\d+)?|Inf|NaN|inf|nan)\z/;
		no warnings;
		return 0 + $rest;
	}
	die "malformed\n" unless $letter eq 'r' && exists $nodes->{$rest};
	return $nodes->{$rest};
}

# The type, the values, and the nodes that were copied. own: what this side named in
# what it sent last, and may be told again; it is changed in place.
sub decode {
	my ($self, $own, $type, $count, @parts) = @_;
	die "malformed\n" unless defined $count && $count =~ /\A\d{1,7}\z/ && $count <= @parts;
	my @words = splice @parts, 0, $count;
	my %nodes = (%{ $self->{mine} }, %{ $self->{theirs} }, %{ $own || {} });
	my (%copied, @fill);
	while (@parts) {
		my ($name, $kind, $class, $operators, $n) = splice @parts, 0, 5;
		die "malformed\n" unless defined $n && $n =~ /\A\d{1,7}\z/ && $n <= @parts &&
			$name =~ /\A[pj]\d{1,12}\z/ && $kind =~ /\A[ahSco]\z/;
		my @values = splice @parts, 0, $n;
		my $v = $nodes{$name};
		if (substr($name, 0, 1) eq $self->{side}) {
			die "malformed\n" unless ref $v && $kind =~ /[ahS]/ && $own->{$name} &&
				$self->kind_of($v) eq $kind;
		} elsif ($kind =~ /[co]/) {
			$v = $self->{theirs}{$name} = $self->{stand}->($kind, $name, $class, $operators);
		} else {
			$v = $kind eq 'a' ? [] : $kind eq 'h' ? {} : \(my $place);
			$copied{$name} = $v;
		}
		$nodes{$name} = $v;
		push @fill, [$kind, $v, \@values] if $kind =~ /[ahS]/;
	}
	for my $one (@fill) {
		my ($kind, $v, $values) = @$one;
		my @values = map { $self->read_word($_, \%nodes) } @$values;
		die "malformed\n" if ($kind eq 'h' && @values % 2) || ($kind eq 'S' && @values != 1);
		if ($kind eq 'a') {
			@$v = @values;
		} elsif ($kind eq 'h') {
			for my $i (grep { $_ % 2 == 0 } 0 .. $#values) {
				die "malformed\n" if !defined $values[$i] || ref $values[$i];
			}
			%$v = @values;
		} else {
			my ($is, $becomes) = ($$v, $values[0]);	# it may be a constant
			$$v = $becomes unless defined $is && defined $becomes && !ref $is &&
				!ref $becomes && $is eq $becomes || !defined $is && !defined $becomes;
		}
	}
	return ($type, [map { $self->read_word($_, \%nodes) } @words], \%copied);
}
