/*
 * Perl, as everything outside the sandbox knows it: its row. What runs it is the row of its name
 * in sandbox/language.c, and nothing but this folder names it.
 */
#include "verifier/lang/perl/perl.h"

static const char *const keywords[] = {
	"and",	 "cmp",	 "continue", "default", "die",	  "do",	   "each",    "else",	   "elsif",
	"eq",	 "eval", "for",	     "foreach", "ge",	  "given", "gt",      "if",	   "keys",
	"last",	 "le",	 "local",    "lt",	"my",	  "ne",	   "next",    "no",	   "not",
	"or",	 "our",	 "package",  "print",	"printf", "redo",  "require", "return",	   "say",
	"state", "sub",	 "undef",    "unless",	"until",  "use",   "values",  "wantarray", "when",
	"while", "x",	 "xor",	     NULL,
};

static const struct lang_tag tags[] = {
	{ "<perl>", "<perl>", "</perl>" },
	{ NULL, NULL, NULL },
};

/* What perl only says, and goes on. */
#define WARNINGS                                                                                \
	"\"my\" variable|Useless use|Possible |Name \"|Use of uninit|Scalar value|Subroutine |" \
	"Smartmatch|given is"
/* What chomp has nothing of: a line that was not there. */
#define NO_LINE "Use of uninitialized value(?=[^\\n]* in (?:scalar )?chomp$)"

