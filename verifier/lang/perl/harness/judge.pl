# Runs the tests of a program that is not here, and reports how many assertions were
# executed and which failed. What they call of it is asked over a pipe: nothing of the
# program is ever code, class or file in this interpreter. Part of a run with scope.pl,
# codec.pl, assertions.pl, sites.pl and doubts.pl before it.
#
# A function of the program is a stub that asks; an object of it is a handle, blessed
# into a class that holds stubs only. What a handle's operators say is the program's own
# word: an assertion that came out true by it is undecided, but for an object that the
# tests made themselves with `new`, whose arithmetic is under test.
package Assay::Judge;
use strict;
use warnings;

my ($tests, $solution) = ('/work/@TESTS@', '/work/@SOLUTION@');
my ($blessed, $refaddr) = (\&Scalar::Util::blessed, \&Scalar::Util::refaddr);
my ($codec, $asked, %handles, %info, %code_names, %stubbed, %watched, %given, %named, $text);
my $NAME = qr/\A[A-Za-z_]\w*\z/;
my %NEVER = map { ($_ => 1) } qw(BEGIN END INIT CHECK UNITCHECK AUTOLOAD DESTROY CLONE import unimport
	can isa DOES VERSION STDIN STDOUT STDERR ENV ARGV INC SIG ISA AUTOLOAD TODO a b _);

sub slurp {
	my ($path) = @_;
	open my $from, '<', $path or die "$path: $!";
	local $/;
	return scalar <$from>;
}

# Nothing that the tests do with errors hides that the program is gone.
sub fatal {
	my ($why) = @_;
	Assay::Tally::fail_at(Assay::Tally::line_here(), $why);
	Assay::Tally::finish();
}

# --- asking ---

sub receive {
	my ($own) = @_;
	my @parts = eval { $codec->read_message };
	fatal('the program\'s answer cannot be read') if $@ ne '';
	fatal('the program ended in the middle') unless @parts;
	my @told = eval { $codec->decode($own, @parts) };
	fatal('the program\'s answer cannot be read') if $@ ne '';
	return @told;
}

sub take_variables {
	my ($told) = @_;
	fatal('the program\'s answer cannot be read') unless ref $told eq 'ARRAY';
	for my $one (@$told) {
		my ($name, $v) = ref $one eq 'ARRAY' ? @$one : ();
		next unless defined $name && $watched{$name};
		my ($sigil, $word) = $name =~ /\A(.)(.*)\z/s;
		no strict 'refs';
		no warnings 'once';
		if ($sigil eq '$') { ${"main::$word"} = $v }
		elsif ($sigil eq '@') { @{"main::$word"} = @$v if ref $v eq 'ARRAY' }
		else { %{"main::$word"} = %$v if ref $v eq 'HASH' }
	}
}

# A function of the tests that the program was given.
sub called_back {
	my ($code, $context, $topic, $first, $second, @args) = @_;
	fatal('the program\'s answer cannot be read') unless ref $code eq 'CODE' && defined $code_names{ $refaddr->($code) };
	$given{ $refaddr->($code) } = 0;
	my @values;
	my $ok = eval {
		no warnings 'once';
		local ($_, $main::a, $main::b) = ($topic, $first, $second);
		if ($context eq 'list') { @values = $code->(@args) }
		else { $values[0] = $code->(@args) }
		1;
	};
	my $error = $@;
	$codec->write_message($ok ? $codec->encode('return', \@values) : $codec->encode('throw', [$error]))
		or fatal('the program ended in the middle');
}

