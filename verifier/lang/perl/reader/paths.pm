# Whether the names of files are known: which values a variable may have, from where the program
# gives it one. A value is known that is written out, begins with what is written out and a slash,
# is an argument of the command line, or was found by a pattern below a known folder; a parameter,
# when every call gives one. What is changed in any other way is not known.
package Assay::Paths;
use strict;
use warnings;
use B ();

my (%values, %spoiled, %calls, %unseen, @asked, %shifts, %passed, $args_changed, @loops);
our $in_glob; # what is known is then a pattern, which names more than it says
my $NOTHING = qr/\A(?:null|lineseq|scope|leave|leavesub)\z/;

sub kids { return Assay::Walk::kids(@_) }
sub name_of { return Assay::Walk::name_of(@_) }

# --- variables ---

sub pad_name {
	my ($cv, $ix) = @_;
	my $pad = $cv->PADLIST;
	return unless $ix && $pad->can('ARRAY');
	my $name = ($pad->ARRAY)[0]->ARRAYelt($ix);
	return $name && $name->can('PV') && defined $name->PV && $name->PV =~ /\A[\$\@]\w/ ? $name : undef;
}

# A variable of an outer sub is that sub's: one key for all who see it.
sub key_of {
	my ($cv, $ix) = @_;
	for (1 .. 100) {
		my $name = pad_name($cv, $ix) or return;
		return "$$cv:$ix" unless $name->FLAGS & 1;
		my $outer = $cv->OUTSIDE;
		($cv, $ix) = ($outer, $name->PARENT_PAD_INDEX);
		return unless ref $cv eq 'B::CV';
	}
	return;
}

sub gives {
	my ($cv, $ix, @value) = @_;
	my $key = key_of($cv, $ix) // return;
	push @{ $values{$key} }, [@value];
}

sub spoil {
	my ($cv, $ix) = @_;
	my $key = key_of($cv, $ix) // return;
	$spoiled{$key} = 1;
}

