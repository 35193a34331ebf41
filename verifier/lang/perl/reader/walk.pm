# Looks at a program that perl has compiled and does not run: every operation with its operands, in
# the main program and in every sub that it defined. Loaded before the program is read; prints
# `done` and a fact for each thing that is not known to be harmless, when all of it has been seen.
package Assay::Walk;
use strict;
use warnings;
use B ();
use Opcode ();
require "allow.pm";
require "ops.pm";
require "paths.pm";

my (%before, %loaded, %methods_of, @facts, %told, $line, %mine, %my_names, @glob_subs);
our (%subs, %named_methods, $argv_magic, $argv_changed, $args_aliased);

sub tell_fact {
	my ($fact, $at) = @_;
	$fact =~ s/[^\x20-\x7e]/?/g;
	$at ||= $line || 1;
	push @facts, "$at $fact" unless $told{"$at $fact"}++ || @facts > 500;
}

# --- what there is before the program ---

sub each_sub {
	my ($do, $package, $seen) = @_;
	no strict 'refs';
	return if $seen->{ \%{"${package}::"} }++;
	for my $key (keys %{"${package}::"}) {
		if ($key =~ /\A(.+)::\z/s) {
			next if $key eq 'main::' && $package eq 'main';
			each_sub($do, $package eq 'main' ? $1 : "${package}::$1", $seen);
			next;
		}
		my $code = exists &{"${package}::$key"} ? \&{"${package}::$key"} : undef;
		$do->($package, $key, $code) if $code;
	}
}

sub is_ours { return $_[0] =~ /\A(?:B|O|Opcode|Assay)(?:::|\z)/ }

sub look_before {
	each_sub(sub {
		my ($package, $name, $code) = @_;
		$before{$$_}++ for B::svref_2object($code);
		$loaded{$package}{$name} = 1 unless is_ours($package);
	}, 'main', {});
}

# --- names ---

sub is_function {
	my ($package, $name) = @_;
	my $has = $Assay::Allow::FUNCTIONS{$package} or return 0;
	return $has->{'*'} || $has->{$name} || 0;
}

# A sub of a module, however it is called here; the program's own are walked themselves.
sub check_code {
	my ($cv, $as) = @_;
	return tell_fact("call $as") unless ref $cv eq 'B::CV';
	return if $mine{$$cv};
	return tell_fact("call $as") unless $before{$$cv};
	my $gv = $cv->GV;
	return if $cv->CvFLAGS & B::CVf_CONST();
	return tell_fact("call $as") unless $gv->can('NAME');
	my ($package, $name) = ($gv->STASH->NAME, $gv->NAME);
	my $known = is_function($package, $name) || is_alias($cv);
	tell_fact("call ${package}::$name") unless $known;
}

# What a module has from another, under the name that the list has it.
sub is_alias {
	my ($cv) = @_;
	for my $package (keys %Assay::Allow::FUNCTIONS) {
		for my $name (keys %{ $Assay::Allow::FUNCTIONS{$package} }) {
			no strict 'refs';
			next unless $loaded{$package}{$name} && exists &{"${package}::$name"};
			return 1 if ${ B::svref_2object(\&{"${package}::$name"}) } == $$cv;
		}
	}
	return 0;
}

sub method_set {
	my %all;
	for my $class (keys %Assay::Allow::METHODS) {
		$all{$_} = 1 for @{ $Assay::Allow::METHODS{$class} };
	}
	$all{$_} = 1 for @Assay::Allow::UNIVERSAL;
	return \%all;
}

# A class may be a text that is made up: so a name is looked for in every package that is there.
my $PROCESSES = qr/\A(?:fork|system|exec\w*|kill|raise|abort|pause|_?exit|dup2?|sig\w+|set\w+|nice|pipe|tc\w+|ch\w+)\z/;

# CORE is a class too: its methods are perl's own functions, with the class as the first argument.
my $CORE = qr/\A(?:open|opendir|sysopen|socket|socketpair|pipe|rename|link|symlink|unlink|utime|chmod|chown|chroot|chdir|mkfifo|lchown|readpipe|require|syscall|dbmopen)\z/;
my $EXPORTS = qr/\A(?:import|unimport|export\w*|require_version|heavy_\w+|_push_tags)\z/;