const struct lang lang_perl = {
	.name = "perl",
	.title = "Perl",
	.package = "perl",
	.libraries = true,
	.lex = lex_perl,
	.keywords = keywords,
	.rules = "perl.rules",
	.reader = { .runs = "perl",
		    .parts = { { .path = "reader/gate.pl" } },
		    .files = { "allow.pm", "ops.pm", "walk.pm", "paths.pm" } },
	.harness = {
		.program = { { "harness/codec.pl", "harness/program.pl" }, "assay_program.pl" },
		.judge = { { "harness/scope.pl", "harness/codec.pl", "harness/assertions.pl",
			     "harness/sites.pl", "harness/doubts.pl", "harness/judge.pl" },
			   "assay_judge.pl" },
		.together = { { "harness/scope.pl", "harness/assertions.pl",
				"harness/together.pl" }, "assay_harness.pl" },
		.show = { { "harness/show.pl" }, "assay_show.pl" },
		.tests = "assay_tests.pl",
	},
	.assertions = "the functions of Test::More (is, ok, is_deeply)",
	/* "MESSAGE at FILE line N." and more on the line. Warnings look alike, so that the last
	 * one is what the program died of; but of what keeps it from compiling the first, and a
	 * known warning only where nothing follows it (FATAL). Others: a test that failed, memory
	 * that perl itself could not get, an object that was thrown. */
	.report = {
		.error = "(?|^()#   (Failed test(?: '[^\\n]*')?)(?:\\n#  )? at \\S+ line \\d+\\.$|"
			 "^()(Out of memory(?:!| in perl:[^\\n]*))$[\\s\\S]*|"
			 "^(?=([A-Za-z_][\\w:]*)=)(\\S+=(?:HASH|ARRAY|SCALAR|CODE|GLOB|REF)\\(0x[\\da-f]+\\))$|"
			 "^()(?!\\s|#|BEGIN failed)(?:(?!" WARNINGS ")|(?=[^\\n]*\\n*\\z))"
			 "([^\\n]+?) at (?:\\S+|\\(eval \\d+\\)) line \\d+(?:[.,][^\\n]*)?$"
			 "(?:(?=[\\s\\S]*(?:had compilation errors|due to compilation errors|"
			 "compilation aborted))[\\s\\S]*)?)",
		.last_error = true,
		.frame = " at (?:[^\\s\\n]*/)?%s line (\\d+)",
		.own_frame = true,
		.syntax = "^(?:syntax error|Global symbol |Bareword \"|Can't find string terminator|"
			  "Missing right |Unmatched right |Number found where|String found where|"
			  "Search pattern not terminated|Substitution |Unrecognized character|"
			  "Can't redeclare|Type of arg|Too many arguments for |Not enough arguments for |"
			  "Can't modify |Illegal declaration|Unknown regexp modifier|Prototype )",
		.import = "^Can't locate (?:loadable object for module )?(\\S+?(?:\\.(?:pm|pl|ph))?) in @INC",
		.memory = "^Out of memory",
	},
	.advice = {
		[LANG_ADVICE_KIND] = "^(?!" NO_LINE ")(?:Not an? \\w+ reference|Use of uninitialized|"
			"Can't use (?:string|an undefined value|undef)|Can't call method \"[^\"]*\" (?:on (?:an "
			"undefined value|unblessed reference)|without a package)|Modification of a read-only|"
			"Odd number of elements|Reference found where)",
		[LANG_ADVICE_NAME] = "^(?:Undefined subroutine|Can't locate object method|Global symbol|"
			"Bareword)",
		[LANG_ADVICE_ITEM] = "^(?:Modification of non-creatable array value|substr outside of string|"
			"splice\\(\\) offset past end|Attempt to (?:access|delete) disallowed key)",
		[LANG_ADVICE_FORM] = "^(?:Argument \"|Malformed UTF-8|Wide character|malformed JSON|"
			"Month '|Day '|Cannot parse|Error parsing time|Can't take (?:log|sqrt) of)|isn't numeric|"
			"does not map to Unicode|while parsing (?:JSON|array|object)",
		[LANG_ADVICE_DIVISION] = "^Illegal (?:division by|modulus) zero",
		[LANG_ADVICE_RECURSION] = "^Deep recursion",
		[LANG_ADVICE_ASSERTION] = "^Failed test|(?i)^assert(?:ion)?\\b|\\bassertion\\b.*\\bfail",
		[LANG_ADVICE_FILE] = "No such file or directory|(?:Is|Not) a directory",
		[LANG_ADVICE_INPUT] = "^readline\\(\\) on (?:closed|unopened) filehandle STDIN|^" NO_LINE "|"
			"(?i)\\b(?:no|not enough|missing|empty|insufficient) (?:\\w+ ){0,3}(?:input|stdin)\\b|"
			"\\b(?:on|from) (?:standard input|stdin)\\b|unexpected (?:eof|end of (?:file|input))\\b",
		[LANG_ADVICE_MOVE] = "Invalid cross-device link",
	},
	.reply = {
		.strong = "^(?:#!.*perl\\b|use (?:strict|warnings|utf8|feature|v?5[.\\d]*|[A-Z]\\w*(?:::\\w+)*)"
			  "\\b.*;|my\\s*(?:[$@%]\\w+|\\().*[;{(\\[,]\\s*$|our\\s+[$@%]\\w+|sub \\w+\\s*"
			  "(?:\\([^)]*\\)\\s*)?\\{|package [\\w:]+\\s*[;{]|(?:print|printf|say)\\b.*;\\s*$|"
			  "(?:foreach|for)\\s+my\\s+\\$\\w+\\s*\\(|while\\s*\\(\\s*(?:my\\s|<|defined)|"
			  "[$@%]\\w+(?:->)?[\\[{]?.*=.*;\\s*$)",
		.line = "^(?:[$@%&]\\S|[A-Za-z_][\\w:]*(?:->\\w+)?\\s*\\(.*|[})\\]]|(?:if|unless|while|until|for|"
			"foreach|else|elsif|do|eval|BEGIN|END)\\b|(?:use|no|require|return|my|our|local|"
			"die|warn|close|open|push|unshift|chomp|exit|last|next|print|printf|say|sub|"
			"binmode|select|printf|join|sort|keys|undef|delete)\\b|1;\\s*$|__(?:END|DATA)__)",
		.files = "p[lm]",
		.members = (const char *const[]){ "perl", NULL },
		.tools = (const char *const[]){ "perl", NULL },
		.tags = tags,
	},
	.outline = &perl_outline,
};
