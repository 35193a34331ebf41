/*
 * bash, as everything outside the sandbox knows it: its row. What runs it is the row of its name
 * in sandbox/language.c, and nothing but this folder names it.
 */
#include "verifier/lang/bash/bash.h"

static const char *const keywords[] = {
	"break",  "case",   "continue", "declare", "do",       "done",	"elif",	 "else",  "esac",
	"exit",	  "export", "fi",	"for",	   "function", "if",	"in",	 "local", "return",
	"select", "set",    "shift",	"then",	   "trap",     "until", "while", NULL,
};

static const struct lang_tag tags[] = {
	{ "<bash>", "<bash>", "</bash>" },
	{ NULL, NULL, NULL },
};

/* A function or an alias stands for any command, a path for all of them; what runs beside or
 * after the cell. */
#define AT_COMMAND "(?:^|[;&|({!]|\\b(?:then|do|else|elif|time|if|while|until)\\b)[ \\t]*"
/* What may stand before a command's name. */
#define BEFORE_COMMAND                                                          \
	AT_COMMAND "(?:(?:\\w+\\+?=(?:\"[^\"\\n]*\"|'[^'\\n]*'|[^\\s;&|\"'])*|" \
		   "\\d*[<>]+&?[ \\t]*[^\\s;&|]+|command|builtin|!|-\\w+)[ \\t]+)*"
/* Options, those of takes with a value, and then a name that is put together. */
#define OPTIONS(takes)                                                                  \
	"(?>[ \\t]+-[a-zA-Z]*[" takes "](?:[ \\t]*(?:\"[^\"]*\"|'[^']*'|[$\\w.{}]+))?|" \
	"[ \\t]+-\\w+|[ \\t]+\\w+(?![\\w$\"'\\\\]))*+[ \\t]+\\w*[$\"'\\\\]"
/* Names of functions that no command has. */
#define OWN_FUNCTION                                                                            \
	"(?:(?!command_|dh_|c_|update_|pg_|x86_|lsb_|json_[px]|e2scrub_|pivot_root)[A-Za-z][a-" \
	"z\\d]*_\\w+|main|usage|die|fail|total|count|"                                          \
	"log|info|warn|"                                                                        \
	"average|mean|median|summary|report)"
/* A parenthesis that begins commands: two of them that are closed as two begin a sum. */
#define SUBSHELL "\\((?<!\\(\\()|\\(\\((?!(?:[^()]|\\((?:[^()]|\\([^()]*\\))*\\))*\\)\\))"
/* "wait" alone on a line, in no branch. */
#define ALL_WAITED_FOR                                                         \
	"(?:[\\s\\S]*(?:[^&|\\\\\\s]|[^&|]&))?[ \\t]*\\n(?:[ \\t]*\\n)*wait[ " \
	"\\t]*$(?![\\s\\S]*(?:"                                                \
	"\\b(?:fi|done|esac|else|elif)\\b|(?<!\\S)\\}|;;|(?<![&<>|])&(?![&>])))"
/* A text for another shell: programs that start no other and write to no file, in a row. */
#define PLAIN_PROGRAM                                                                             \
	"[ "                                                                                      \
	"\\t\\n]*(?:echo|printf|ls|wc|grep|cat|head|tail|cut|tr|date|true|false|test|seq|cd|pwd|" \
	"basename|dirname|stat|du|sort(?![^']*--))(?=[\\s;|&'])"                                  \
	"(?:[^'&;|<>`()$\\n]|\\$(?:\\w|[@#*?]|\\{\\w+[#%]*[\\w*./-]*\\})|[12]?>(?:&[12]|/dev/"    \
	"null\\b))*+"
#define PLAIN_TEXT                                                                    \
	"'(?:" PLAIN_PROGRAM "(?:(?:;|&&|\\|\\|?|\\n)" PLAIN_PROGRAM ")*+[;\\s]*+|[ " \
	"\\t\\n]*)'"