sub is_safe_method {
	my ($name) = @_;
	our $known ||= method_set();
	return 0 unless $my_names{$name} || $known->{$name};
	return 0 if $name =~ $CORE || $name =~ $EXPORTS;
	return 0 if $name =~ /\A(?:open|fdopen|new_from_fd|new_tmpfile|import|unimport|VERSION|can)\z/ && !$my_names{$name};
	return 0 if has_handles() && $name =~ /\A(?:new|open|fdopen|new_from_fd|new_tmpfile)\z/;
	for my $package (keys %loaded) {
		next unless $loaded{$package}{$name};
		next if $package eq 'POSIX' && $name !~ $PROCESSES; # it would be given its own name
		my $class = $Assay::Allow::METHODS{$package} || [];
		return 0 unless is_function($package, $name) || (grep { $_ eq $name } @$class) ||
			is_harmless_package($package);
	}
	return 1;
}

# What they have is operators and parts of numbers, dates and texts.
sub is_harmless_package {
	return $_[0] =~ /\A(?:main|UNIVERSAL|Encode(?:::.*)?|constant|strict|warnings|overload|overloading|utf8|integer|Math::.*|JSON::PP::(?:Boolean|IncrParser)|Time::.*|Scalar::Util|List::Util|Text::.*|version(?:::.*)?)\z/;
}

# IO::File comes by itself where a handle has a method called.
sub has_handles { return $loaded{'IO::File'} || grep { $named_methods{$_} } @{ $Assay::Allow::METHODS{'IO::Handle'} } }

# --- operations ---

# Variables that perl or a module acts on.
my %RISKY = map { $_ => 1 } qw(INC ENV SIG ISA ARGV ARGVOUT EXPORT EXPORT_OK EXPORT_TAGS AUTOLOAD 0);

sub check_variable {
	my ($gv, $op, @above) = @_;
	my $full = full_name($gv);
	my ($package, $name) = $full =~ /\A(.*)::(.*)\z/s;
	return unless defined $package;
	return tell_fact("variable $name") if $name =~ /::|\A[\x04\x08\x09\x0f\x10]|\A_</;
	return check_argv($op, @above) if $name eq 'ARGV';
	return check_isa($op, @above) if $name eq 'ISA';
	return if $name eq 'SIG' || $name eq '0' || $name eq 'AUTOLOAD' || $name eq 'ENV' || $name =~ /\AEXPORT/;
	return tell_fact("variable $name") if $RISKY{$name};
	return if $package eq 'main' || !$loaded{$package} || $Assay::Allow::VARIABLES{$full};
	return if is_function($package, $name) && $above[0] && $above[0]->name =~ /\A(?:null|rv2cv|entersub)\z/;
	tell_fact("variable $full");
}

# <> opens what @ARGV names with whatever it says: a program that has both is refused.
sub check_argv {
	my ($op, @above) = @_;
	my $parent = above_name(0, @above);
	return $argv_magic = 1 if $parent =~ /\A(?:readline|eof)\z/;
	return if $op->name eq 'aelemfast' && !($op->flags & B::OPf_MOD());
	if ($parent eq 'rv2av') {
		my $holder = above_name(1, @above);
		return if $holder eq 'shift' || $holder eq 'pop';
		return if !($above[0]->flags & (B::OPf_MOD() | B::OPf_REF())) || $holder =~ /\A(?:scalar|join|aelem|rv2av)\z/;
		return if $holder eq 'aelem' && !($above[1]->flags & B::OPf_MOD());
	}
	$argv_changed = $line;
}

# A class of its own may have those of its own above it, by names that are written out.
sub check_isa {
	my ($op, @above) = @_;
	my ($assign) = grep { $_->name eq 'aassign' || $_->name eq 'push' } grep { defined } @above[1 .. 3];
	return tell_fact('variable @ISA') unless $assign;
	for my $kid (map { $_->name eq 'null' ? kids($_) : $_ } kids($assign)) {
		next if $kid->name =~ /\A(?:pushmark|rv2av|padrange)\z/ || $kid->name eq 'null' && !kids($kid);
		return tell_fact('variable @ISA') unless $kid->name eq 'const';
		my $parent = text_of($kid, $Assay::Walk::cv);
		tell_fact("class $parent") unless defined $parent && is_class($parent);
	}
}

sub is_class { my $name = shift; return $Assay::Walk::packages{$name} || $name eq 'Exporter' }