# The tests' own $@ and $! stay what they are, but for what the program dies of.
sub ask {
	my ($type, $context, @values) = @_;
	local ($@, $!);
	$asked = 1 unless $type eq 'names' || $type eq 'watch';
	my @message = $codec->encode($type, [$context, @values]);
	my $own = $codec->{sent};
	$codec->write_message(@message) or fatal('the program ended in the middle');
	while (1) {
		my ($said, $told) = receive($own);
		my @told = @$told;
		if ($said eq 'back') {
			called_back(@told);
			next;
		}
		fatal('the program ended itself') if $said eq 'ended';
		fatal('the program\'s answer cannot be read') unless $said eq 'return' || $said eq 'throw';
		my ($printed, $variables) = splice @told, 0, 2;
		fatal('the program\'s answer cannot be read') if !defined $printed || ref $printed;
		print $printed if $printed ne '';
		take_variables($variables);
		die $told[0] if $said eq 'throw';
		Assay::Doubts::remember('', Assay::Tally::line_here(), @told) if $type eq 'code' || $type eq 'operator';
		return $context eq 'list' ? @told : $told[-1];
	}
}

# --- what stands for the program's things ---

sub stand {
	my ($kind, $name, $class, $operators) = @_;
	return $handles{$name} if $handles{$name};
	if ($kind eq 'c') {
		my $code = sub { return ask('code', wantarray ? 'list' : 'scalar', $handles{$name}, @_) };
		$info{ $refaddr->($code) } = { name => $name };
		return $handles{$name} = $code;
	}
	my $v = \(my $place = $name);
	$info{ $refaddr->($v) } = { name => $name, class => $class,
		has => { map { ($_ => 1) } split / /, $operators } };
	return $handles{$name} = bless $v, $stubbed{$class} ? $class : 'Assay::Object';
}

# What of the tests' own goes to the program: a pattern does, other objects stay.
sub describe {
	my ($v) = @_;
	return ('Regexp', "$v") if ref $v eq 'Regexp';
	Assay::Tally::is_unlike('an object of the tests is handed to the program');
	die "an object of the tests cannot be handed to the program\n";
}

sub known {
	my ($v) = @_;
	my $one = $info{ $refaddr->($v) };
	return $one->{name} if $one;
	if (ref $v eq 'CODE') {
		$code_names{ $refaddr->($v) } = 1;
		$given{ $refaddr->($v) } = 1 unless exists $given{ $refaddr->($v) };
	}
	return undef;
}

