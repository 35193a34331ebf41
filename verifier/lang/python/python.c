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

const struct lang lang_python = {
	.name = "python",
	.title = "Python",
	.package = "python3",
	.libraries = true,
	.lex = lex_python,
	.sure = sure_python,
	.keywords = keywords,
	.rules = "python.rules",
	.restricted = "sandbox/restricted/restricted.py",
	.reader = { .runs = "python", .flags = bare, .parts = { { .path = "reader/ast.py" },
						 { .path = "reader/own.py" },
						 { .path = "reader/main.py" },
						 { .path = "/serve.py" } },
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
			      { .path = "/serve.py" } },
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
		.forges = { python_forges, python_forges_text, python_forges_flat, python_parts,
			    .loads = "\\.(?:py[cwd]?|so)$" },
		.tests = "assay_tests.py",
		.stubs = true,
	},
	.shown = { "harness/figures.py", "sitecustomize.py", "PYTHONPATH",
		   (const char *const[]){ "matplotlib", "pylab", "seaborn", NULL } },
	.calls = { "calls/assay.py", "assay.py",
		   "`import assay`, then `assay.call(\"NAME\", {\"argument\": value})`, which returns "
		   "what JSON holds, or raises assay.Error, with a kind" },
	.refusal = "refusal.py",
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
		[LANG_ADVICE_MOVE] = "^OSError: \\[Errno 18\\]",
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
