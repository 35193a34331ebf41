# What the text of the tests tells without being run: where it holds assertions, which of them
# were never made, and which calls are about what the tests made of an answer of the program. It
# is no parser: what it does not see is not counted as unmade, and nothing here decides that an
# assertion held. Part of a run with assertions.pl before it.
package Assay::Sites;
use strict;
use warnings;

my $ASSERTS = 'ok|is|isnt|like|unlike|cmp_ok|is_deeply|isa_ok|can_ok|new_ok';
my $IS_CALL = qr/(?<![\w\$\@%>:'])(?<!\\&)(?<!sub )/;
my $NO_CALL = qr/(?![\w'])(?!\s*(?:=>|[})\],=]|->|::))/;
# Behind a block, in another line: a statement of its own.
my $NEXT = qr/\A[^\S\n]*(?:\n\s*(?!(?:or|and|xor|x|eq|ne|cmp|lt|gt|le|ge)\b)[\w\$\@%&]|\s*\z)/;
my %CLOSES = ('(' => ')', '[' => ']', '{' => '}', '<' => '>');
my ($text, $bare, @starts, @sites, @branches, @chains, %made_at, %subs);

# --- the text without what is quoted ---

# What is a value, and no quote: keys and methods, variables, numbers.
my $VALUE = qr/(?:->\s*)?\{\s*\w+\s*\}|->\s*\w+|\w+(?=\s*=>)|\$[^\w\s\{\$:]|[\$\@%&]+(?=[A-Za-z_:])[\w:]+|\$+\w*|\d[\w.]*/;
# Behind these words no slash divides.
my $OPERATOR = qr/\A(?:and|or|not|if|unless|while|until|split|grep|map|join|return|push|when|x|lt|gt|le|ge|eq|ne|cmp|(?:$ASSERTS))\z/;
my $QUOTES = qr/(?<!-)(?:q[qwr]?|m|(s|tr|y))(?=\s*[^\w\s\$,;)=])\s*/;
my $DOCUMENT = qr/<<~?(?:"([^"\n]*)"|'([^'\n]*)'|([A-Za-z_]\w*))/;
my $UNREAD = qr/(?<![^\n])=[A-Za-z].*?(?:^=cut[^\n]*(?:\n|\z)|\z)|\#[^\n]*|(?<![^\n])__(?:END|DATA)__\b.*/ms;

sub blank { my ($part) = @_; $part =~ s/[^\n]/ /g; return $part }

# Behind the quoted text that begins with the next letter; `parts` of them, as in s{}{}.
sub quoted {
	my ($from, $parts) = @_;
	my ($open, $at) = (substr($$from, pos $$from, 1), pos $$from);
	my ($close, $depth) = ($CLOSES{$open}, 0);
	for ($at++; $at < length $$from; $at++) {
		my $c = substr $$from, $at, 1;
		if ($c eq '\\') { $at++ }
		elsif (defined $close && $c eq $open) { $depth++ }
		elsif ($c eq (defined $close ? $close : $open) && $depth-- <= 0) { last }
	}
	pos($$from) = $at + (defined $close || $parts == 1 ? 1 : 0);
	pos($$from) = length $$from if pos $$from > length $$from;
	return if $parts == 1;
	$$from =~ /\G\s*/gc if defined $close;
	quoted($from, 1) if pos $$from < length $$from;
}

# The rest of the line is code, what follows it the documents that it names.
sub documents {
	my ($from, @ends) = @_;
	for my $end (@ends) {
		$$from =~ /\G.*?^[ \t]*\Q$end\E\r?(?:\n|\z)/gcms or pos($$from) = length $$from;
	}
}

# Of the same length, with blanks for strings, patterns, comments, documents and pod. is_value: 1
# behind a value, where a slash divides; 2 behind a word, which may take a document.
sub bare_text {
	my ($from) = @_;
	my ($out, $is_value, @ends) = ('', 0);
	pos($from) = 0;
	while (pos $from < length $from) {
		my $at = pos $from;
		if ($from =~ /\G\n/gc) {
			documents(\$from, splice @ends);
		} elsif ($from =~ /\G$VALUE/gc) {
			$is_value = 1;
			my $value = $&;
			$value =~ s/\A\$\W\z/\$A/;	# $] opens and closes nothing
			$out .= $value;
			next;
		} elsif ($from =~ /\G$QUOTES/gc || !$is_value && $from =~ m{\G(?=/)}gc) {
			quoted(\$from, defined $1 ? 2 : 1);
			$from =~ /\G[a-z]+/gc;
			$is_value = 1;
		} elsif ($from =~ /\G(?=["'`])/gc) {
			quoted(\$from, 1);
			$is_value = 1;
			my $inner = pos($from) - $at - 2;
			$out .= '"' . blank(substr $from, $at + 1, $inner) . '"', next if $inner >= 0;
		} elsif ($is_value != 1 && $from =~ /\G$DOCUMENT/gc) {
			push @ends, grep { defined } $1, $2, $3;
			$is_value = 1;
		} elsif ($from !~ /\G$UNREAD/gc) {
			$from =~ /\G(?:\s|[A-Za-z_]\w*(?:::\w+)*|.)/gcs;
			my $word = $&;
			$out .= $word;
			$is_value = $word =~ /\A[\])}]\z/ ? 1 : $word =~ /\A\w/ && $word !~ $OPERATOR ? 2 : 0 if $word =~ /\S/;
			next;
		}
		$out .= blank(substr $from, $at, pos($from) - $at);
	}
	return $out;
}

# --- places ---

sub line_of {
	my ($at) = @_;
	my ($low, $high) = (0, $#starts);
	while ($low < $high) {
		my $middle = int(($low + $high + 1) / 2);
		if ($starts[$middle] <= $at) { $low = $middle } else { $high = $middle - 1 }
	}
	return $low + 1;
}

# Behind the bracket that is opened here.
sub behind {
	my ($at) = @_;
	my $depth = 0;
	for (; $at < length $bare; $at++) {
		my $c = substr $bare, $at, 1;
		$depth++ if $c =~ /[(\[{]/;
		return $at + 1 if $c =~ /[)\]}]/ && --$depth <= 0;
	}
	return $at;
}

# Where the statement begins that this stands in: it passes brackets, but no block's.
sub statement_start {
	my ($at) = @_;
	my $depth = 0;
	while (--$at >= 0) {
		my $c = substr $bare, $at, 1;
		last if $depth <= 0 && $c eq ';';
		last if $depth <= 0 && $c eq '}' && substr($bare, $at + 1) =~ $NEXT;
		$depth++ if $c =~ /[)\]}]/;
		last if $c eq '{' && $depth <= 0;
		$depth-- if $c =~ /[(\[{]/;
	}
	substr($bare, $at + 1) =~ /\A\s*/;
	return $at + 1 + $+[0];
}

sub statement_end {
	my ($at) = @_;
	my $depth = 0;
	for (; $at < length $bare; $at++) {
		my $c = substr $bare, $at, 1;
		$depth++ if $c =~ /[(\[{]/;
		return $at if $c =~ /[)\]}]/ && --$depth < 0 && $c eq '}';
		return $at if $c eq '}' && $depth <= 0 && substr($bare, $at + 1) =~ $NEXT;
		return $at if $c eq ';' && $depth <= 0;
	}
	return $at;
}

# Of the block that this stands in.
sub block_end {
	my ($at) = @_;
	my $depth = 0;
	for (; $at < length $bare; $at++) {
		my $c = substr $bare, $at, 1;
		$depth++ if $c =~ /[(\[{]/;
		return $at if $c =~ /[)\]}]/ && --$depth < 0;
	}
	return $at;
}

# Where what perl says of the line of a statement may begin: the only one of a block of an if is
# told as that.
sub told_from {
	my ($at) = @_;
	my $start = statement_start($at);
	for my $chain (reverse @chains) {
		my ($if, @blocks) = @$chain;
		my ($in) = grep { $start > $_->[0] && $start < $_->[1] } @blocks or next;
		next if substr($bare, $in->[0] + 1, $start - $in->[0] - 1) =~ /\S/;
		my $end = statement_end($start);
		$start = $if if substr($bare, $end, $in->[1] - $end) =~ /\A[;}]*\s*\}?\z/;
	}
	return line_of($start);
}

# --- where assertions are, and functions are called that hold some ---

sub add_sites {
	my ($pattern, $outside) = @_;
	my @new;
	while ($bare =~ /$pattern/g) {
		my $at = $-[0];
		next if $outside && $at >= $outside->[1] && $at < $outside->[2] || grep { $_->{at} == $at } @sites;
		next if substr($text, $at) =~ /\Aok\s*\(?\s*(?:0|!\s*1|undef|""|'')\s*[,);]/;
		push @new, { at => $at, from => told_from($at), to => line_of(statement_end($at)) };
	}
	push @sites, @new;
	return @new;
}

# Named functions and those that a variable holds: [pattern of a call, from, to].
sub functions {
	my @found;
	while ($bare =~ /\bsub\s+(\w+)[^{;]*(?=\{)|\bmy\s+(\$\w+)\s*=\s*sub\b[^{;]*(?=\{)/g) {
		my ($name, $code, $from) = ($1, $2, $+[0]);
		my $call = defined $name ? qr/$IS_CALL&?\Q$name\E$NO_CALL/ :
			qr/\Q$code\E\s*->\s*\(|&(?:\{\s*)?\Q$code\E\b/;
		push @found, [$call, $from, behind($from), $name];
	}
	return @found;
}

sub find_sites {
	my @functions = functions();
	my %own = map { ($_->[3] => 1) } grep { defined $_->[3] } @functions;
	my $names = join '|', grep { !$own{$_} } split /\|/, $ASSERTS;
	my @look = $names eq '' ? () : add_sites(qr/$IS_CALL&?(?:Test::(?:More|Simple)::)?(?:$names)$NO_CALL/);
	while ($text =~ /^[ \t]*(?=\S.*Assay::Tally::held\(\d+\))/mg) {
		my $at = $+[0];
		push @look, { at => $at, from => line_of($at), to => line_of($at) };
		push @sites, $look[-1];
	}
	my %known;
	while (my $site = shift @look) {
		for my $function (grep { $site->{at} > $_->[1] && $site->{at} < $_->[2] } @functions) {
			push @look, add_sites($function->[0], $function) unless $known{ $function->[1] }++;
		}
	}
}

# Blocks of which only one runs; of an if without else that leaves, what comes after it, too.
sub find_branches {
	while ($bare =~ /\b(?:if|unless)\s*(?=\()/g) {
		my ($if, $at, @blocks) = ($-[0], behind($+[0]));
		while (substr($bare, $at) =~ /\A\s*(?:els(?:e|if)\b\s*)?(?=[({])/) {
			$at += $+[0];
			$at = behind($at), next if substr($bare, $at, 1) eq '(';
			push @blocks, [$at, behind($at)];
			$at = $blocks[-1][1];
			last if substr($bare, $at) !~ /\A\s*els(?:e|if)\b/;
		}
		next unless @blocks;
		push @chains, [$if, @blocks];
		push @blocks, [$at, block_end($at)] if @blocks == 1 &&
			substr($bare, $blocks[0][0], $at - $blocks[0][0]) =~ /\b(?:return|next|last)\b[^;{}]*;?\s*\}\z/;
		push @branches, \@blocks if @blocks > 1;
	}
	while ($bare =~ /\breturn\b[^;{}]*\b(?:if|unless)\b[^;{}]*;/g) {
		push @branches, [[$-[0], $+[0]], [$+[0], block_end($+[0])]];
	}
}

# --- which were made ---

sub placed { $made_at{$_}++ for @_ }

# Each needs an assertion of its own among those of its lines, the ones with the fewest first;
# of the sides of a choice in one statement only one.
sub made_sites {
	my (%left, %made) = %made_at;
	for my $site (sort { $a->{to} - $a->{from} <=> $b->{to} - $b->{from} || $a->{at} <=> $b->{at} } @sites) {
		my ($line) = grep { $left{$_} } reverse $site->{from} .. $site->{to};
		next unless defined $line;
		$left{$line}--;
		$made{ $site->{at} } = 1;
	}
	for my $site (grep { !$made{ $_->{at} } } @sites) {
		my $start = statement_start($site->{at});
		$made{ $site->{at} } = 1 if grep { $made{ $_->{at} } && statement_start($_->{at}) == $start &&
			is_choice($start, sort { $a <=> $b } $_->{at}, $site->{at}) } @sites;
	}
	return \%made;
}

# Whether what begins at these places are the sides of "? :".
sub is_choice {
	my ($start, $one, $other) = @_;
	return substr($bare, $start, $one - $start) =~ /\?[^:;]*\z/ && substr($bare, $one, $other - $one) =~ /(?<!:):(?!:)/;
}

# The lines of those that were not.
sub unmade {
	my $made = made_sites();
	my @left = grep { !$made->{ $_->{at} } } @sites;
	my $has = sub { my ($block) = @_; return grep { $_ >= $block->[0] && $_ < $block->[1] } keys %$made };
	for my $blocks (@branches) {
		my @ran = grep { $has->($_) } @$blocks or next;
		for my $block (grep { !$has->($_) } @$blocks) {
			@left = grep { $_->{at} < $block->[0] || $_->{at} >= $block->[1] } @left;
		}
	}
	return map { line_of($_->{at}) } @left;
}

# --- what is made of an answer ---

# The statement of a line, as it is written.
my %statements;
sub statement_at {
	my ($line) = @_;
	return '' if $line < 1 || $line > @starts;
	return $statements{$line} if defined $statements{$line};
	my $at = $starts[$line - 1];
	$at++ while $at < length $bare && substr($bare, $at, 1) =~ /\s/;
	my $start = statement_start($at);
	return $statements{$line} = substr $text, $start, statement_end($at) - $start;
}

# What the calls of a function of the tests say that it is given.
sub given_to {
	my ($function) = @_;
	my ($given, $all) = ('', $bare);
	while ($all =~ /$function->[0]/g) {
		my $at = $-[0];
		$given .= substr($text, $at, statement_end($at) - $at) . ';';
	}
	return $given;
}

# How many variables its statement has, and one for functions of the program.
sub count_of_things {
	my ($line) = @_;
	my ($statement, %found) = (statement_at($line));
	$found{$_} = 1 for $statement =~ /[\$\@%]\{?(\w+)/g;
	$found{''} = 1 if grep { $subs{$_} } $statement =~ /(?<![\w\$\@%])([A-Za-z_]\w*)/g;
	return scalar keys %found;
}

my $BINDS = qr/\b(?:my|our|local)\s*(\(?[^;=()]*\)?)\s*=(?![=~])|(?<![\w\$])([\$\@%]\w+)\s*[.+]?=(?![=~])|
	\bfor(?:each)?\s+(?:my\s+)?(\$\w+)\s*(?=\()/x;

# Variables that hold what functions other than that of this name said, or what was made of it.
my %held;
sub held_by {
	my ($name) = @_;
	return $held{$name} if $held{$name};
	my $others = join '|', map { quotemeta } grep { $_ ne $name && $_ ne 'new' } sort keys %subs;
	my ($said, %names) = ($others eq '' ? qr/(?!)/ : qr/(?<![\w\$\@%])(?:$others)\b(?!\s*=>)/);
	my @functions = functions();
	my @flows;
	while ($bare =~ /$BINDS/g) {
		my ($target, $at) = ((grep { defined } $1, $2, $3), $+[0]);
		my $end = defined $3 ? behind($at) : statement_end($at);
		my $value = substr $text, $at, $end - $at;
		$value .= join ';', map { given_to($_) } grep { $at > $_->[1] && $at < $_->[2] } @functions
			if $value =~ /\@_|\bshift\b|\$_\b/;
		push @flows, [[$target =~ /[\$\@%](\w+)/g], $value];
	}
	my $before = -1;
	while ($before < keys %names) {
		$before = keys %names;
		my $named = join '|', map { quotemeta } keys %names;
		for my $flow (@flows) {
			next unless $flow->[1] =~ $said || $named ne '' && $flow->[1] =~ /[\$\@%]\{?(?:$named)\b/;
			$names{$_} = 1 for @{ $flow->[0] };
		}
	}
	my $named = join '|', map { quotemeta } keys %names;
	return $held{$name} = $named eq '' ? $said : qr/$said|[\$\@%]\{?(?:$named)\b/;
}

# What $_ is in a call: the rest of a list, or of what is behind for.
sub topic {
	my ($statement, $after) = @_;
	my $list = $after =~ /\A((?:[^()\[\]]|\((?:[^()]|\([^()]*\))*\)|\[[^\[\]]*\])*)/ ? $1 : '';
	return $list . ($statement =~ /\bfor(?:each)?\b(.*)/s ? $1 : '');
}

# Of the calls of that name in a line's statement: whether one is given what was made of another
# one's answer, whether one is not, and whether what one says is taken for true or false.
my %looked_at;
sub look_at_call {
	my ($name, $line) = @_;
	return @{ $looked_at{"$name $line"} } if $looked_at{"$name $line"};
	my $statement = statement_at($line);
	my ($is_made, $is_own, $is_truth) = (0, 0, 0);
	while ($statement =~ /(?<![\w\$\@%])\Q$name\E\b\s*(\((?:[^()]|(?1))*\))?/g) {
		my ($args, $after) = (defined $1 ? $1 : substr($statement, $+[0]), substr $statement, $+[0]);
		$is_truth = 1 if !defined $1 || $after =~ /\A\s*(?:(?:[=!]=|eq\b|ne\b)\s*["']?[01]?["']?\s*)?(?:[,);?}]|&&|\|\||and\b|or\b|xor\b|\z)/;
		$args .= topic($statement, $after) if $args =~ /\$_\b/;
		if ($args =~ held_by($name)) { $is_made = 1 } else { $is_own = 1 }
	}
	$looked_at{"$name $line"} = [$is_made, $is_own, $is_truth];
	return ($is_made, $is_own, $is_truth);
}

# names: of the program's functions and methods.
sub read_text {
	(my $tests, %subs) = ($_[0], map { ($_ => 1) } @{ $_[1] });
	$text = Assay::Tally::marked($tests);
	$bare = bare_text($text);
	@starts = (0);
	push @starts, $+[0] while $text =~ /\n/g;
	find_branches();
	find_sites();
}
