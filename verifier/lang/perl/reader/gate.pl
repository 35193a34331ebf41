# Reads a Perl program in the sandbox, without running it: is all of it on the list? Facts out.
# Only perl can parse Perl, and it runs code while it does: what stands in BEGIN, in the arguments
# of use, in attributes, and what a redefined import does. So the text is looked at first: a program
# that may run anything while it is compiled is not compiled, and told as "no tree". No string is
# told from code here: what would be code in a string is refused as well.
# Then perl compiles it, with the modules it names loaded beforehand, no others to be found, and only
# the operations of allow.pm; walk.pm looks at what came of it.
use strict;
use warnings;

my ($HERE) = $0 =~ m{\A(.*)/[^/]+\z}s;
$HERE = '.' unless defined $HERE;
require "$HERE/allow.pm";

my $ANSWER_MAX = 1 << 20;
my $MEMORY_KIB = 256 << 10;
my $NAME = qr/[A-Za-z_](?:\w|::|'(?=[A-Za-z_]))*/;
my $GAP = qr/(?:\s|\#[^\n]*(?:\n|\z)|(?<=\n)=[A-Za-z].*?(?:\n=cut[^\n]*(?:\n|\z)|\z))/s;

# --- what stands behind use ---

my $BARE = qr/[\w\s:!\$\@%&*.+-]/; # of what can be in a list of words, nothing else than words
my $WORD = qr/'[^'\\\n]*'|"[^"\\\$\@\n]*"|-?[A-Za-z_]\w*(?=\s*=>)|-?\d[\d_.]*(?:e[-+]?\d+)?/;
my $LIST = qr/\(?\s*(?:-norequire\s*,\s*)?(?:(?:$WORD|qw\s*(?:\($BARE*\)|\[$BARE*\]|\/$BARE*\/|\{$BARE*\}|<$BARE*>))\s*+(?:(?:,|=>)\s*+)?)*+\)?/;
my $MATH = qr/\s|[-+*\/%,().]|\d[\d_.]*(?:e[-+]?\d+)?|\b(?:atan2|sqrt|exp|log|abs|int|sin|cos)\b|'[^'\\\n]*'|"[^"\\\$\@\n]*"|\bqw\s*\($BARE*\)|[\[\]]|=>|[A-Za-z_]\w*(?=\s*=>)/;
# Code whose end is where its braces say: no quotes but plain ones, no patterns, no comments.
my $PLAIN = qr/(?<block>\{(?:[^{}"'`\/\#\\<]|(?<![\$\@%&])"[^"\\{}\n]*"|(?<![\$\@%&\w])'[^'\\{}\n]*'|<(?!<)|(?&block))*+\})/;
my $QUOTES = qr/\b(?:q[qwxr]?|m|s|y|tr|BEGIN|use|no)\b/;

my $flat_ampersands; # without its backslash, \&name is read as &name

# The lines of a document stand between a word and the next: behind one, nobody knows what follows.
my $DOCUMENT = qr/<<(?:[~\\A-Za-z_\x80-\xff]|\s*["'`])/;
my $EARLY = qr/(?:BEGIN|UNITCHECK|CHECK|INIT)(?:$GAP*+[{(:]|[ \t\r]*(?:[\n#]|\z))/;
# q XtextX: a letter may be a quote, and then the word behind it has no beginning.
my $LETTERS = qr/(?<!\w)(?:q[qwrx]?|m|s|y|tr)\s+\w/;

my %grammar = (
	constant => sub { $_[0] =~ /\A\s*\{(?:$MATH)*+\}\s*\z/ || $_[0] =~ /\A(?:$MATH)*+\z/ },
	overload => \&is_overload,
	open => sub { $_[0] =~ /\A(?:[\s:,'"()]|=>|qw\b|std\b|utf8\b|IN\b|OUT\b|IO\b|encoding\(\s*utf-?8\s*\))*\z/i },
	feature => sub { $_[0] =~ /\A$LIST\s*\z/ },
	map { $_ => sub { $_[0] =~ /\A\s*\z/ } } qw(Math::BigInt Math::BigFloat Math::BigRat));

sub is_overload {
	my ($args) = @_;
	while ($args =~ /\bsub\s*$PLAIN/g) {
		(my $block = $+{block}) =~ s/(?:\]|->|\$\w+)\K\{\w+\}/{_}/g;
		return 0 if $block =~ $QUOTES;
	}
	$args =~ s/\bsub\s*$PLAIN/1/g;
	$args =~ s/\\&\w+/1/g;
	$args =~ s/(?<![\w&])&\w+/1/g if $flat_ampersands;
	return $args =~ /\A$LIST\s*\z/;
}

# Where the statement that begins before `rest` ends: a semicolon that is in no braces.
sub arguments {
	my ($rest) = @_;
	return $rest =~ /\A((?:[^;{}]|$PLAIN)*+);/ ? $1 : undef;
}

sub is_plain_use {
	my ($module, $rest) = @_;
	my $args = arguments($rest);
	return 0 unless defined $args;
	$args =~ s/\A\s*v?\d[\d._]*(?=\s|\z)//;
	my $judge = $grammar{$module} || sub { $_[0] =~ /\A\s*$LIST\s*\z/ };
	return $judge->($args);
}

# The modules of the list that stand behind use somewhere; a reason instead of what cannot be.
sub check_uses {
	my ($text, $left, $document) = @_;
	while ($text =~ /$left(?:use|no)\b($GAP*+)($NAME)/g) {
		my ($gap, $module, $at) = ($1, $2, $-[0]);
		$module =~ s/'/::/g;
		return 'use' if $gap =~ /\n/ && $at > $document;
		next unless $Assay::Allow::FUNCTIONS{$module};
		return "use $module" unless $gap =~ /\A[ \t]+\z/ && $at <= $document &&
			is_plain_use($module, substr $text, pos $text);
	}
	return;
}

# --- what else runs while perl compiles ---

sub check_text {
	my ($text) = @_;
	my $left = $text =~ $LETTERS ? '' : '\b';
	my $document = $text =~ $DOCUMENT ? $-[0] : length $text;
	return 'BEGIN' if $text =~ $EARLY;
	return $& if $text =~ /(?:CORE|UNIVERSAL)\s*(?:::|')|(?:MODIFY|FETCH)_\w+_ATTRIBUTES/;
	return 'code in a pattern' if $text =~ /\(\s*(?:\?\??p?|\*)\{/;
	return 'another interpreter' if $text =~ /\A#!/ &&
		$text !~ /\A#![^\n]*\bperl5?[ \t]*(?:-[wW]+[ \t]*)?\r?(?:\n|\z)/;
	while ($text =~ /$left(sub|package)\b($GAP*+)((?:::|')?$NAME(?:::)?)/g) {
		my ($what, $gap, $name, $at) = ($1, $2, $3, $-[3]);
		return "$what $name" if $gap =~ /\n/ && $at > $document;
		$name =~ s/'/::/g;
		next if $name !~ /::/ && ($what eq 'sub' || !is_taken($name));
		return "$what $name" if $what eq 'sub' || $name =~ /\A(?:::|main::)/ || is_taken($name);
	}
	return check_uses($text, $left, $document);
}

# Packages that are somebody's: the interpreter's and those of the list.
sub is_taken {
	my ($name) = @_;
	return 0 if $name eq 'main';
	return 1 if $name =~ /(?:\A|::)main(?:::|\z)/;
	for my $taken (keys %Assay::Allow::FUNCTIONS, qw(B O CORE UNIVERSAL walk Opcode Exporter XSLoader DynaLoader Internals
		PerlIO File::Glob Assay IO attributes re mro version ops warnings::register Test Config Errno)) {
		return 1 if $name eq $taken || $name =~ /\A\Q$taken\E::/;
	}
	return 0;
}

# A backslash that another delimiter needs is no part of the code: both readings are looked at.
sub reason {
	my ($text) = @_;
	(my $flat = $text) =~ tr/\\//d;
	my $found = check_text($text);
	return $found if defined $found;
	$flat_ampersands = $text !~ /(?:q[qrx]?|m|s)\s*&/;
	$found = check_text($flat);
	$flat_ampersands = 0;
	return $found;
}

# --- the compiler ---

sub wanted {
	my ($text) = @_;
	(my $named = $text) =~ s/'/::/g;
	return grep { my $m = $_; $text =~ /\b\Q$m\E\b/ || $named =~ /\b\Q$m\E\b/ }
		sort keys %Assay::Allow::FUNCTIONS;
}

# What stands behind use and is not on the list: perl computes its arguments where it is loaded.
sub unlisted {
	my ($text) = @_;
	(my $flat = $text) =~ tr/\\//d;
	my %found;
	for my $reading ($text, $flat) {
		while ($reading =~ /(?:use|no)$GAP*+($NAME)/g) {
			(my $module = $1) =~ s/'/::/g;
			$found{$module} = 1 unless $Assay::Allow::FUNCTIONS{$module};
		}
	}
	return keys %found;
}

sub compile {
	my ($text) = @_;
	my $program = "$HERE/screened.pl";
	open my $out, '>:raw', $program or return (undef, "cannot write: $!");
	print $out $text;
	close $out or return (undef, "cannot write: $!");
	local $ENV{ASSAY_MODULES} = join ' ', wanted($text);
	local $ENV{ASSAY_UNLISTED} = join ' ', unlisted($text);
	local $ENV{ASSAY_PROGRAM} = $program;
	my $said = "$HERE/screened.said";
	my $pid = open my $from, '-|';
	return (undef, "cannot fork: $!") unless defined $pid;
	if (!$pid) {
		open STDIN, '<', '/dev/null';
		open STDERR, '>', $said;
		# perl works out "a" x 1e10 while it compiles.
		exec '/bin/sh', '-c', "ulimit -v $MEMORY_KIB && exec \"\$@\"", 'sh', $^X, '-c', "-I$HERE",
			'-Mwalk', $program;
		CORE::exit(127);
	}
	my ($facts, $errors) = ('', '');
	read $from, $facts, $ANSWER_MAX;
	close $from;
	my $status = $?;
	if (open my $in, '<:raw', $said) { read $in, $errors, 1 << 16 }
	unlink $program, $said;
	return ($status == 0 ? $facts : undef, $errors);
}

# --- the answer ---

sub quote {
	my ($s) = @_;
	$s =~ s/[^\x20-\x7e]/?/g;
	$s =~ s/(["\\])/\\$1/g;
	return '"' . substr($s, 0, 300) . '"';
}

sub answer {
	my (@facts) = @_;
	return sprintf '{"facts":[%s],"syntax_error":null,"failed":null}',
		join ',', map { sprintf '[%s,%d,1]', quote($_->[0]), $_->[1] || 1 } @facts;
}

sub line_of { return $_[0] =~ /\bline (\d+)/ ? $1 : 1 }

# What perl says of a program that it does not compile. An error of the program's own is the
# interpreter's to tell when it runs: here it is only not proven.
sub told {
	my ($errors) = @_;
	return ["op $1", line_of($errors)] if $errors =~ /'([^'\n]+)' trapped by operation mask/;
	if ($errors =~ /Can't locate (\S+?)(?:\.p[ml])? in \@INC/) {
		(my $module = $1) =~ s{/}{::}g;
		return ["no tree: use $module", line_of($errors)];
	}
	my ($first) = $errors =~ /\A([^\n]*)/;
	return ["no tree: $first", line_of($errors)];
}

sub facts_of {
	my ($text) = @_;
	my $why = reason($text);
	return answer(["no tree: $why", 1]) if defined $why;
	my ($facts, $errors) = compile($text);
	return answer(told($errors)) unless defined $facts && $facts =~ s/\Adone\n//m;
	my @facts = map { [/\A(\d+) (.*)\z/ ? ($2, $1) : ('no tree: garbage', 1)] } split /\n/, $facts;
	return answer(@facts ? @facts : ['proven', 1]);
}

sub main {
	binmode STDIN;
	local $/;
	my $text = <STDIN>;
	print facts_of(defined $text ? $text : ''), "\n";
}

main();