# A name at run time may be any: only strict refs makes it none.
sub check_symbolic {
	my ($op, $cv) = @_;
	my ($kid) = kids($op);
	return if !$kid || $kid->name =~ /\A(?:gv|gvsv)\z/ || ($op->private & 2);
	($kid) = kids($kid) while $kid && $kid->name eq 'null' && kids($kid) == 1;
	return if $kid && $kid->name =~ /\A(?:anonlist|anonhash|refgen|srefgen|anoncode|scope|leave|gv)\z/;
	tell_fact('symbolic') unless $kid && $kid->name eq 'const' && is_list(value_of($kid, $cv));
}

sub check_call {
	my ($op, $cv) = @_;
	my ($list) = kids($op);
	my @parts = $list->name eq 'null' ? kids($list) : kids($op);
	my $last = $parts[-1];
	return check_method($op, $cv, $last, @parts) if $last->name =~ /\Amethod/;
	my ($code) = $last->name eq 'null' || $last->name eq 'rv2cv' ? kids($last) : $last;
	return tell_fact('symbolic call') unless $code;
	return check_named_call($op, $code, @parts) if $code->name eq 'gv';
	tell_fact('symbolic call') unless $last->private & 2 && $op->private & 2;
}

sub code_of_gv {
	my ($gv) = @_;
	return $gv->RV if ref $gv ne 'B::GV' && $gv->can('RV');
	return $gv->CV if $gv->can('CV');
	return;
}

sub check_named_call {
	my ($op, $code, @parts) = @_;
	my $gv = operand_of($code);
	my $called = code_of_gv($gv);
	return tell_fact('call of what is not there') unless $called && $$called && ref $called eq 'B::CV';
	check_code($called, 'a name');
	tell_fact('call without its prototype')
		if $before{$$called} && $op->private & 8 && $called->FLAGS & B::SVf_POK();
	Assay::Paths::called($called, $op->private & 8 && !($op->flags & B::OPf_STACKED()), $Assay::Walk::cv, @parts);
}

sub check_method {
	my ($op, $cv, $method, @parts) = @_;
	return tell_fact('method of a name that is made up') if $method->name !~ /\Amethod_(?:named|super)\z/;
	my $sv = $method->meth_sv;
	$sv = (($cv->PADLIST->ARRAY)[1]->ARRAY)[$method->targ] if ref $sv eq 'B::SPECIAL';
	my $name = ${ $sv->object_2svref };
	return tell_fact("method $name") if $name =~ $EXPORTS;
	tell_fact('sort by a sub that is not named') if $name eq 'sort_by' && !is_sub((grep { $_->name ne 'pushmark' } @parts)[1]);
	return if $method->name eq 'method_super' && $my_names{$name};
	my ($invocant) = grep { $_->name ne 'pushmark' } @parts;
	if ($invocant->name eq 'const' && $invocant->private & 64) {
		return check_class_method(text_of($invocant, $cv), $name, $op, $cv, @parts);
	}
	return check_can($cv, @parts) if $name eq 'can';
	tell_fact("method $name") unless is_safe_method($name);
}

sub check_class_method {
	my ($class, $name, $op, $cv, @parts) = @_;
	return check_can($cv, @parts) if $name eq 'can';
	return if grep { $_ eq $class } @Assay::Allow::HANDLES and
		grep { $_ eq $name } @{ $Assay::Allow::METHODS{'IO::Handle'} };
	return if grep { $_ eq $name } @{ $Assay::Allow::METHODS{$class} || [] };
	return if $Assay::Walk::packages{$class} &&
		($my_names{$name} || is_safe_method($name));
	tell_fact("method $class->$name");
}

sub check_can {
	my ($cv, @parts) = @_;
	my ($asked) = (grep { $_->name ne 'pushmark' } @parts)[1];
	my $name = $asked && $asked->name eq 'const' ? text_of($asked, $cv) : undef;
	tell_fact('can') unless defined $name && $my_names{$name} && is_safe_method($name);
	$named_methods{$name} = 1 if defined $name;
}

