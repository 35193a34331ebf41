/*
 * Python, as everything outside the sandbox knows it: its row. What runs it is the row of its
 * name in sandbox/language.c, and nothing but this folder names it.
 */
#include "verifier/lang/python/python.h"

#define ASSIGN                                                                         \
	"[A-Za-z_][\\w.]*(?:\\[[^\\]]*\\])?(?:\\s*,\\s*[A-Za-z_]\\w*)*\\s*(?::[^=]*)?" \
	"(?:[-+*/%|&]|//|\\*\\*)?=(?!=)"
#define CALL "[A-Za-z_$][\\w.$]*\\(.*"

static const char *const keywords[] = {
	"False", "None",     "True",  "and",	"as",	"assert", "async",  "await",	"break",
	"class", "continue", "def",   "del",	"elif", "else",	  "except", "finally",	"for",
	"from",	 "global",   "if",    "import", "in",	"is",	  "lambda", "nonlocal", "not",
	"or",	 "pass",     "raise", "return", "try",	"while",  "with",   "yield",	NULL,
};

/* An <execute> that names no language is Python's: <execute_bash> names one. */
static const struct lang_tag marks[] = {
	{ "<|python_tag|>", "<|python_tag|>", "<|" },
	{ "<|python_start|>", "<|python_start|>", "<|" },
	{ NULL, NULL, NULL },
};
static const struct lang_tag tags[] = {
	{ "<execute>", "<execute", "</execute" },
	{ "<python>", "<python>", "</python>" },
	{ "<ipython>", "<ipython>", "</ipython>" },
	{ "[PYTHON]", "[PYTHON]", "[/PYTHON]" },
	{ NULL, NULL, NULL },
};

/* Those of the language's row, and without what the interpreter loads for a user's sake:
 * the reader has no use for it, and the judge catches up on it when tests need it. */
static const char *const bare[] = { "-s", "-B", "-S", NULL };

/* A name that prints, tests or computes for every cell rebound, or reached in a way that
 * its text does not show; what runs beside or after the cell. */
#define BUILTINS                                                                               \
	"(?:print|display|len|sum|min|max|abs|round|sorted|str|repr|int|float|bool|list|dict|" \
	"set|tuple|open|input|format|any|all|zip|map|filter|range|enumerate|isinstance|type|"  \
	"bytes|bytearray|frozenset|complex|super|property|reversed|pow|divmod|"                \
	"chr|ord|hash|next|iter|hasattr|issubclass|bin|hex|oct|"                               \
	"\\w*(?:Error|Exception|Exit|Interrupt))"
/* Of what follows a name in a target: brackets of its own, a part, another target. */
#define ASSIGNED_BY "[ \\t]*(?:[-+*/%&|^@]|//|\\*\\*|<<|>>)?=(?![=}!])"
#define IN_TARGET                                           \
	"(?:[^()\\[\\]\\n=#;:]|\\([^()]*\\)|(?<=[\\w)\\]])" \
	"\\[[^\\[\\]\\n]*\\]|(?<![\\w)\\]])[\\[\\]])*"