#define NAME_LETTER "[^\\s;&|<>()$`\"'=]"
static const char *const forges[] = {
	"(?<!" NAME_LETTER ")(?!" OWN_FUNCTION "[ \\t]*\\()" NAME_LETTER "+[ \\t]*\\([ \\t]*\\)",
	"\\bfunction\\b(?![ \\t]+" OWN_FUNCTION "[ \\t({])|"
	"\\b(?:alias|eval|enable|hash|shopt(?![ \\t]+-s[ \\t]+(?:globstar|nullglob|dotglob)[ "
	"\\t]*(?:[;\\n]|$))|(?<!-)exec|source|export[ \\t]+-f|coproc|"
	"ulimit|umask|kill|nohup|setsid|disown)\\b",
	AT_COMMAND "\\.[ \\t]",
	/* A name that is put together; what is compared is none. */
	AT_COMMAND "\\[\\[[ \\t](?:(?!\\]\\])[^;\\n])*\\]\\](*SKIP)(*FAIL)|"
		   "(?:^|[;&|{!]|" SUBSHELL
		   "|\\b(?:then|do|else|elif|time|if|while|until)\\b)[ \\t]*"
		   "(?:[\\w-]*\\\\[\\w-]|\\$(?!\\(\\()[\\w{(])",
	"\\b(?:declare|typeset|local)[ \\t]+-\\w*n|\\b(?:mapfile|readarray)\\b[^;\\n]*[ \\t]-C",
	/* How the shell reads what comes after. */
	"\\bset[ \\t]+[-+](?!-)(?![euxo]*(?:[ \\t]+pipefail)?[ \\t]*(?:[;\\n]|$))|"
	"\\bIFS=(?!\\$'(?: |\\\\[nt])+'[ "
	"\\t]*(?:[;\\n]|$))(?!(?:'[^']*'|\"[^\"\\n]*\"|[^\\s;&|'\"])*[ "
	"\\t]+(?:read|mapfile|readarray)\\b)",
	"(?:" SUBSHELL ")[^()\\n]*(?<![&<>|])&(?![&>])|"
	"(?<![&<>|])&(?![&>])(?!" ALL_WAITED_FOR ")|>\\(",
	NULL,
};
/* In strings, too: names, files, and what quotes may put together. */
static const char *const forges_text[] = {
	"\\btrap\\b(?![ \\t]+'rm -r?f \"?\\$\\w+\"?'[ \\t]+EXIT\\b)|"
	"\\b(?:PROMPT_COMMAND|BASH_(?!REMATCH\\[|VERSION\\b)\\w+|PATH|LD_\\w+|"
	"command_not_found_handle|SHELLOPTS|BASHOPTS|GLOBIGNORE|EXECIGNORE|CDPATH|FUNCNEST|"
	"TMOUT|ENV|HOME|PPID|BASHPID|POSIXLY_CORRECT)\\b",
	/* What others count and write by, and what a name takes in place of its value. */
	"\\b(?:(?:\\w+_)?BLOCK_?SIZE|QUOTING_STYLE|TIME_STYLE|TIMEFORMAT|EPOCH(?:SECONDS|REALTIME)|"
	"SECONDS(?!=0\\b)|LINENO)=|"
	"\\b(?:readonly|(?:declare|typeset)[ \\t]+-\\w*r\\w*)\\b"
	"(?![ \\t]+[A-Z][A-Z_]*=[\"']?[A-Za-z/][^;&|\\n]*$)|"
	"\\b(?:declare|typeset)[ \\t]+(?:-\\w+[ \\t]+)*[-+]\\w*[iulc]|"
	/* A file that a command takes for an option of its own. */
	"\\b(?:touch|cp|mv|ln|tee|mkdir|install)\\b[^;\\n]*(?:[ \\t]--[ \\t]+[\"']?|\\./[\"']?)-|"
	">[ \\t]*[\"']?(?:\\./)?-\\w",
	/* What other programs begin with. */
	"\\b(?:PYTHON|PERL|NODE_|RUBY|AWK|GAWK|GREP_|LESS|JQ_|SQLITE|GIT_|TAR_|XDG_)\\w*=|"
	">[>|&]?[ \\t]*[\"']?(?:[^\\s;&|\"']*/)?\\.[A-Za-z]|"
	"\\b(?:tee|cp|mv|ln|install|touch)\\b[^;\\n]*[\\s/]\\.[A-Za-z]|"
	"\\.(?:py|pm|so|pth)\\b[\"']?[ \\t]*(?:<<|$)|>[ "
	"\\t]*[\"']?[^\\s;&|]*\\.(?:py|pm|so|pth)\\b",
	AT_COMMAND "(?:[\\w-]*[\"']{2}[\\w-]|[\"'][\\w\"'-]*[\"'](?=[\\s\\w]|$)(?![ \\t]*\\)))",
	"\\b(?:declare|typeset|export|readonly|local)\\b(?:[ \\t]+-\\w+)*[ \\t]+\\w*[\"'\\\\$]|"
	"\\bprintf[ \\t]+-v[ \\t]*\\w*[\"'\\\\$\\[]",
	/* The streams of the cell after it, by their numbers. */
	"[<>]&[ \\t]*(?:[3-9]|[0-9]{2}|[$\"'{])|/proc/|/dev/fd|\\b_assay|\\{\\w+\\}[<>]",
	/* The same behind what may stand before it. */
	BEFORE_COMMAND "(?:[\"'][\\w-]+[\"'](?=[ \\t]+[^)|]|$)|[\"'\\\\]*\\.[\"']*[ "
		       "\\t]|[\\w-]+[\"'][\\w-]*[\"']|[\\w-]*\\\\[\\w-]|"
		       "\"(?=[^\"\\n]*[$`\\\\])[^\"\\n]*\"(?![ \\t]*[)|])|"
		       "[\\w-]+[?*][\\w?*-]*(?=[ \\t]+[^\\s|)&=]))|"
		       "\\b(?:command|builtin)[ \\t]+(?:-\\w+[ \\t]+)*[\"'$\\\\]",
	"\\bread\\b" OPTIONS("pdntuNi") "|\\b(?:mapfile|readarray)\\b" OPTIONS("dnuOsc"),
	"\\b(?:BC_|_?JAVA_|GCONV|LOCPATH|TZDIR|QUOTING_|BLOCK_SIZE|TIME_STYLE|MAKEFLAGS|RIPGREP)"
	"\\w*=",
	/* Other interpreters, which start what runs on, or what is nowhere written. */
	"\\b(?:ba|da)?sh[ \\t]+-c[ \\t]+" PLAIN_TEXT "(*SKIP)(*FAIL)|"
	"\\b(?:ba|da|k|z)?sh[ \\t]+(?:-|[\\w/$\"'])|\\|[ \\t]*(?:ba|da|k|z)?sh\\b|"
	"\\b(?:v?fork\\w*|daemon\\w*|posix_spawn\\w*|[Pp]open|subprocess|multiprocessing|spawn\\w*|"
	"threading|detach\\w*|child_process|ctypes|getattr|__\\w+__|importlib|b64decode|system)\\b|"
	"\\|[ \\t]*(?:python[\\d.]*|perl|node|ruby)[ \\t]*-?[ \\t]*(?:$|[;|&\\n])",
	NULL,
};