sub check_assign {
	my ($op) = @_;
	my ($from, $to) = kids($op);
	return unless $to && $from;
	($to, $from) = ($from, $to) if $op->name ne 'sassign';
	my $names = join ' ', map { $_->name } $to, kids($to);
	return check_glob($from, $to) if $to->name eq 'rv2gv';
	return if !is_handler($to);
	tell_fact('a handler that is no sub') unless is_sub($from) ||
		$from->name eq 'const' && (text_of($from, $Assay::Walk::cv) // '') =~ /\A(?:IGNORE|DEFAULT)?\z/;
}

sub is_sub {
	my ($op) = @_;
	return 0 unless $op && $op->name =~ /\A(?:srefgen|refgen|anoncode)\z/;
	return 1 if $op->name eq 'anoncode';
	my @found = $op;
	while (my $at = shift @found) {
		return 1 if $at->name =~ /\A(?:anoncode|rv2cv)\z/;
		push @found, kids($at);
	}
	return 0;
}

sub check_glob {
	my ($from, $to) = @_;
	my ($name) = kids($to);
	my $gv = $name && $name->name eq 'gv' ? gv_of($name) : undef;
	my $package = $gv ? $gv->STASH->NAME : '';
	tell_fact('a name that is given to another') unless is_sub($from) && $gv && $Assay::Walk::packages{$package};
}

# $SIG{...}, as a place to assign to.
sub is_handler {
	my ($op) = @_;
	my @look = $op;
	while (my $at = shift @look) {
		return 1 if $at->name eq 'multideref' && grep { ref eq 'B::GV' && $_->NAME eq 'SIG' } $at->aux_list($Assay::Walk::cv);
		return 1 if $at->name =~ /\Agv(?:sv)?\z/ && gv_of($at) && gv_of($at)->NAME eq 'SIG';
		push @look, kids($at);
	}
	return 0;
}

# %SIG but as $SIG{...} = ...: a whole of it is assigned, or a reference of it goes somewhere.
sub check_signals {
	my ($gv, $op, @above) = @_;
	return unless $gv->NAME eq 'SIG';
	my $at = $op;
	while ($at->name !~ /\A(?:multideref|helem)\z/) {
		$at = shift @above;
		return tell_fact('variable %SIG') unless $at && $at->name =~ /\A(?:rv2hv|helem|null)\z/;
	}
	shift @above while @above && $above[0]->name eq 'null' && kids($above[0]) == 1;
	my ($holder, $outer) = @above;
	return if !$holder || $holder->name =~ /\A(?:delete|exists|defined|ref|lineseq|leave|leavesub|scope)\z/;
	return if $holder->name eq 'sassign' && (${ (kids($holder))[0] } == $$at || is_statement($holder, $outer));
	tell_fact('variable %SIG');
}

# An assignment whose place nobody takes any further.
my %WRITES = map { $_ => 1 } qw(unlink rename mkdir rmdir);
my %READS = map { $_ => 1 } qw(open_dir stat lstat ftrread ftrwrite ftrexec fteread ftewrite fteexec ftis
	ftsize ftmtime ftatime ftctime ftzero ftfile ftdir fttext ftbinary);

sub check_open {
	my ($op, $cv) = @_;
	my ($handle, $mode, $path, @more) = operands($op);
	my $how = $mode && $mode->name eq 'const' ? text_of($mode, $cv) : undef;
	return tell_fact('open with a mode that is made up') unless defined $how;
	return tell_fact('open of a command') if @more;
	if (!$path) {
		return tell_fact('open of a command') unless $how =~ /\A\s*(\+?[<>]|>>|\+>>)?\s*([^\s|&<>-][^|&<>]*?)\s*\z/;
		return Assay::Paths::check_text($2, ($1 // '<') !~ /\A<\z/);
	}
	return tell_fact("open with the mode $how")
		unless $how =~ /\A\s*(\+?[<>]|\+?>>)\s*(?::(?:utf8|raw|bytes|crlf|encoding\((?:utf-?8|ascii|(?:iso-8859-\d+)|latin-?1|cp125\d|UTF-16(?:LE|BE)?)\)))*\s*\z/i;
	return if $path->name eq 'srefgen' || $path->name eq 'undef';
	Assay::Paths::later($path, $cv, $1 ne '<', $line);
}

sub check_layer {
	my ($op, $cv) = @_;
	my (undef, $layer) = operands($op);
	my $how = !$layer ? '' : $layer->name eq 'const' ? text_of($layer, $cv) : 'made up';
	tell_fact("open with the mode $how")
		unless $how =~ /\A\s*(?::(?:utf8|raw|bytes|crlf|unix|encoding\((?:utf-?8|ascii|(?:iso-8859-\d+)|latin-?1)\)))*\s*\z/i;
}

sub check_template {
	my ($op, $cv) = @_;
	my ($template) = operands($op);
	my $how = $template && $template->name eq 'const' ? text_of($template, $cv) : 'p';
	tell_fact('pack of addresses') if !defined $how || $how =~ /p/i;
}

sub check_require {
	my ($op, $cv) = @_;
	my ($what) = kids($op);
	my $name = $what && $what->name eq 'const' ? text_of($what, $cv) : undef;
	return if defined $name && $name =~ /\Av?[\d._]+\z/ || ref \($name // 1) eq 'VSTRING';
	if (defined $name) {
		$name =~ s{/}{::}g;
		$name =~ s/\.pm\z//;
		return if $Assay::Allow::FUNCTIONS{$name};
	}
	tell_fact('use ' . (defined $name ? $name : 'of a name that is made up'));
}

# sort by a text calls the sub of its name.
sub check_sort {
	my ($op) = @_;
	return unless $op->flags & B::OPf_STACKED();
	my ($by) = operands($op);
	return if $op->flags & B::OPf_SPECIAL();
	my ($inner) = $by && $by->name eq 'null' ? kids($by) : ();
	return if $inner && $inner->name =~ /\A(?:gv|const|anoncode|scope|leave|null|lineseq)\z/ && $inner->name ne 'const';
	return if $by && $by->name eq 'const' && is_own_sub(text_of($by, $Assay::Walk::cv));
	return if $inner && $inner->name eq 'const' && is_own_sub(text_of($inner, $Assay::Walk::cv));
	tell_fact('sort by a sub that is not named');
}

sub is_own_sub {
	my ($name) = @_;
	return defined $name && $name =~ /\A[A-Za-z_]\w*\z/ && $my_names{$name};
}

my %checks = (
	entersub => \&check_call, open => \&check_open, binmode => \&check_layer, pack => \&check_template,
	unpack => \&check_template, require => \&check_require, sort => \&check_sort,
	map({ $_ => \&check_symbolic } qw(rv2sv rv2av rv2hv rv2gv)),
	map({ $_ => \&check_assign } qw(sassign orassign andassign dorassign)),
);

# \&$name is any sub, strict or not. \&name is looked at by name.
sub check_reference {
	my ($op) = @_;
	return unless $op->name eq 'rv2cv';
	my ($kid) = kids($op);
	my @inside = $kid->name eq 'null' ? (kids($kid), map { kids($_) } kids($kid)) : $kid;
	my ($gv) = grep { $_->name eq 'gv' } $kid, @inside;
	return tell_fact('symbolic call') unless $gv;
	my $code = code_of_gv(operand_of($gv));
	return tell_fact('a sub that is not there') unless $code && $$code && ref $code eq 'B::CV';
	check_code($code, 'a reference');
	tell_fact('call without its prototype') if $before{$$code} && $code->FLAGS & B::SVf_POK() && $code->PV =~ /\A&/;
	Assay::Paths::called_unseen($code);
}

sub check_op {
	my ($op, $cv, @above) = @_;
	my $name = $op->name;
	if ($name =~ /\A(?:gv|gvsv|aelemfast)\z/ && (my $gv = gv_of($op))) {
		check_variable($gv, $op, @above);
		check_signals($gv, $op, @above);
	}
	if ($name eq 'multideref') {
		for my $gv (grep { ref eq 'B::GV' } $op->aux_list($cv)) {
			check_variable($gv, $op, @above);
			check_signals($gv, $op, @above);
		}
	}
	$checks{$name}->($op, $cv) if $checks{$name};
	check_reference($op);
	if ($WRITES{$name} || $READS{$name}) {
		my @paths = operands($op);
		@paths = $paths[0] if $name eq 'mkdir';
		@paths = $paths[-1] if $name eq 'open_dir';
		tell_fact("path of $name") unless @paths;
		for my $path (@paths) {
			next if $READS{$name} && $name ne 'open_dir' && $path->name =~ /\A(?:gv|rv2gv)\z/;
			Assay::Paths::later($path, $cv, $WRITES{$name}, $line);
		}
	}
	if ($name eq 'glob') {
		my ($pattern) = map { name_of($_) =~ /\Aex-/ && kids($_) ? kids($_) : $_ } operands($op);
		Assay::Paths::later($pattern, $cv, 0, $line, 1);
	}
	Assay::Paths::see($op, $cv, @above);
}

sub walk {
	my ($op, $cv, @above) = @_;
	return unless $$op;
	$line = $op->line if ref $op eq 'B::COP';
	check_op($op, $cv, @above);
	walk($_, $cv, $op, @above) for kids($op);
	if (ref $op eq 'B::PMOP') {
		my $replacement = $op->pmreplroot;
		walk($replacement, $cv, $op, @above) if ref $replacement && $replacement->isa('B::OP') && $$replacement && $op->name eq 'subst';
	}
}

my %walked;
sub walk_code {
	my ($cv, $is_main) = @_;
	return if $walked{$$cv}++ || !$is_main && $before{$$cv};
	$mine{$$cv} = 1;
	local $Assay::Walk::cv = $cv;
	my $root = $is_main ? B::main_root() : $cv->ROOT;
	walk($root, $cv) if $$root && $root->isa('B::OP');
	my $pad = $cv->PADLIST;
	return unless $pad->can('ARRAY');
	my ($names, $values) = $pad->ARRAY;
	for my $value ($values && $values->can('ARRAY') ? $values->ARRAY : ()) {
		walk_code($value) if ref $value eq 'B::CV' && ${ $value->ROOT };
	}
}

our (%packages, $cv);
sub look {
	my @new;
	each_sub(sub {
		my ($package, $name, $code) = @_;
		my $cv = B::svref_2object($code);
		return if $before{$$cv};
		push @new, $cv;
		Assay::Paths::called_unseen($cv) if $name =~ /\A\(/; # an operator's
		$packages{$package} = $mine{$$cv} = $my_names{$name} = 1;
		tell_fact("a sub of the package $package") if $loaded{$package} && $package ne 'main';
		tell_fact("a sub of the name $name") if $name =~ /\A(?:TIE\w+|import|unimport)\z/ && $package eq 'main';
	}, 'main', {});
	$packages{main} = 1;
	$packages{$_} = 1 for new_packages();
	check_parents();
	look_for_methods($_) for B::main_cv(), @new;
	walk_code(B::main_cv(), 1);
	walk_code($_) for @new;
	tell_fact('<> of a changed @ARGV', $argv_changed) if $argv_magic && $argv_changed;
	Assay::Paths::check_all();
}

sub new_packages {
	my @found;
	for my $name (keys %main::) {
		push @found, $1 if $name =~ /\A([A-Za-z_]\w*)::\z/ && !$loaded{$1} && !$Assay::Walk::there{$1};
	}
	return @found;
}

# Methods of handles are looked for first: they decide what else may be there.
sub look_for_methods {
	my ($start) = @_;
	my @ops = $$start == ${ B::main_cv() } ? B::main_root() : $start->ROOT;
	while (my $op = shift @ops) {
		next unless $$op && $op->isa('B::OP');
		if ($op->name eq 'method_named') {
			my $sv = $op->meth_sv;
			$sv = (($start->PADLIST->ARRAY)[1]->ARRAY)[$op->targ] if ref $sv eq 'B::SPECIAL';
			$named_methods{ ${ $sv->object_2svref } } = 1;
		}
		push @ops, kids($op);
	}
}

sub check_parents {
	no strict 'refs';
	for my $package (keys %packages) {
		for my $parent (@{"${package}::ISA"}) {
			tell_fact("class $parent", 1) unless is_class($parent);
		}
	}
}

# --- the run ---

# Called for -Mwalk, before perl reads the program.
sub walk::import {
	for my $module (qw(strict warnings utf8 feature File::Glob PerlIO::encoding Encode), split ' ', $ENV{ASSAY_MODULES} // '') {
		(my $file = "$module.pm") =~ s{::}{/}g;
		eval { require $file; 1 } or die "cannot load $module\n";
	}
	Encode::find_encoding($_) for qw(UTF-8 utf8); # looked for once, and kept
	for my $module (grep { my $m = $_; exists $Assay::Allow::FUNCTIONS{$m} } split ' ', $ENV{ASSAY_MODULES} // '') {
		eval "package Assay::Before; $module->import; 1" if $module =~ /\A(?:POSIX|Test::More|Math::BigInt|Math::BigFloat|Math::BigRat)\z/;
	}
	for my $module (split ' ', $ENV{ASSAY_UNLISTED} // '') {
		(my $file = "$module.pm") =~ s{::}{/}g;
		delete $INC{$file};
	}
	our %there = map { /\A(\w+)::\z/ ? ($1 => 1) : () } keys %main::;
	look_before();
	@INC = ();
	Opcode::opmask_add(Opcode::invert_opset(Opcode::opset(@Assay::Allow::OPS)));
}

CHECK {
	$^W = 0;
	look();
	print "done\n", map { "$_\n" } @facts;
}

1;
