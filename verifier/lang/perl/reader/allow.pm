# What a Perl program of the profile strict may be made of: operations of the interpreter, modules,
# and what of each module may be called. What is not here is refused. Nothing here may start a
# process, speak to a network, compile text, load a file by its name, or open what is not checked.
package Assay::Allow;
use strict;
use warnings;

# By the names of Opcode(3perl). Perl refuses to compile any other, wherever it stands.
our @OPS = qw(
	null stub scalar pushmark wantarray const gvsv gv padsv padav padhv padany rv2gv rv2sv
	av2arylen rv2cv anoncode prototype refgen srefgen ref bless glob readline rcatline regcmaybe
	regcreset regcomp match qr subst substcont trans transr sassign aassign chop schop chomp
	schomp defined undef study pos preinc i_preinc predec i_predec postinc i_postinc postdec
	i_postdec pow multiply i_multiply divide i_divide modulo i_modulo repeat add i_add subtract
	i_subtract concat multiconcat stringify left_shift right_shift lt i_lt gt i_gt le i_le ge
	i_ge eq i_eq ne i_ne ncmp i_ncmp slt sgt sle sge seq sne scmp bit_and bit_xor bit_or nbit_and
	nbit_xor nbit_or sbit_and sbit_xor sbit_or negate i_negate not complement ncomplement
	scomplement smartmatch atan2 sin cos rand srand exp log sqrt int hex oct abs length substr
	vec index rindex sprintf ord chr ucfirst lcfirst uc lc quotemeta rv2av aelemfast
	aelemfast_lex aelem aslice kvaslice aeach avalues akeys each values keys delete exists rv2hv
	helem hslice kvhslice multideref pack unpack split join list lslice anonlist anonhash splice push pop
	shift unshift sort reverse grepstart grepwhile mapstart mapwhile range flip flop and or xor
	dor cond_expr andassign orassign dorassign method method_named method_super entersub leavesub
	argcheck argelem argdefelem caller warn die lineseq nextstate dbstate unstack enter leave
	scope enteriter iter enterloop leaveloop return last next redo exit entergiven leavegiven
	enterwhen leavewhen break continue open close fileno binmode sselect select getc read prtf
	print say eof tell seek sysread syswrite stat lstat ftrread ftrwrite ftrexec fteread
	ftewrite fteexec ftis ftsize ftmtime ftatime ftctime ftzero ftfile ftdir fttext ftbinary
	unlink rename mkdir rmdir open_dir readdir rewinddir closedir time tms localtime gmtime
	alarm sleep require entertry leavetry runcv fc padrange once custom
	anonconst isa cmpchain_and cmpchain_dup entertrycatch leavetrycatch poptry catch is_bool
	is_weak weaken unweaken blessed refaddr reftype ceil floor);

# Functions of a module by name; `*`: all that it has. Pragmas have none.
our %FUNCTIONS = map { my ($module, @names) = split; ($module => { map { $_ => 1 } @names }) }
	grep { /\S/ } split /\n/, <<'LIST';
strict
warnings
utf8
feature
integer
constant
overload
vars
parent
base
bytes
open
Carp croak confess carp cluck
List::Util *
Scalar::Util blessed reftype refaddr looks_like_number weaken unweaken isweak readonly dualvar
POSIX floor ceil fmod pow round trunc lround rint fmin fmax log10 log2 cbrt hypot tan asin acos atan sinh cosh tanh strtol strtod toupper tolower strftime mktime isatty INT_MAX INT_MIN UINT_MAX LONG_MAX LONG_MIN DBL_MAX DBL_MIN DBL_EPSILON FLT_MAX FLT_MIN FLT_EPSILON EXIT_SUCCESS EXIT_FAILURE isnan isinf copysign abs difftime fabs
Time::Local timelocal timegm timelocal_nocheck timegm_nocheck timelocal_modern timegm_modern timelocal_posix timegm_posix
Time::HiRes time sleep usleep tv_interval gettimeofday
Time::Piece localtime gmtime
Time::Seconds ONE_DAY ONE_HOUR ONE_MINUTE ONE_WEEK
Data::Dumper Dumper
JSON::PP encode_json decode_json true false null is_bool
Math::BigInt
Math::BigFloat
Math::BigRat
Math::Trig pi tan sec csc cot asin acos atan sinh cosh tanh deg2rad rad2deg great_circle_distance
Math::Complex sqrt log exp cplx cplxe i
Digest::MD5 md5 md5_hex md5_base64
Digest::SHA sha1 sha1_hex sha256 sha256_hex sha512 sha512_hex sha1_base64 sha256_base64 hmac_sha256_hex
MIME::Base64 encode_base64 decode_base64
Encode encode decode encode_utf8 decode_utf8 is_utf8
Text::Wrap wrap fill
Text::ParseWords shellwords quotewords parse_line nested_quotewords
Text::Abbrev abbrev
Text::Tabs expand unexpand
Text::Balanced extract_bracketed extract_quotelike extract_delimited extract_multiple
Term::ANSIColor color colored
Unicode::Normalize NFC NFD NFKC NFKD
File::Basename basename dirname fileparse
Getopt::Long GetOptions
Test::More ok is isnt like unlike is_deeply done_testing plan pass fail note diag
IO::Handle
LIST