#define OF_A_SUM "\\(error token is "

const struct lang lang_bash = {
	.name = "bash",
	.title = "bash",
	.package = "bash",
	.lex = lex_bash,
	.sure = sure_bash,
	.keywords = keywords,
	.rules = "bash.rules",
	.reader = { .runs = "python",
		    .flags = (const char *const[]){ "-s", "-B", "-S", NULL },
		    .parts = { { .path = "reader/values.py" },
			       { .path = "reader/programs.py" },
			       { .path = "reader/state.py" },
			       { .path = "reader/words.py" },
			       { .path = "reader/output.py" },
			       { .path = "reader/conditional.py" },
			       { .path = "reader/commands.py" },
			       { .path = "reader/proof.py" },
			       { .path = "reader/tree.py" },
			       { .path = "/serve.py" } },
		    .many = "many" },
	.harness = {
		.program = { { "harness/program.sh" }, "assay_program.sh" },
		.judge = { { "harness/unmade.sh", "harness/report.sh", "harness/judge.sh" }, "assay_judge.sh" },
		.together = { { "harness/report.sh", "harness/together.sh" }, "assay_harness.sh" },
		.context = { { "harness/context.sh" }, "assay_context.sh", .holds = true },
		.copy = "[ ! -e /out/@ ] || cp /out/@ @\n",
		.slice = { "harness/slice.py" },
		.slice_runs = "python",
		.forges = { forges, forges_text, NULL },
		.tests = "assay_tests.sh",
	},
	.refusal = "refusal.sh",
	.assertions = "[ ... ]",
	.report = {
		/* Behind what is no program stands its line, quoted. */
		.error = "^(?:[^:\\n]*/)?[^:\\n]+: line \\d+: ()(?!`.*'$)(.*)$",
		.last_error = true,
		.frame = "%s: line (\\d+): ",
		.last_frame = true,
		/* That of a sum is found in what it is given, while the program runs. */
		.syntax = "^(?!.*" OF_A_SUM ")(?:.*syntax error|.*unexpected end of file|.*unexpected EOF)",
		.import = "(?:^|: )([^:]+): command not found",
		.memory = "cannot allocate|xmalloc|xrealloc",
	},
	.advice = {
		[LANG_ADVICE_NAME] = "unbound variable$",
		[LANG_ADVICE_ITEM] = "bad array subscript$",
		[LANG_ADVICE_FORM] = "^(?!.*division by 0).*" OF_A_SUM "|integer expression expected$|invalid number$",
		[LANG_ADVICE_DIVISION] = "division by 0",
		[LANG_ADVICE_RECURSION] = "maximum function nesting level exceeded",
		[LANG_ADVICE_FILE] = "No such file or directory$|(?:Is|Not) a directory$",
	},
	.reply = {
		.strong = "^(?:#!.*sh\\b|(?:if|while|until) \\[|for \\w+ in .*; *do|\\w+\\(\\)\\s*\\{|set -[a-z]|"
			"(?:echo|printf|awk|sed|grep|sort|cut|head|tail|cat|find|seq) (?:[-\"'$]|.*[|>]))",
		.line = "^(?:[A-Za-z_]\\w*=|(?:fi|done|esac|then|else|do)\\b|[}]|\\w+ "
			"(?:[-\"'$/]|\\w+\\s*$)|\\w+$)",
		.files = "sh|bash",
		.members = (const char *const[]){ "bash", "command", "cmd", NULL },
		.tools = (const char *const[]){ "bash", "shell", "terminal", NULL },
		.tags = tags,
		.starts_others = true,
	},
};