# The holder of an operand, and the operand as it hangs there: what perl took out does not count.
sub holder {
	my ($op, @above) = @_;
	shift @above while @above && $above[0]->name eq 'null' && $above[0]->targ == 0 && kids($above[0]) == 1;
	return ($above[0], @above[1 .. $#above]);
}

sub last_kid { my @k = kids($_[0]); return $k[-1] }

sub is_named {
	my ($op, $name) = @_;
	my $gv = Assay::Walk::gv_of($op);
	return $gv && $gv->NAME eq $name;
}

sub is_array_of {
	my ($op, $name) = @_;
	return 0 unless $op->name eq 'rv2av';
	my ($gv) = kids($op);
	return $gv && $gv->name eq 'gv' && is_named($gv, $name);
}

# Operations whose target is a variable that they look at, or something else altogether.
my %PLACES = map { $_ => 1 } qw(leave leavesub padsv padav padhv padany padrange introcv clonecv padcv enteriter
	multideref aelemfast_lex aelem gv gvsv gvav const nextstate dbstate null anoncode method_named
	method_super rv2cv iter foreach once argcheck);

sub see {
	my ($op, $cv, @above) = @_;
	my $name = $op->name;
	return see_variable($op, $cv, @above) if $name eq 'padsv' || $name eq 'padav';
	return see_loop($op, $cv) if $name eq 'enteriter';
	$args_changed = 1 if names_arguments($op, $cv) && changes_arguments($op, @above);
	see_shift($op, $cv, @above) if $name eq 'shift';
	return see_parameter($op, $cv) if $name eq 'argelem';
	see_element($op, $cv) if $name =~ /\A(?:aelemfast_lex|multideref)\z/ && $op->flags & B::OPf_MOD();
	see_target($op, $cv) unless $PLACES{$name};
}

# $list[0] = ..., where the list is part of the operation.
sub see_element {
	my ($op, $cv) = @_;
	return spoil($cv, $op->targ) if $op->name eq 'aelemfast_lex';
	for my $ix (grep { !ref && /\A\d+\z/ } $op->aux_list($cv)) {
		my $name = $ix < 1 << 16 && pad_name($cv, $ix);
		spoil($cv, $ix) if $name && $name->PV =~ /\A\@/;
	}
}

sub names_arguments {
	my ($op, $cv) = @_;
	return grep { ref eq 'B::GV' && $_->NAME eq '_' } $op->aux_list($cv) if $op->name eq 'multideref';
	return $op->name =~ /\A(?:gv|aelemfast)\z/ && is_named($op, '_');
}

sub changes_arguments {
	my ($op, @above) = @_;
	return $op->flags & B::OPf_MOD() ? 1 : 0 if $op->name =~ /\A(?:aelemfast|multideref)\z/;
	return 0 unless @above && $above[0]->name eq 'rv2av';
	my $holder = $above[1];
	return 0 if $holder->name =~ /\A(?:shift|scalar)\z/ || !($above[0]->flags & (B::OPf_MOD() | B::OPf_REF()));
	return 1;
}

# Many operations keep their result in a variable without an assignment of its own.
sub see_target {
	my ($op, $cv) = @_;
	return unless $op->targ && pad_name($cv, $op->targ);
	my $appends = $op->name eq 'multiconcat' ? $op->private & 0x40 : $op->flags & B::OPf_STACKED();
	return gives($cv, $op->targ, 'value', $op, $cv) if $op->name =~ /\A(?:multiconcat|concat)\z/ && !$appends;
	spoil($cv, $op->targ);
}

sub see_parameter {
	my ($op, $cv) = @_;
	my ($index) = $op->aux_list($cv);
	return spoil($cv, $op->targ) unless defined $index && !ref $index && $index =~ /\A\d+\z/;
	gives($cv, $op->targ, 'parameter', $index, $cv);
}

sub see_variable {
	my ($op, $cv, @above) = @_;
	my ($holder, @more) = holder($op, @above);
	return unless $holder;
	return gives($cv, $op->targ, 'value', (kids($holder))[0], $cv)
		if $holder->name eq 'sassign' && ${ last_kid($holder) } == $$op && $above[0] && ${ $above[0] } == $$holder;
	if ($holder->name eq 'sassign' && @more && $more[0]->name =~ /\A(?:or|dor)assign\z/) {
		return gives($cv, $op->targ, 'value', (kids($holder))[0], $cv);
	}
	return if $holder->name =~ /\A(?:or|dor)assign\z/ && given_later($holder, $op, $cv);
	return see_list($op, $cv, $above[0], $above[1]) if $above[1] && $above[1]->name eq 'aassign';
	return spoil($cv, $op->targ) if is_for_a_block(@above);
	return $passed{ key_of($cv, $op->targ) // '' } = 1 if is_argument(@above);
	return if is_loop_list(@above) || $above[0]->name =~ /\A(?:print|prtf|say|sprintf|join|die|warn)\z/;
	return unless $op->flags & B::OPf_MOD() || $op->flags & B::OPf_REF() && $op->name eq 'padav' && is_changed(@above);
	return if $op->private & 128 && $holder->name =~ $NOTHING && !is_read_into($holder); # my $x; and no more
	spoil($cv, $op->targ);
}

sub is_changed {
	my ($holder) = @_;
	return 0 unless $holder;
	return 1 if $holder->name =~ /\A(?:aelem|aslice)\z/ && $holder->flags & B::OPf_MOD();
	return $holder->name =~ /\A(?:push|unshift|splice|srefgen|refgen|null)\z/;
}

# first { ... } $x: the block has $x by the name of $_.
sub is_for_a_block {
	my ($call) = grep { $_ && $_->name eq 'entersub' } @_[0, 1];
	return 0 unless $call;
	my ($list) = kids($call);
	my @parts = $list->name eq 'null' ? kids($list) : kids($call);
	my ($gv) = grep { $_->name eq 'gv' } $parts[-1], kids($parts[-1]);
	my $code = $gv ? Assay::Walk::code_of_gv(Assay::Walk::operand_of($gv)) : undef;
	return $code && $$code && ref $code eq 'B::CV' && $code->FLAGS & B::SVf_POK() && $code->PV =~ /\A&/;
}

# $x = <$file> has no assignment left: the reader and its place lie side by side.
sub is_read_into {
	my ($holder) = @_;
	return name_of($holder) =~ /assign/ || grep { $_->name =~ /\A(?:readline|glob)\z/ } kids($holder);
}

# $x //= VALUE
sub given_later {
	my ($holder, $op, $cv) = @_;
	my ($place, $assign) = kids($holder);
	return 0 unless $assign && $assign->name eq 'sassign' && $$place == $$op;
	gives($cv, $op->targ, 'value', (kids($assign))[0], $cv);
	return 1;
}

sub is_argument { return $_[0] && grep { $_ && $_->name eq 'entersub' } @_[0, 1] }
sub is_loop_list { return $_[0] && $_[0]->name eq 'null' && $_[1] && $_[1]->name eq 'enteriter' }

# ($a, $b) = ...
sub see_list {
	my ($op, $cv, $list, $assign) = @_;
	my ($from, $to) = kids($assign);
	return unless $to && $$list == $$to;
	my @places = grep { $_->name !~ /\A(?:pushmark|padrange)\z/ && name_of($_) ne 'ex-pushmark' } kids($to);
	my @values = grep { $_->name !~ /\A(?:pushmark|padrange)\z/ && name_of($_) ne 'ex-pushmark' } kids($from);
	my ($index) = grep { ${ $places[$_] } == $$op } 0 .. $#places;
	return spoil($cv, $op->targ) unless defined $index;
	return spoil($cv, $op->targ) if grep { $_->name !~ /\A(?:padsv|undef)\z/ } @places[0 .. $index - 1];
	if ($op->name eq 'padav') {
		return spoil($cv, $op->targ) if $index;
		gives($cv, $op->targ, 'value', $_, $cv) for @values;
		return;
	}
	return spoil($cv, $op->targ) unless @values;
	return gives($cv, $op->targ, 'arguments', $values[0], $cv) if @values == 1 && is_array_of($values[0], 'ARGV');
	return gives($cv, $op->targ, 'parameter', $index + ($shifts{$$cv} // 0), $cv) if @values == 1 && is_array_of($values[0], '_');
	my $value = $values[$index];
	return spoil($cv, $op->targ) if !$value || grep { !is_single($_) } @values[0 .. $index];
	gives($cv, $op->targ, 'value', $value, $cv);
}

sub is_single {
	my ($op) = @_;
	return $op->name =~ /\A(?:const|padsv|multiconcat|concat|helem|aelem|multideref|aelemfast|aelemfast_lex|add|subtract|multiply|divide|stringify|srefgen|undef|anonhash|anonlist|length|join)\z/ ||
		name_of($op) =~ /\Aex-(?:helem|aelem|rv2sv)\z/ || $op->name eq 'null' && kids($op) == 1 && is_single(kids($op));
}

sub see_loop {
	my ($op, $cv) = @_;
	my (undef, $list, $variable) = kids($op);
	$list = (kids($op))[0] if !$list;
	my ($found) = grep { $_->name eq 'null' && kids($_) } kids($op);
	my @values = $found ? grep { $_->name !~ /\A(?:pushmark|padrange)\z/ && name_of($_) ne 'ex-pushmark' } kids($found) : ();
	if (!$op->targ || !pad_name($cv, $op->targ)) {
		spoil_all($cv, @values);
		return;
	}
	my $key = key_of($cv, $op->targ);
	for my $value (@values) {
		push @loops, $key if is_array_of($value, 'ARGV');
		gives($cv, $op->targ, 'value', $value, $cv);
		push @{ $values{$_} }, ['same', $key] for grep { defined } $value->name =~ /\Apad[as]v\z/ ? key_of($cv, $value->targ) : ();
	}
}

# for (LIST) with $_: what is in it may be changed by the name of $_.
sub spoil_all {
	my ($cv, @ops) = @_;
	while (my $op = shift @ops) {
		spoil($cv, $op->targ) if $op->name =~ /\Apad[as]v\z/;
		push @ops, kids($op);
	}
}

# `shift` at the top of a sub takes its next parameter; anywhere else nobody knows which.
sub see_shift {
	my ($op, $cv, @above) = @_;
	return if $$cv == ${ B::main_cv() };
	my ($array) = kids($op);
	return if $array && !is_array_of($array, '_');
	my @around = grep { $_->name !~ /\A(?:sassign|null|lineseq|leavesub|or|dor)\z/ } @above;
	my ($state) = grep { $_->name eq 'or' || $_->name eq 'dor' } @above;
	my $second = $state && ${ (kids($state))[0] } != $$op && !(grep { $$_ == ${ (kids($state))[0] } } @above);
	$shifts{"$$cv:spoiled"} = 1 if @around || $second;
	$shifts{"$$cv:$$op"} = $shifts{$$cv}++ // 0;
}

# --- calls ---

sub called {
	my ($sub, $passes_own, $cv, @parts) = @_;
	return $unseen{$$sub} = 1 if $passes_own;
	pop @parts;
	my @args = grep { $_->name !~ /\A(?:pushmark|padrange)\z/ && name_of($_) ne 'ex-pushmark' } @parts;
	push @{ $calls{$$sub} }, [$cv, @args];
}

sub called_unseen { $unseen{ ${ $_[0] } } = 1 }

# --- what is known ---

sub is_root { return $_[1] ? $_[0] =~ $Assay::Allow::WRITE && $_[0] !~ $Assay::Allow::OWN : $_[0] =~ $Assay::Allow::READ }

sub is_known_text {
	my ($text, $write) = @_;
	return !grep { !is_known_text($_, $write) } split ' ', $text if $in_glob && defined $text && $text =~ /\S \S/;
	return 0 if $in_glob && !is_plain_pattern($text);
	return 0 if !defined $text || $text =~ m{(?:\A|/)\.\.(?:/|\z)|\0|[*?\[\{~].*\.\.};
	return is_root($text, $write) if $text =~ m{\A/};
	return $text =~ /\A[\w.][^|<>&]*\z/ && !($write && $text =~ m{\A(?:\./+)*main\.pl\z});
}

# The beginning of a name whose rest is not known.
sub is_known_start {
	my ($text, $write) = @_;
	return 0 unless defined $text && $text =~ m{\A/(?:in|out|work|tmp)/} && $text !~ m{\.\./|/\.\.};
	return $text =~ m{\A/(?:out|tmp)/|\A/work/\w+/} if $write;
	return 1;
}

# Blanks part patterns, quotes hide what they say, and .* is .. as well.
sub is_plain_pattern {
	my ($text) = @_;
	return defined $text && $text !~ m{[\s"'\\~]|\{[^\}]*[/\{]|(?:\A|/)[^/]*\{[^/]*\.[^/]*[?*\[]|(?:\A|/)(?:\.|\{)[^/]*[*?\[\{]|(?:\A|/)\{};
}

sub is_known {
	my ($op, $cv, $write, $seen) = @_;
	local $Assay::Walk::cv = $cv;
	my $name = $op->name;
	return is_known_text(Assay::Walk::text_of($op, $cv), $write) if $name eq 'const';
	return is_known_variable(key_of($cv, $op->targ), $write, $seen) if $name =~ /\Apad[as]v\z/;
	return is_known_joined($op, $cv, $write, $seen) if $name eq 'multiconcat';
	return is_known_pair($op, $cv, $write) if $name eq 'concat';
	return is_known_shift($op, $cv, $write, $seen) if $name eq 'shift';
	return is_known_argument($op, $write) if $name eq 'aelemfast' || is_array_of($op, 'ARGV');
	return is_known_list($cv, $write, $seen, kids($op)) if $name =~ /\A(?:or|dor|stringify)\z/;
	return ($op->flags & B::OPf_WANT()) == B::OPf_WANT_LIST() && is_known_list($cv, $write, $seen, kids($op))
		if $name =~ /\A(?:sort|reverse)\z/; # a text is turned around where one is wanted
	return is_known_list($cv, $write, $seen, (kids($op))[1, 2]) if $name eq 'cond_expr';
	return is_known_list($cv, $write, $seen, kids($op)) if $name eq 'glob' && ($in_glob || is_known_glob($op, $cv, $write, $seen));
	return is_known_list($cv, $write, $seen, kids($op)) if $name eq 'null' && kids($op) && name_of($op) =~ /\Aex-(?:list|null|stringify)\z/;
	return is_known_list($cv, $write, $seen, kids($op)) if $name eq 'null' && $op->targ == 0;
	return 0;
}

sub is_known_glob {
	my ($op, $cv, $write, $seen) = @_;
	local $in_glob = 1;
	return is_known_list($cv, $write, $seen, kids($op));
}

sub is_known_list {
	my ($cv, $write, $seen, @ops) = @_;
	@ops = grep { $_->name ne 'pushmark' && name_of($_) ne 'ex-pushmark' && !($_->name eq 'gv') } @ops;
	return 0 unless @ops;
	for my $op (@ops) {
		return 0 unless is_known($op, $cv, $write, $seen);
	}
	return 1;
}

sub is_known_argument {
	my ($op, $write) = @_;
	my $is = $op->name eq 'aelemfast' ? is_named($op, 'ARGV') : 1;
	return $is && !$Assay::Walk::argv_changed;
}

sub is_known_shift {
	my ($op, $cv, $write, $seen) = @_;
	my ($array) = kids($op);
	return !$Assay::Walk::argv_changed if $array ? is_array_of($array, 'ARGV') : $$cv == ${ B::main_cv() };
	return 0 unless defined $shifts{"$$cv:$$op"};
	return is_known_parameter($cv, $shifts{"$$cv:$$op"}, $write, $seen);
}

sub is_known_parameter {
	my ($cv, $index, $write, $seen) = @_;
	return 0 if $unseen{$$cv} || $args_changed || $shifts{"$$cv:spoiled"} || !$calls{$$cv};
	return 0 if $cv->can('GV') && $cv->GV->can('NAME') && $Assay::Walk::named_methods{ $cv->GV->NAME };
	for my $call (@{ $calls{$$cv} }) {
		my ($from, @args) = @$call;
		return 0 if $index > $#args || grep { !is_single($_) } @args[0 .. $index];
		return 0 unless is_known($args[$index], $from, $write, $seen);
	}
	return 1;
}

sub is_known_variable {
	my ($key, $write, $seen) = @_;
	return 0 if !defined $key || $spoiled{$key} || !$values{$key} || $args_changed && $passed{$key};
	return 1 if $seen->{$key};
	local $seen->{$key} = 1;
	for my $value (@{ $values{$key} }) {
		my ($kind, $what, $cv) = @$value;
		my $good = $kind eq 'value' ? is_known($what, $cv, $write, $seen) :
			$kind eq 'parameter' ? is_known_parameter($cv, $what, $write, $seen) :
			$kind eq 'same' ? is_known_variable($what, $write, $seen) : !$Assay::Walk::argv_changed;
		return 0 unless $good;
	}
	return 1;
}

# "/in/$name": what is written out is told in one text and the lengths of its pieces.
sub is_known_joined {
	my ($op, $cv, $write, $seen) = @_;
	my (undef, $written, @lengths) = $op->aux_list($cv);
	return 0 unless defined $written && !ref $written && @lengths && !($op->private & 0x40);
	return 0 if $written =~ /\.\./;
	return 0 if $in_glob && !is_pattern_joined($op, $cv, $seen, $written);
	return is_known_start(substr($written, 0, $lengths[0]), $write) if $lengths[0] > 0;
	my ($first) = grep { name_of($_) !~ /\Aex-(?:pushmark|const)\z/ && $_->name ne 'pushmark' } kids($op);
	return 0 unless $first && defined $lengths[1] && $lengths[1] > 0 && $written =~ m{\A/};
	return is_known($first, $cv, 0, $seen) && (!$write || is_known_folder($first, $cv, $seen));
}

sub is_pattern_joined {
	my ($op, $cv, $seen, $written) = @_;
	for my $part (grep { name_of($_) !~ /\Aex-(?:pushmark|const)\z/ && $_->name ne 'pushmark' } kids($op)) {
		return 0 unless is_known($part, $cv, 0, $seen);
	}
	return is_plain_pattern($written);
}

sub is_known_folder {
	my ($op, $cv, $seen) = @_;
	local $Assay::Allow::WRITE = qr{\A/(?:out|tmp)(?:/|\z)};
	return is_known($op, $cv, 1, $seen);
}

sub is_known_pair {
	my ($op, $cv, $write) = @_;
	my ($left, $right) = kids($op);
	return !$in_glob && $left->name eq 'const' && is_known_start(Assay::Walk::text_of($left, $cv), $write);
}

# --- what is asked ---

sub later { push @asked, [@_] }

sub check_text {
	my ($text, $write) = @_;
	Assay::Walk::tell_fact(($write ? 'write ' : 'read ') . $text) unless is_known_text($text, $write);
}

sub check_all {
	for my $key (@loops) {
		$Assay::Walk::argv_changed ||= 1 if $spoiled{$key};
	}
	for my $ask (@asked) {
		my ($op, $cv, $write, $line, $is_pattern) = @$ask;
		local $in_glob = $is_pattern;
		next if is_known($op, $cv, $write, {});
		my $text = $op->name eq 'const' ? Assay::Walk::text_of($op, $cv) // '' : 'a path that is made up';
		Assay::Walk::tell_fact(($write ? 'write ' : 'read ') . $text, $line);
	}
}

1;