# Methods of modules' classes, by the class written out, and of objects whoever made them.
my @NUMBERS = qw(new bone bzero bnan binf badd bsub bmul bdiv bmod bpow bsqrt broot bfac binc bdec
	bneg babs bcmp bacmp beq bne blt ble bgt bge bstr bsstr bint bfloor bceil bround bfround
	bnok bmodpow bmodinv bgcd blcm blog bexp bpi band bior bxor copy as_int as_number as_hex
	as_bin as_oct is_zero is_one is_odd is_even is_neg is_negative is_pos is_positive is_nan
	is_inf is_int length digits numify accuracy precision div_scale round_mode ffround fround
	from_hex from_bin from_oct to_hex to_bin to_oct sign numerator denominator digit parts
	bmuladd btdiv btmod bfib blucas bdstr bnstr);
our %METHODS = (
	(map { $_ => \@NUMBERS } qw(Math::BigInt Math::BigFloat Math::BigRat)),
	'JSON::PP' => [qw(new pretty canonical utf8 ascii latin1 indent space_before space_after
		allow_nonref allow_blessed convert_blessed allow_unknown relaxed encode decode sort_by
		indent_length incr_parse allow_bignum loose escape_slash true false)],
	'Time::Piece' => [qw(new strptime strftime epoch year mon month mday day hour min minute sec
		second ymd mdy dmy hms yday yy julian_day week isleap month_last_day add_months
		add_years fullmonth monname day_of_week wday wdayname datetime date cdate tzoffset
		localtime gmtime truncate _wday)],
	'Time::Seconds' => [qw(seconds minutes hours days weeks months years pretty)],
	'Data::Dumper' => [qw(new Dump Indent Terse Sortkeys Useqq Deepcopy Maxdepth Pad)],
	'Digest::MD5' => [qw(new add hexdigest b64digest digest)],
	'Digest::SHA' => [qw(new add hexdigest b64digest digest)],
	'IO::Handle' => [qw(autoflush print printf say getline getlines close eof opened flush
		binmode input_line_number)],
);

# Variables of modules that a program may set.
our %VARIABLES = map { $_ => 1 } (
	(map { "Data::Dumper::$_" } qw(Sortkeys Indent Terse Useqq Deepcopy Maxdepth Pad Quotekeys
		Pair Trailingcomma)),
	(map { "Text::Wrap::$_" } qw(columns huge unexpand break)),
	qw(JSON::PP::true JSON::PP::false Carp::Verbose Text::Tabs::tabstop Test::More::TODO));

our @HANDLES = qw(STDIN STDOUT STDERR);

# Methods that every class has, and that do no more than look.
our @UNIVERSAL = qw(isa DOES);

# What a file's name may begin with, to be read and to be written.
our $READ = qr{\A(?:/(?:in|out|work|tmp)(?=/|\z)|/dev/(?:null|stdin|stdout|stderr|u?random|zero)\z|/usr/share/dict/)};
our $WRITE = qr{\A(?:/(?:out|work|tmp)(?=/)|/dev/(?:null|stdout|stderr)\z)};
our $OWN = qr{\A/work/+(?:\./+)*main\.pl/*\z};

1;
