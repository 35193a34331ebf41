# The program, alone: it is run as it would be, and then asked, one thing at a time, by a
# judge in other walls. The tests are not here, and what is here decides nothing. Part
# of a run with codec.pl before it.
package Assay::Program;
use strict;
use warnings;

my $file = '/work/@SOLUTION@';
my ($blessed, $refaddr, $reftype) =
	(\&Scalar::Util::blessed, \&Scalar::Util::refaddr, \&Scalar::Util::reftype);
my (%stands, $watched, $codec);
my $ENDED = \'the program called exit';
my @OPERATORS = ('""', '0+', 'bool', '==', '!=', 'eq', 'ne', '<=>', 'cmp', '<', '>', '<=', '>=',
	'lt', 'gt', 'le', 'ge', '+', '-', '*', '/', '%', '**', 'x', '.', 'neg', 'abs',
	'@{}', '%{}', '&{}', '${}', '<>');

# Class and overloaded operators of an object. Not by its own methods: it may say anything.
sub describe {
	my ($v) = @_;
	my $class = $blessed->($v);
	return ($reftype->($v), '') unless defined $class;
	my @has = defined &overload::Method ? grep { overload::Method($class, $_) } @OPERATORS : ();
	return ($class, join ' ', @has);
}

# What stands for a function of the tests: $_, $a and $b are what it may look at. A
# pattern of theirs is made here.
sub stand {
	my ($kind, $name, $class, $operators) = @_;
	return qr/$operators/ if $kind eq 'o' && $class eq 'Regexp';
	die "malformed\n" unless $kind eq 'c';
	my $wanted;
	$wanted = sub {
		my $context = wantarray ? 'list' : 'scalar';
		return give($context, request('back', $wanted, $context, $_, $main::a, $main::b, @_));
	};
	$stands{ $refaddr->($wanted) } = $name;
	return $wanted;
}

sub give {
	my ($context, @values) = @_;
	return $context eq 'list' ? @values : $values[-1];
}

sub leave {
	close STDOUT;
	CORE::exit(0);
}

sub send_message {
	$codec->write_message($codec->encode(@_)) or leave();
}

sub receive {
	my @parts = $codec->read_message or leave();
	return $codec->decode({}, @parts);
}

sub request {
	my ($type, @values) = @_;
	send_message($type, \@values);
	while (1) {
		my ($answer, $values, $copied) = receive();
		return @$values if $answer eq 'return';
		die $values->[0] if $answer eq 'throw';
		answer($answer, $values, $copied);
	}
}

# --- what it has ---

my %before;
sub stashes {
	my ($prefix, $found, $depth) = @_;
	no strict 'refs';
	for my $key (keys %{"${prefix}::"}) {
		next unless $key =~ /\A([A-Za-z_]\w*)::\z/;
		my $name = $prefix eq 'main' ? $1 : "${prefix}::$1";
		next if $name eq 'main' || $depth > 8 || $found->{$name}++;
		stashes($name, $found, $depth + 1);
	}
	return $found;
}

sub subs_of {
	my ($package) = @_;
	no strict 'refs';
	return grep { /\A[A-Za-z_]\w*\z/ && defined &{"${package}::$_"} } sort keys %{"${package}::"};
}