/* A name that an import binds, which \1 is from then on. */
#define IMPORTED "(?s)^[ \\t]*import[ \\t]+(?:[^\\n]*[, \\t])?(\\w+)(?=[ \\t]*(?:[.,;#\\n]|$)).*"
/* What stands in the place of an object that a method is given. */
#define OF_OBJECT "(?:self|cls)\\b"
/* Names alone, as the whole target of a loop: what follows "in" is none. */
#define OTHER_NAME  "(?!" BUILTINS "\\b)[A-Za-z_]\\w*"
#define OTHER_NAMES "[ \\t]+" OTHER_NAME "(?:[ \\t]*,[ \\t]*" OTHER_NAME ")*[ \\t]+in\\b"
static const char *const forges[] = {
	"\\b(?:builtins|setattr|delattr|globals|locals|vars|exec|eval|getattr|__import__|"
	"importlib|ctypes|gc|inspect|atexit|signal|threading|_thread|multiprocessing|settrace|"
	"setprofile|mock|modules|excepthook|displayhook|MethodType|weakref|finalize|fdopen|FileIO|"
	"pass_fds|close_fds|closerange)\\b",
	/* But of re, where another of that name would only make code that nothing above runs. */
	"\\b(?<!(?<![.\\w])re\\.)compile\\b|\\bcompile\\b(?!\\()",
	/* What runs text, bytes or a function of the cell's, in a place or at a time of its own. */
	"\\b(?:\\w*pickle|marshal|shelve|joblib|runpy|timeit|doctest|cProfile|pdb|bdb|codeop|"
	"zipimport|pkgutil|addsitedir|get_type_hints|ForwardRef|attrgetter|methodcaller|"
	"FunctionType|CodeType|redirect_std\\w+|ExitStack|enter_context|concurrent|asyncio|"
	"ThreadPool\\w*|Timer|sched|subprocess|popen|Popen|putenv|register\\w*|float_format|"
	"formatter|set_string_function|switch_backend|cffi|cppyy|numba|sysconfig|sympify|"
	"parse_expr|unsafe_load\\w*|UnsafeLoader)\\b|"
	"\\b(?:import|from)[ \\t]+(?:[\\w., \\t]*[ ,\\t])?(?:code|trace|profile)\\b|"
	"\\bos\\.system\\b|module://|_hooks?\\b|\\bmeta_path\\b",
	"\\bset_option\\((?![ \\t\\n]*['\"](?: +|(?:display\\.)?(?:max_\\w+|min_rows|width|"
	"precision|expand_frame_repr))['\"])|\\bset_printoptions\\([^)\\n]*\\*\\*|"
	"\\b(?:matplotlib|mpl)\\.use\\((?![ \\t\\n]*['\"](?: +|[Aa]gg)['\"])|"
	"\\benviron\\b(?!\\.get\\b|\\[['\"](?: +|MPLBACKEND|MPLCONFIGDIR|TZ|OMP_NUM_THREADS)['\"])",
	/* The interpreter by another name, or where it looks for modules. */
	"\\bimport[ \\t]+(?:[\\w., \\t]+,[ \\t]*)?sys[ \\t]+as\\b|\\bsys\\b[ \\t]*(?![.,;#\\n]|[ "
	"\\t]|$)|"
	"\\bsys[ \\t]*\\.[ \\t]*(?!(?:stdin|stdout|stderr|argv|exit|maxsize|version|version_info|"
	"platform|getsizeof|float_info|byteorder|setrecursionlimit|getrecursionlimit|"
	"executable|maxunicode)\\b)|=[ \\t]*\\(?(?:\\w+\\.)*sys\\b[ \\t]*(?!\\.)|\\bdetach\\b",
	/* The streams of the cell after it, by their numbers. */
	"\\bos\\.(?:write|writev|pwrite|pwritev|dup|dup2|sendfile|splice|fork\\w*|exec\\w*|posix_"
	"spawn\\w*)\\b|"
	"/proc/|/dev/fd|\\bopen[ \\t]*\\([ \\t\\n]*\\d|\\bfrom[ \\t]+(?:os|posix|sys)[ "
	"\\t]+import\\b|\\bposix\\b",
	"(?s)\\byield\\b.*\\bfinally\\b|\\btry\\b.*\\byield\\b",
	"__(?!(?:name|main|init|repr|str|len|eq|ne|lt|le|gt|ge|hash|iter|next|call|add|"
	"sub|mul|truediv|contains|getitem|setitem|post_init|future|slots|doc|file)__)\\w+__",
	"^[ \\t]*(?:async[ \\t]+)?(?:def|class)[ \\t]+" BUILTINS "\\b",
	"(?<![.\\w=!<>])" BUILTINS "[ \\t]*(?::[^=\\n]*)?(?:,[^=\\n()]*)?=(?!=)(?![^(\\n]*\\))",
	"\\b" BUILTINS "[ \\t\\n]*:=|"
	"[(\\[,*][ \\t\\n]*" BUILTINS "[ \\t\\n]*(?:,[^()=\\n]*)?[)\\]]+[^()=\\n:]*=(?!=)",
	"\\b(?:as|for(?!" OTHER_NAMES
	")|global|del|case|type)[ \\t]+(?:[^:\\n]*[,(\\[|][ \\t]*)?" BUILTINS "\\b(?![ \\t]*\\()",
	"\\bimport[ \\t]+(?:\\*|[^\\n]*\\b" BUILTINS "\\b)|\\bimport[ \\t]*\\([^)]*\\b" BUILTINS
	"\\b",
	"\\b(?!self\\b|cls\\b)[A-Za-z_]\\w*(?:[ \\t]*\\.[ \\t]*\\w+)*[ \\t]*\\.[ \\t]*"
	"(?!columns\\b|index\\b|name\\b|dtypes?\\b|values\\b)\\w+" ASSIGNED_BY,
	/* A class of a library has columns, too. */
	"\\b[A-Za-z_]\\w*(?:\\.\\w+)*\\.[A-Z]\\w*\\.\\w+" ASSIGNED_BY,
	"[)\\]][ \\t]*\\.[ \\t]*\\w+" ASSIGNED_BY,
	/* One target of several, and those of other statements. */
	"(?:^|[;:])[ \\t]*" IN_TARGET "(?:(?<!self|cls)\\.[ \\t]*\\w+[ \\t]*[,)\\]]|"
	"(?<![\\w)\\]])[(\\[][^()=\\n]*\\.[ \\t]*\\w+[ \\t]*[,)\\]])" IN_TARGET "=(?!=)|"
	"\\bfor[ \\t]+(?:(?!\\bin\\b)[^:\\n])*(?<!\\d)\\.[ \\t]*\\w|"
	"\\bas[ \\t]+[\\[(]*[\\w, \\t]*\\w[ \\t]*\\.[ \\t]*\\w+[ \\t]*[:,)\\]]|"
	"(?:^|[;:])[ \\t]*del[ \\t]+[^\\n]*\\.|"
	"(?:^|[;:])[ \\t]*(?!self\\b)[A-Za-z_]\\w*(?:\\.\\w+)+[ \\t]*:[^=\\n]*=(?!=)",
	/* Letters that Python takes for others. */
	"[\\x{aa}\\x{ba}\\x{17f}\\x{1c4}-\\x{1cc}\\x{2b0}-\\x{2ff}\\x{1d00}-\\x{1dbf}"
	"\\x{2070}-\\x{209f}\\x{2100}-\\x{214f}\\x{fb00}-\\x{fb06}\\x{ff00}-\\x{ff5a}"
	"\\x{1d400}-\\x{1d7ff}]",
	/* A module handed on by its name, a part of one, or what it keeps for itself. */
	IMPORTED "^(?![ \\t]*(?:import|from)\\b)[^\\n]*(?:[(,=\\[{:]|\\bin|\\breturn)[ "
		 "\\t\\n]*\\b\\1[ \\t]*(?:[,)\\]};]|$)",
	IMPORTED "\\b\\1(?:\\.(?!rcParams\\b|environ\\b)\\w+)+[ \\t]*\\[[^\\]\\n]*\\]" ASSIGNED_BY,
	IMPORTED "\\b\\1(?:\\.(?!rcParams\\b|environ\\b)\\w+)+\\.(?:update|append|insert|extend|"
		 "clear|pop|setdefault)[ \\t]*\\(",
	IMPORTED "\\b\\1(?:\\.\\w+)*\\._[A-Za-z]",
	"(?s)\\bfrom[ \\t]+[\\w.]+[ \\t]+import\\b[^\\n]*\\b(\\w+)\\b.*^[ \\t]*\\1[ "
	"\\t]*\\[[^\\]\\n]*\\]" ASSIGNED_BY,
	/* An object of a method that is no method's, or another's. */
	"^(?:async[ \\t]+)?def[ \\t]+\\w+[ \\t]*\\([ \\t\\n]*" OF_OBJECT "|"
	"^([ \\t]*)(?:async[ "
	"\\t]+)?(?:def|if|for|while|with|try|else|elif|except|finally|match|case)"
	"\\b[^\\n]*\\n(?:(?:\\1[ \\t]++[^\\n]*+)?\\n)*?\\1[ \\t]+(?:async[ \\t]+)?def[ \\t]+\\w+[ "
	"\\t]*\\([ "
	"\\t\\n]*" OF_OBJECT "|"
	"\\bdef[ \\t]+\\w+[ \\t]*\\((?:[^()]|\\([^()]*\\))*[,*][ \\t\\n]*" OF_OBJECT "|"
	"\\bstaticmethod\\b[ \\t\\n]*(?:async[ \\t]+)?def[ \\t]+\\w+[ \\t]*\\([ \\t\\n]*" OF_OBJECT,
	"(?<![.\\w])" OF_OBJECT "[ \\t]*(?::[^=\\n,()]*)?(?::=|=(?!=))|"
	"(?:^|[;:])[ \\t]*(?:[\\w.]+[ \\t]*,[ \\t]*|[(\\[*][ \\t]*)*(?<![.\\w])" OF_OBJECT
	"[ \\t]*[,)\\]][^=\\n]*=(?!=)|"
	"\\bfor[ \\t]+(?:(?!\\bin\\b)[^:\\n])*\\b" OF_OBJECT "|"
	"\\bas[ \\t]+[\\[(]*(?:[\\w, \\t]*,[ \\t]*)?" OF_OBJECT "|"
	"\\b(?:global|nonlocal|case)\\b[^\\n]*\\b" OF_OBJECT,
	"^([ \\t]*)class[ \\t]+(\\w+)[^\\n]*+\\n(?:(?:\\1[ \\t]++[^\\n]*+)?\\n)*?"
	"(?<!classmethod\\n)\\1[ \\t]++(?:async[ \\t]+)?def[ \\t]+(\\w+)[ \\t]*\\([ "
	"\\t\\n]*" OF_OBJECT "(?s:.*)\\b\\2[ \\t]*\\.[ \\t]*\\3\\b|"
	"\\btype[ \\t]*\\((?:[^()]|\\([^()]*\\))*\\)[ \\t]*\\.(?![ \\t]*__(?:name|qualname)__)",
	/* Read as something else than it looks like. */
	"^[ \\t\\f]*#[^\\n]*coding[:=][ \\t]*(?!utf-?8\\b|ascii\\b)",
	/* What is called when it is done with, or by a thread of the library's. */
	"\\bclass\\b[^\\n:]*\\([^\\n:]*IO(?:Base)?\\b|\\b(?:closing|QueueListener|faulthandler|"
	"setcontext)\\b",
	NULL,
};