# A call by name; given: what it is given beside the object whose method it is.
sub ask_by_name {
	my ($context, $name, $given, $type, @message) = @_;
	Assay::Doubts::asked($name, @message[1 .. $#message]);
	my @values = ask($type, $context, @message);
	Assay::Doubts::said($name, $given, @values);
	return @values;
}

sub call {
	my ($context, $package, $name, @args) = @_;
	my $is_method = @args && (ref $args[0] ? $info{ $refaddr->($args[0]) } : $stubbed{ defined $args[0] ? $args[0] : '' });
	my @values = ask_by_name($context, $name, $is_method ? [@args[1 .. $#args]] : \@args, 'call', "${package}::$name", @args);
	trust($values[0]) if $name eq 'new' && @args && !ref $args[0] && defined $args[0] && $text =~ /\b\Q$args[0]\E\b/;
	return $context eq 'list' ? @values : $values[-1];
}

# A call whose value nobody takes may be made for what becomes of the variable that it is given.
sub call_for_effect {
	my ($package, $name) = @_;
	my $becomes = call('effect', $package, $name, $_[2]);
	return if !defined $becomes || ref $becomes || defined $_[2] && $_[2] eq $becomes;
	local $@;
	eval { $_[2] = $becomes; Assay::Doubts::changed(); };
	return;
}

sub trust {
	my ($v) = @_;
	my $one = ref $v ? $info{ $refaddr->($v) } : undef;
	$one->{trusted} = 1 if $one;
	return $v;
}

# --- its operators ---

package Assay::Handle;

sub info_of { return $info{ $refaddr->($_[0]) } || {} }
sub import { }
sub unimport { }
sub DESTROY { }
our $AUTOLOAD;
sub AUTOLOAD {
	my ($name) = $AUTOLOAD =~ /(\w+)\z/;
	my $self = shift;
	my $context = wantarray ? 'list' : 'scalar';
	my @values = Assay::Judge::ask_by_name($context, $name, [@_], 'method', $name, $self, @_);
	return $context eq 'list' ? @values : $values[-1];
}

sub operate {
	my ($op, $v, $other, $swapped) = @_;
	return Assay::Judge::ask('operator', 'scalar', $op, $v, $other, $swapped ? 1 : '');
}
sub plain {
	my ($v) = @_;
	Assay::Judge::fatal('an object of the program is no value') if ref $v;
	return $v;
}
sub doubt { Assay::Tally::doubt("an object of the program $_[0]") }

sub text {
	my ($v) = @_;
	my $one = info_of($v);
	unless ($one->{has}{'""'}) {
		return sprintf '%s=HASH(0x%x)', ref $v, $refaddr->($v);
	}
	doubt('turned itself into text') unless $one->{trusted};
	return '' . plain(operate('""', $v, undef, ''));
}
sub number {
	my ($v) = @_;
	my $one = info_of($v);
	return $refaddr->($v) unless $one->{has}{'0+'} || $one->{has}{'""'};
	return 0 + text($v) unless $one->{has}{'0+'};
	doubt('turned itself into a number') unless $one->{trusted};
	return 0 + plain(operate('0+', $v, undef, ''));
}
sub truth {
	my ($v) = @_;
	my $one = info_of($v);
	return $one->{has}{'""'} ? !!text($v) : 1 unless $one->{has}{bool};
	doubt('says whether it is true') unless $one->{trusted};
	return !!plain(operate('bool', $v, undef, ''));
}

# An operator of two values, by the object's own, else by what it is as text or number.
sub binary {
	my ($op, $own, $as, $do) = @_;
	return sub {
		my ($v, $other, $swapped) = @_;
		my $one = info_of($v);
		my ($mine) = grep { $one->{has}{$_} } @$own;
		if (defined $mine) {
			doubt("compared or reckoned itself ($op)") unless $one->{trusted} && $as eq 'reckons';
			my $result = operate($mine, $v, $other, $swapped);
			return $mine eq $op ? ($one->{trusted} ? Assay::Judge::trust($result) : $result) :
				$do->(plain($result), 0);
		}
		my $is = $as eq 'text' ? \&text : \&number;
		my @sides = ($is->($v), $blessed->($other) && $other->isa('Assay::Handle') ? $is->($other) : $other);
		return $do->($swapped ? reverse @sides : @sides);
	};
}

sub content {
	my ($v, $type) = @_;
	my $found = Assay::Judge::ask('content', 'scalar', $v);
	die "Not a reference to " . lc($type) . "\n" unless ref $found eq $type;
	return $found;
}

my %numbers = ('==' => sub { $_[0] == $_[1] }, '!=' => sub { $_[0] != $_[1] }, '<' => sub { $_[0] < $_[1] },
	'>' => sub { $_[0] > $_[1] }, '<=' => sub { $_[0] <= $_[1] }, '>=' => sub { $_[0] >= $_[1] },
	'<=>' => sub { $_[0] <=> $_[1] });
my %texts = ('eq' => sub { $_[0] eq $_[1] }, 'ne' => sub { $_[0] ne $_[1] }, 'lt' => sub { $_[0] lt $_[1] },
	'gt' => sub { $_[0] gt $_[1] }, 'le' => sub { $_[0] le $_[1] }, 'ge' => sub { $_[0] ge $_[1] },
	'cmp' => sub { $_[0] cmp $_[1] });
my %reckoned = ('+' => sub { $_[0] + $_[1] }, '-' => sub { $_[0] - $_[1] }, '*' => sub { $_[0] * $_[1] },
	'/' => sub { $_[0] / $_[1] }, '%' => sub { $_[0] % $_[1] }, '**' => sub { $_[0]**$_[1] });
require overload;
overload->import(
	'""' => \&text, '0+' => \&number, 'bool' => \&truth,
	(map { ($_ => binary($_, [$_, '<=>'], 'number', $numbers{$_})) } keys %numbers),
	(map { ($_ => binary($_, [$_, 'cmp'], 'text', $texts{$_})) } keys %texts),
	(map { ($_ => binary($_, [$_], 'reckons', $reckoned{$_})) } keys %reckoned),
	'.' => binary('.', ['.'], 'text', sub { $_[0] . $_[1] }),
	'neg' => sub { return info_of($_[0])->{has}{neg} ? operate('neg', @_) : -number($_[0]) },
	'abs' => sub { return info_of($_[0])->{has}{abs} ? operate('abs', @_) : abs number($_[0]) },
	'%{}' => sub { return content($_[0], 'HASH') },
	'@{}' => sub { return content($_[0], 'ARRAY') },
	'nomethod' => sub { doubt("reckoned itself ($_[3])"); die "the operator $_[3] of an object of the program cannot be judged\n" },
);
@Assay::Object::ISA = ('Assay::Handle');

# --- its names ---

package Assay::Judge;

# A package may be the program's where nothing here, and no module, has its name.
sub is_free {
	my ($package) = @_;
	my $path = join('/', split /::/, $package) . '.pm';
	return 0 if grep { !ref $_ && -e "$_/$path" } @INC;
	no strict 'refs';
	return $package =~ /\A[A-Za-z_]\w*(?:::\w+)*\z/ && $package !~ /\A(?:Assay|CORE|UNIVERSAL|Test|ARRAY|HASH|CODE|SCALAR|GLOB|REF|LVALUE|IO|FORMAT|VSTRING|Regexp)\b/ &&
		!keys %{"${package}::"};
}

my %given_names; # by package, what gives a name to a stub in it
sub stub {
	my ($package, $name, $prototype) = @_;
	return if $NEVER{$name} || $name !~ $NAME;
	no strict 'refs';
	return if defined &{"${package}::$name"};
	my $code = sub {
		return call_for_effect($package, $name, @_) if !defined wantarray && @_ == 1 && !ref $_[0];
		return call(wantarray ? 'list' : 'scalar', $package, $name, @_);
	};
	&Scalar::Util::set_prototype($code, $prototype)
		if defined $prototype && !ref $prototype && $prototype =~ /\A[\$\@%&*\\;+_\[\]]*\z/;
	# From another package it would be there for a function of the language of that name.
	($given_names{$package} ||= eval "package $package; sub { no strict 'refs'; *{\$_[0]} = \$_[1] }")->("${package}::$name", $code);
	$named{$name} = 1;
}

sub shadows {
	my ($name) = @_;
	return 0 if $text =~ /\bTest::(?:More|Simple)\b/ || $text !~ /\b\Q$name\E\b/;
	Assay::Tally::is_unlike("the program has a function named like an assertion, $name");
	return 1;
}

sub add_names {
	my @packages = ask('names', 'list');
	my %assertions = map { ($_ => 1) } @Assay::Tally::NAMES;
	for my $one (@packages) {
		fatal('the program\'s answer cannot be read') unless ref $one eq 'ARRAY' && @$one == 3 &&
			ref $one->[1] eq 'ARRAY' && ref $one->[2] eq 'ARRAY' && defined $one->[0] && !ref $one->[0];
		$stubbed{ $one->[0] } = 1 if $one->[0] ne 'main' && is_free($one->[0]);
	}
	for my $one (@packages) {
		my ($package, $isa, $subs) = @$one;
		next unless $package eq 'main' || $stubbed{$package};
		no strict 'refs';
		if ($package ne 'main') {
			@{"${package}::ISA"} = ((grep { defined $_ && !ref $_ && $stubbed{$_} } @$isa), 'Assay::Handle');
			my $path = join('/', split /::/, $package) . '.pm';
			$INC{$path} = $solution;
		}
		for my $sub (@$subs) {
			my ($name, $prototype) = ref $sub eq 'ARRAY' ? @$sub : ();
			next if !defined $name || ref $name || ($package eq 'main' && $assertions{$name} && (shadows($name) || 1));
			stub($package, $name, $prototype);
		}
	}
}

# Whether the tests give the variable a value: then it is theirs.
sub is_assigned {
	my ($name) = @_;
	return $text =~ /\b(?:my|local|state)\b[^;]*\b$name\b/ ||
		$text =~ /[\$\@%]\{?(?:main::|::)?$name\b[^;=]*=(?![=~>])/ ||
		$text =~ /(?:\b(?:push|unshift|splice|pop|shift|chomp|chop|read|open|delete|undef|for|foreach|each)\b[^;]*)[\$\@%]\{?(?:main::|::)?$name\b/ ||
		$text =~ /(?:\+\+|--)\s*\$(?:main::|::)?$name\b|\$(?:main::|::)?$name\b(?:[\[{][^;]*?[\]}])?\s*(?:\+\+|--|=~\s*(?:s|tr|y)\b)/;
}

sub watch_variables {
	for my $found ($text =~ /([\$\@%](?:main::|::)?[A-Za-z_]\w*(?:\s*[\[\{])?)/g) {
		my ($sigil, $name, $of) = $found =~ /\A([\$\@%])(?:main::|::)?(\w+)\s*([\[\{]?)\z/ or next;
		$sigil = $of eq '[' ? '@' : '%' if $sigil eq '$' && $of;
		$watched{"$sigil$name"} = 1 unless $NEVER{$name} || is_assigned($name);
	}
	ask('watch', 'list', [sort keys %watched]) if %watched;
}

# --- what the tests may not do with what they are told ---

my @acts = (
	[qr/\beval\s*(?:\(\s*)?[\$"'q]|\beval\s*;|\bs(\W).*?\1.*?\1\w*ee/, 'the tests run text as code'],
	[qr/\b(?:system|exec|fork|qx)\b|(?<![\\\w])`/, 'the tests run commands'],
	[qr/\bopen\s*\(?\s*[^,;\/]+,\s*[^,;]+\)?\s*(?:;|or\b|\|\|)/, 'the tests open what a text names'],
	[qr/\(\?\??\{|\buse\s+re\b/, 'the tests have code in patterns'],
	[qr/\bno\s+strict\b|\bAssay::/, 'the tests use names that texts give'],
);
sub look_at_tests {
	for my $one (@acts) {
		Assay::Tally::is_unlike($one->[1]) if $text =~ $one->[0];
	}
}

sub look_back {
	Assay::Tally::doubt('the program never called what it was given') if grep { $_ } values %given;
	Assay::Tally::is_unlike('they ask nothing of the program') unless $asked;
	Assay::Doubts::ends();
}

unlink $0;
$text = slurp($tests);
unlink $tests;
if (open my $empty, '>', $solution) {
	print $empty "1;\n";	# for tests that load it
	close $empty;
}
$INC{$_} = $solution for $solution, './@SOLUTION@', '@SOLUTION@';
$SIG{PIPE} = 'IGNORE';
$| = 1;
$codec = Assay::Codec->new(side => 'j', stand => \&stand, describe => \&describe, known => \&known);
no warnings 'once';
$Assay::Tally::content_of = sub {
	my ($v) = @_;
	return undef unless $blessed->($v) && $info{ $refaddr->($v) };
	return scalar ask('content', 'scalar', $v);
};
$Assay::Doubts::is_thing = sub { return ref $_[0] && $info{ $refaddr->($_[0]) } };
$Assay::Doubts::is_trusted = sub { my $one = ref $_[0] ? $info{ $refaddr->($_[0]) } : undef; return $one && $one->{trusted} };
$Assay::Tally::settled = \&Assay::Doubts::settled;
$Assay::Tally::placed = \&Assay::Sites::placed;
$Assay::Tally::compared = \&Assay::Doubts::both;
$Assay::Tally::doubted_pattern = sub {
	my ($pattern) = @_;
	Assay::Tally::doubt('what the program said would be a pattern')
		if (ref $pattern && $info{ $refaddr->($pattern) }) || (!ref $pattern && Assay::Doubts::is_answer($pattern));
};
$Assay::Tally::ending = \&look_back;
look_at_tests();
Assay::Tally::export_to('main');
add_names();
watch_variables();
Assay::Sites::read_text($text, [keys %named]);
Assay::Tally::run_tests($text);
Assay::Tally::finish();