sub names {
	my %files = map { my $p = $_; $p =~ s/\.pm\z//; $p =~ s{/}{::}g; ($p => 1) } keys %INC;
	my @packages = ('main', sort grep { !$before{$_} && !$files{$_} } keys %{ stashes('main', {}, 0) });
	my @all;
	no strict 'refs';
	for my $package (@packages) {
		my @subs = subs_of($package);
		push @all, [$package, [@{"${package}::ISA"}],
			[map { [$_, prototype \&{"${package}::$_"}] } @subs]] if @subs || @{"${package}::ISA"};
	}
	return @all;
}

# Package variables that the tests name, as they are now.
sub variables {
	no strict 'refs';
	no warnings 'once';
	return [map { my ($sigil, $name) = /\A([\$\@%])(.*)\z/s;
		[$_, $sigil eq '$' ? ${"main::$name"} : $sigil eq '@' ? [@{"main::$name"}] :
			{ %{"main::$name"} }] } @{ $watched || [] }];
}

# --- what it is asked ---

sub content {
	my ($v) = @_;
	my $type = $reftype->($v);
	no overloading;
	return $type eq 'HASH' ? { %$v } : $type eq 'ARRAY' ? [@$v] :
		$type eq 'SCALAR' || $type eq 'REF' ? \(my $copy = $$v) : undef;
}

sub operator {
	my ($op, $v, $other, $swapped) = @_;
	my $method = overload::Method($v, $op) or die "no operator $op\n";
	return scalar $method->($v, $other, $swapped);
}

my %asked = (
	names => sub { return names() },
	watch => sub { $watched = $_[0]; return () },
	call => sub { my $name = shift; no strict 'refs'; return &{ \&{$name} }(@_) },
	method => sub { my ($name, $self) = splice @_, 0, 2; return $self->$name(@_) },
	code => sub { my $code = shift; return $code->(@_) },
	content => sub { return content($_[0]) },
	operator => sub { return operator(@_) },
	isa => sub { return $_[0]->isa($_[1]) ? 1 : 0 },
);

# The values of an answer, its error, and what it printed. Where an effect is wanted, the value
# is what became of the last argument.
sub perform {
	my ($do, $context, @args) = @_;
	my ($printed, @values, $thrown) = ('');
	open my $own, '>&', \*STDOUT or die "standard output: $!";
	close STDOUT;
	open STDOUT, '>', \$printed;
	select STDOUT;
	my $ok = eval {
		local ($@, $!, $_);
		if ($context eq 'list') { @values = $do->(@args) }
		elsif ($context eq 'effect') { $do->(@args); @values = $args[-1] }
		else { $values[0] = $do->(@args) }
		1;
	};
	$thrown = [$@] unless $ok;
	close STDOUT;
	open STDOUT, '>&', $own;
	return (\@values, $thrown, $printed);
}

sub answer {
	my ($type, $values, $copied) = @_;
	my ($context, @args) = @$values;
	my $do = $asked{$type} or die "malformed\n";
	my ($given, $thrown, $printed) = perform($do, $context, @args);
	leave_now() if $thrown && ref $thrown->[0] && $thrown->[0] == $ENDED;
	my $told = $thrown ? [$thrown->[0]] : $given;
	send_message($thrown ? 'throw' : 'return', [$printed, variables(), @$told], $copied);
}

sub leave_now {
	$codec->write_message('ended', 0);
	leave();
}

# --- the run ---

sub data_of {
	my ($text) = @_;
	return unless $text =~ /^__END__[ \t]*\r?\n/m;
	my $rest = substr $text, $+[0];
	open main::DATA, '<', \$rest;
}

sub run {
	my $open = open my $source, '<', $file;
	my $text = $open ? do { local $/; <$source> } : '';
	close $source if $open;
	data_of($text);
	%before = %{ stashes('main', {}, 0) };
	$0 = $file;
	my $done = do { package main; do $file; };
	my $said = $@;
	return if ref $said && $said == $ENDED;
	print STDERR $said if $said ne '';
	CORE::exit(255) if $said ne '';
}

BEGIN { *CORE::GLOBAL::exit = sub (;$) {
	CORE::exit($_[0] || 0) if $_[0];
	die $ENDED;
} }
require overload;
unlink $0;
$SIG{PIPE} = 'IGNORE';
$codec = Assay::Codec->new(side => 'p', stand => \&stand, describe => \&describe,
	known => sub { $stands{ $refaddr->($_[0]) } });
run();
$| = 1;
while (1) {
	my ($type, $values, $copied) = receive();
	answer($type, $values, $copied);
}
