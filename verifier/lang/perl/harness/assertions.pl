# Assertions, and the report of which were executed and which failed. It stands for
# Test::More: its functions are in the tests' package without being asked for. An
# assertion is one of those that compare (pass() is none), or a statement that dies
# unless something holds, which marked() makes countable.
package Assay::Tally;
use strict;
use warnings;

require Scalar::Util;
my ($report_path, $tests_path) = ('@REPORT@', '@TESTS@');
my ($count, $failed, $ran, $planned) = (0, 0, 0, undef);
my (@failures, @lines, @undecided, @pending, $unlike, $finished);
my ($blessed, $reftype, $refaddr) =
	(\&Scalar::Util::blessed, \&Scalar::Util::reftype, \&Scalar::Util::refaddr);
# Of a thing of the program: what it holds, as plain data; undef for others.
our $content_of = sub { return undef };
our $settled = sub { };		# told after each assertion its line, and of what truth it is
our $placed = sub { };		# told of each the lines of the tests that led to it
our $compared = sub { };	# told of each pair of things of the program
our $doubted_pattern = sub { };
our $ending = sub { };

# --- the report ---

sub quote {
	my ($text) = @_;
	$text = substr $text, 0, 400;
	utf8::encode($text) if utf8::is_utf8($text);
	$text =~ s/([\\"])/\\$1/g;
	$text =~ s/[\x00-\x1f\x7f]/ /g;
	$text =~ s/[\x80-\xff]+/utf8::decode(my $copy = $&) ? $& : '?'/ge;
	return "\"$text\"";
}

sub line_here {
	for (my $i = 0; my @frame = caller $i; $i++) {
		return $frame[2] if $frame[1] eq $tests_path;
	}
	return 0;
}

sub lines_here {
	my @lines;
	for (my $i = 0; my @frame = caller $i; $i++) {
		push @lines, $frame[2] if $frame[1] eq $tests_path;
	}
	return @lines;
}

sub fail_at {
	my ($line, $message) = @_;
	$failed++;
	push @failures, [$line, $message] if @failures < 100;
	print STDERR "$tests_path: line $line: failed: $message\n";
}

sub doubt {
	my ($why) = @_;
	push @pending, $why;
}

sub is_unlike {
	my ($why) = @_;
	$unlike = $why unless defined $unlike;
}

sub settle {
	my ($line) = @_;
	push @undecided, [$line, $_] for @pending[0 .. ($#pending < 4 ? $#pending : 4)];
	@pending = ();
}

sub finish {
	exit_now() if $finished++;
	$ending->();
	fail_at(0, "$planned assertions were planned and $ran were made")
		if defined $planned && $planned != $ran && !$failed;
	settle(0);
	my $list = sub { join ',', map { sprintf '{"line":%d,"%s":%s}', $_->[0], $_[0], quote($_->[1]) } @{ $_[1] } };
	my $text = sprintf '{"assertions":%d,"failed":%d,"failures":[%s],"undecided":[%s],"unlike":%s,"lines":[%s]}',
		$count, $failed, $list->('message', \@failures), $list->('why', \@undecided),
		defined $unlike ? quote($unlike) : 'null',
		join ',', map { sprintf '[%d,%s]', $_->[0], $_->[1] ? 'true' : 'false' } @lines[0 .. ($#lines < 199 ? $#lines : 199)];
	open my $report, '>', $report_path or die "$report_path: $!";
	print $report $text;
	close $report or die "$report_path: $!";
	exit_now();
}

sub exit_now {
	CORE::exit($failed ? 1 : 0);
}

# --- assertions ---

# truth: 'ok' where it is of true or false, 'is' where what is expected could be either.
sub made {
	my ($holds, $message, $truth) = @_;
	my $line = line_here();
	$placed->(lines_here());
	{
		no warnings 'once';
		return $holds if $main::TODO;
	}
	$ran++;
	$count++;
	push @lines, [$line, $holds] if $line;
	fail_at($line, $message) unless $holds;
	$settled->($line, $truth);
	settle($line);
	return $holds;
}

sub held {
	my ($line) = @_;
	$placed->(lines_here());
	$count++;
	push @lines, [$line, 1];
	$settled->($line, 'ok');
	settle($line);
}

sub say_value {
	my ($v) = @_;
	return 'undef' unless defined $v;
	return ref $v ? (ref $v) . ' reference' : "'$v'";
}

sub named { my ($name) = @_; return defined $name && "$name" ne '' ? "$name: " : '' }

# Less than two arguments: the program's function swallowed what was to be compared.
sub has_both {
	my ($args, $what) = @_;
	return 1 if @$args >= 2;
	doubt("$what has nothing to compare with");
	return 0;
}

sub ok ($;$) { my ($v, $name) = @_; return made(!!$v, named($name) . 'is not true', 'ok') }

sub truth_of { my ($v) = @_; return !defined $v || !ref $v && $v =~ /\A[01]?\z/ ? 'is' : undef }

sub is_equal {
	my ($a, $b) = @_;
	return !defined $a && !defined $b if !defined $a || !defined $b;
	return "$a" eq "$b";
}

sub is { my ($got, $want, $name) = @_;
	my $both = has_both(\@_, 'is');
	return made($both && is_equal($got, $want), named($name) . 'is ' . say_value($got) . ', should be ' . say_value($want), truth_of($want)) }
sub isnt { my ($got, $want, $name) = @_;
	my $both = has_both(\@_, 'isnt');
	return made($both && !is_equal($got, $want), named($name) . 'should not be ' . say_value($want), truth_of($want)) }

sub is_matched {
	my ($got, $pattern) = @_;
	$doubted_pattern->($pattern);
	return defined $got && "$got" =~ $pattern;
}
sub like ($$;$) { my ($got, $re, $name) = @_;
	return made(is_matched($got, $re), named($name) . say_value($got) . ' does not match') }
sub unlike ($$;$) { my ($got, $re, $name) = @_;
	return made(!is_matched($got, $re), named($name) . say_value($got) . ' matches') }

my %compare = (
	'==' => sub { $_[0] == $_[1] }, '!=' => sub { $_[0] != $_[1] }, '<' => sub { $_[0] < $_[1] },
	'<=' => sub { $_[0] <= $_[1] }, '>' => sub { $_[0] > $_[1] }, '>=' => sub { $_[0] >= $_[1] },
	'eq' => sub { $_[0] eq $_[1] }, 'ne' => sub { $_[0] ne $_[1] }, 'lt' => sub { $_[0] lt $_[1] },
	'le' => sub { $_[0] le $_[1] }, 'gt' => sub { $_[0] gt $_[1] }, 'ge' => sub { $_[0] ge $_[1] },
	'&&' => sub { $_[0] && $_[1] }, '||' => sub { $_[0] || $_[1] }, 'and' => sub { $_[0] && $_[1] },
	'or' => sub { $_[0] || $_[1] }, 'xor' => sub { $_[0] xor $_[1] },
	'=~' => sub { is_matched($_[0], $_[1]) }, '!~' => sub { !is_matched($_[0], $_[1]) },
);
sub cmp_ok ($$$;$) {
	my ($got, $op, $want, $name) = @_;
	my $do = $compare{$op} or die "cmp_ok: no operator $op\n";
	no warnings;
	return made(!!$do->($got, $want), named($name) . say_value($got) . " $op " . say_value($want) . ' does not hold',
		$op =~ /\A(?:&&|\|\||and|or|xor)\z/ ? 'ok' : truth_of($want));
}

# Where two structures part; undef: nowhere. Tied and blessed things are taken by what
# they hold.
sub differ {
	my ($a, $b, $path, $seen) = @_;
	return undef if !defined $a && !defined $b;
	return "$path is " . say_value($a) . ', should be ' . say_value($b) if !defined $a || !defined $b || !ref $a != !ref $b;
	unless (ref $a) {
		return "$a" eq "$b" ? undef : "$path is " . say_value($a) . ', should be ' . say_value($b);
	}
	my $pair = $refaddr->($a) . ' ' . $refaddr->($b);
	return undef if $refaddr->($a) == $refaddr->($b) || $seen->{$pair}++;
	my @contents = map { $content_of->($_) } $a, $b;
	$compared->() if defined $contents[0] && defined $contents[1];
	($a, $b) = ($contents[0] || $a, $contents[1] || $b);
	my ($kind, $other) = ($reftype->($a), $reftype->($b));
	return "$path is a $kind, should be a $other" if $kind ne $other;
	if ($kind eq 'ARRAY') {
		return "$path has " . @$a . ' items, should have ' . @$b if @$a != @$b;
		for my $i (0 .. $#$a) {
			my $where = differ($a->[$i], $b->[$i], "$path\[$i]", $seen);
			return $where if defined $where;
		}
		return undef;
	}
	if ($kind eq 'HASH') {
		for my $key (sort keys %$b) {
			return "$path lacks '$key'" unless exists $a->{$key};
			my $where = differ($a->{$key}, $b->{$key}, "$path\{$key}", $seen);
			return $where if defined $where;
		}
		my ($more) = grep { !exists $b->{$_} } sort keys %$a;
		return defined $more ? "$path has a '$more' too many" : undef;
	}
	return differ($$a, $$b, "\${$path}", $seen) if $kind eq 'SCALAR' || $kind eq 'REF';
	return "$a" eq "$b" ? undef : "$path is another $kind";
}

sub is_deeply {
	my ($got, $want, $name) = @_;
	my $where = has_both(\@_, 'is_deeply') ? differ($got, $want, 'it', {}) : 'nothing to compare with';
	return made(!defined $where, named($name) . ($where || ''));
}
sub eq_array { return !defined differ($_[0], $_[1], 'it', {}) }
sub eq_hash { return !defined differ($_[0], $_[1], 'it', {}) }
sub eq_set {
	my ($a, $b) = @_;
	return eq_array([sort map { "$_" } @$a], [sort map { "$_" } @$b]);
}

sub isa_ok ($;$$) {
	my ($v, $class) = @_;
	local $@;
	my $is = defined $blessed->($v) || !ref $v ? eval { $v->isa($class) } || (ref $v && $reftype->($v) eq $class) :
		$reftype->($v) eq $class;
	return made(!!$is, 'is no ' . (defined $class ? $class : 'undef'));
}
sub can_ok ($@) {
	my ($v, @names) = @_;
	local $@;
	my @missing = grep { !eval { $v->can($_) } } @names;
	return made(!@missing, "cannot @missing");
}
sub new_ok {
	my ($class, $args) = @_;
	my $v = $class->new(@{ $args || [] });
	isa_ok($v, $class);
	return $v;
}
sub pass (;$) { $ran++; return 1 }
sub fail (;$) { my ($name) = @_; return made(0, named($name) . 'fail') }
sub subtest {
	my ($name, $code, @args) = @_;
	my ($had, $plan, $before) = ($ran, $planned, $failed);
	($ran, $planned) = (0, undef);
	my $ok = eval { $code->(@args); 1 };
	fail_at(line_here(), named($name) . "died: $@") unless $ok;
	fail_at(line_here(), named($name) . "$planned assertions were planned and $ran were made")
		if defined $planned && $planned != $ran;
	($ran, $planned) = ($had + 1, $plan);
	return $failed == $before;
}
sub plan {
	my ($what, $value) = @_;
	$planned = $value if defined $what && $what eq 'tests';
	finish() if defined $what && $what eq 'skip_all';
}
sub done_testing { plan(tests => $_[0]) if defined $_[0]; return 1 }
sub skip { no warnings 'exiting'; last SKIP }
sub BAIL_OUT { fail_at(line_here(), 'bailed out: ' . (defined $_[0] ? $_[0] : '')); finish() }
sub diag { print STDERR map { defined $_ ? "# $_\n" : () } @_; return 0 }
sub note { return 0 }
sub explain { return map { ref $_ ? say_value($_) : $_ } @_ }
sub use_ok ($;@) { my ($module) = @_; return loaded($module) }
sub require_ok ($) { my ($module) = @_; return loaded($module) }
sub loaded {
	my ($module) = @_;
	my $path = $module =~ /\A[\w:]+\z/ ? join('/', split /::/, $module) . '.pm' : $module;
	my $ok = eval { require $path; 1 };
	fail_at(line_here(), "$module: $@") unless $ok;
	return pass();
}

our @NAMES = qw(ok is isnt like unlike cmp_ok is_deeply eq_array eq_hash eq_set isa_ok can_ok new_ok
	pass fail subtest plan done_testing skip BAIL_OUT diag note explain use_ok require_ok);
*todo_skip = \&skip;

sub export_to {
	my ($package) = @_;
	no strict 'refs';
	no warnings;
	*{"${package}::$_"} = \&{"Assay::Tally::$_"} for @NAMES, 'todo_skip';
	*{"${package}::TODO"} = \$main::TODO;
}
sub Test::More::import {
	my (undef, @plan) = @_;
	export_to(scalar caller);
	plan(@plan) if @plan;
}
*Test::Simple::import = \&Test::More::import;
export_to($_) for 'Test::More', 'Test::Simple';
$INC{'Test/More.pm'} = $INC{'Test/Simple.pm'} = __FILE__;

# --- the tests ---

# Statements that die unless something holds are counted as they are reached. Only where
# a statement certainly starts: after the end of another, and in no text or document. What is
# asked of the system is no assertion.
my $OUTSIDE = qr/\A\s*(?:open|opendir|close|closedir|binmode|mkdir|chdir|print|printf|seek|read|unlink|rename|require|use)\b/;
sub marked {
	my ($text) = @_;
	my ($end, $starts, $number, @out) = (undef, 1, 0);
	for my $line (split /^/m, $text) {
		$number++;
		if (defined $end) {
			undef $end if $line =~ /\A\s*\Q$end\E\r?$/ || ($end eq '=cut' && $line =~ /\A=cut\b/);
			push @out, $line;
			next;
		}
		$end = '=cut' if $line =~ /\A=[a-zA-Z]/;
		$end = $1 if !defined $end && $line =~ /<<~?["']?([A-Za-z_]\w*)["']?/;
		last_line(\@out, $text, $number), last if $line =~ /\A__(?:END|DATA)__\b/;
		if ($starts && $line =~ /\bdie\b/ && $line !~ $OUTSIDE && $line =~ /;\s*(?:#.*)?$/ &&
		    ($line =~ /\A\s*die\b.*\b(?:unless|if)\b/ ||
		     $line =~ /\A\s*[\w\$\@%(!\\"'&\[-][^;{]*(?:\bor\b|\|\|)\s*die\b/)) {
			$line =~ s/\A(\s*)(.*?;)(\s*(?:#.*)?)\z/$1$2 Assay::Tally::held($number);$3/s;
		}
		push @out, $line;
		$starts = $line =~ /[;{}]\s*(?:#.*)?$/ if $line =~ /\S/ && $line !~ /\A\s*#/;
	}
	return join '', @out;
}

sub last_line {
	my ($out, $text, $number) = @_;
	my @lines = split /^/m, $text;
	push @$out, @lines[$number - 1 .. $#lines];
}

sub run_tests {
	my ($text) = @_;
	no warnings 'once';
	*CORE::GLOBAL::exit = sub (;$) {
		my $code = $_[0] || 0;
		fail_at(line_here(), "the tests ended with exit code $code") if $code && !$failed;
		finish();
	};
	export_to('main');
	Assay::Scope::run("package main; use strict 'refs'; no warnings;\n#line 1 \"$tests_path\"\n" . marked($text));
	my $said = $@;
	return if !ref $said && $said eq '';
	my ($line) = "$said" =~ /\Q$tests_path\E line (\d+)/;
	my $shown = ref $said ? say_value($said) : $said;
	fail_at($line || 0, $shown);
}