const struct lang lang_python = {
	.name = "python",
	.title = "Python",
	.package = "python3",
	.libraries = true,
	.lex = lex_python,
	.keywords = keywords,
	.rules = "python.rules",
	.restricted = "sandbox/restricted/restricted.py",
	.reader = { .runs = "python", .flags = bare, .parts = { { .path = "reader/ast.py" },
						 { .path = "reader/own.py" },
						 { .path = "reader/main.py" },
						 { .path = "reader/serve.py" } },
		    .many = "many" },
	.whole = { .runs = "python",
		   .flags = bare,
		   .parts = { { .path = "reader/ast.py" },
			      { .path = "reader/own.py" },
			      { "python.allow", "\nALLOWED = r\"\"\"\n", "\"\"\"\n" },
			      { .path = "reader/layout.py" },
			      { .path = "reader/calls.py" },
			      { .path = "reader/allow.py" },
			      { .path = "reader/given.py" },
			      { .path = "reader/paths.py" },
			      { .path = "reader/closed.py" },
			      { .path = "reader/probes.py" },
			      { .path = "reader/processes.py" },
			      { .path = "reader/strict.py" },
			      { .path = "reader/main.py" },
			      { .path = "reader/serve.py" } },
		   .many = "many" },
	.compiler = "compile.py",
	.harness = {
		.program = { { "harness/codec.py", "harness/module.py", "harness/program.py" },
			     "assay_program.py" },
		.judge = { { "harness/codec.py", "harness/sites.py", "harness/tests.py",
			     "harness/judge.py", "harness/judge_objects.py",
			     "harness/judge_names.py", "harness/judge_main.py" },
			   "assay_judge.py",
			   bare },
		.together = { { "harness/sites.py", "harness/tests.py", "harness/module.py",
				"harness/together.py" },
			      "assay_harness.py" },
		.show = { { "harness/show.py" }, "assay_show.py" },
		.context = { { "harness/figures.py", "harness/context.py" }, "assay_context.py",
			     .holds = true },
		.copy = "import shutil; shutil.os.path.exists(\"/out/@\") and shutil.copy(\"/out/@\", \"@\")\n",
		.slice = { "harness/slice.py" },
		.forges = forges,
		.tests = "assay_tests.py",
		.stubs = true,
	},
	.shown = { "harness/figures.py", "sitecustomize.py", "PYTHONPATH",
		   (const char *const[]){ "matplotlib", "pylab", "seaborn", NULL } },
	.calls = { "calls/assay.py", "assay.py",
		   "`import assay`, then `assay.call(\"NAME\", {\"argument\": value})`, which returns "
		   "what JSON holds, or raises assay.Error, with a kind" },
	.assertions = "plain assert statements",
	/* Exception groups prefix every line with bars and pluses. */
	.report = {
		.start = "^[ |+]*(?:Exception Group )?Traceback \\(most recent call last\\):",
		.unstarted = "^(SyntaxError|IndentationError|TabError): (.*)$",
		.error = "^(?: +\\| )?([A-Za-z_][\\w.]*)(?:: (.*))?$",
		.frame = "^[ |]*File \"(?:[^\"\\n]*/)?%s\", line (\\d+)",
		.last_frame = true,
		.caret_margin = 4,
		.syntax = "^(?:SyntaxError|IndentationError|TabError)\\b",
		.import = "^ModuleNotFoundError: No module named '([^']+)'",
		.memory = "^(?:\\w+\\.)*(?:_Array)?MemoryError\\b",
	},
	.advice = {
		[LANG_ADVICE_KIND] = "^(?:TypeError|AttributeError|UnboundLocalError)(?::|$)",
		[LANG_ADVICE_NAME] = "^NameError(?::|$)",
		[LANG_ADVICE_ITEM] = "^(?:KeyError|IndexError|StopIteration)(?::|$)",
		[LANG_ADVICE_FORM] = "^(?:ValueError|(?:json\\.decoder\\.)?JSONDecodeError|"
			"UnicodeDecodeError|decimal\\.InvalidOperation)(?::|$)",
		[LANG_ADVICE_DIVISION] = "^ZeroDivisionError(?::|$)",
		[LANG_ADVICE_RECURSION] = "^RecursionError(?::|$)",
		[LANG_ADVICE_ASSERTION] = "^AssertionError(?::|$)",
		[LANG_ADVICE_FILE] = "^(?:FileNotFoundError|NotADirectoryError|IsADirectoryError)(?::|$)",
		[LANG_ADVICE_INPUT] = "^EOFError(?::|$)",
	},
	.reply = {
		.strong = "^(?:import [a-zA-Z_][\\w.]*(?: as \\w+)?(?:\\s*,.*)?\\s*$|from [\\w.]+ import \\S|"
			"(?:async )?def \\w+\\s*\\(|class \\w+\\s*[:(]|#!.*python|print\\(.*\\)\\s*$|"
			"(?:if|for|while|with|try|elif) ?.*:\\s*$|" ASSIGN "\\s*\\S)",
		.line = "^(?:" ASSIGN "|" CALL "|@\\w|(?:else|try|finally|except.*):|assert\\b|return\\b|del |"
			"raise\\b|global |pass$|[)\\]}\"'])",
		.files = "py",
		.members = (const char *const[]){ "python", "python_code", NULL },
		.tools = (const char *const[]){ "python", "jupyter", "code_interpreter", NULL },
		.marks = marks,
		.tags = tags,
		.imports_apart = true,
	},
	.outline = &python_outline,
};
