/*
 * JavaScript, as everything outside the sandbox knows it: its row. What runs it is the row of its
 * name in sandbox/language.c, and nothing but this folder names it.
 */
#include "verifier/lang/javascript/javascript.h"

#define CALL "[A-Za-z_$][\\w.$]*\\(.*"

static const char *const keywords[] = {
	"async",      "await",	 "break",  "case",     "catch", "class",  "const",
	"continue",   "default", "delete", "do",       "else",	"export", "extends",
	"false",      "finally", "for",	   "function", "if",	"import", "in",
	"instanceof", "let",	 "new",	   "null",     "of",	"return", "static",
	"super",      "switch",	 "this",   "throw",    "true",	"try",	  "typeof",
	"undefined",  "var",	 "void",   "while",    "yield", NULL,
};

static const struct lang_tag tags[] = {
	{ "<javascript>", "<javascript>", "</javascript>" },
	{ NULL, NULL, NULL },
};

/* acorn, which tells what a cell declares, is part of node, behind a flag. */
static const char *const inside[] = { "--no-warnings", "--expose-internals", NULL };

/* What prints or compares for every cell rebound, or reached in a way that its text does
 * not show; what runs beside or after the cell. */
#define OF_ALL                                                                                     \
	"(?:console|process|globalThis|JSON|Math|Object|Array|String|Number|Date|Promise|require|" \
	"display)"
#define LOOP_NAME "(?:(?!\\b" OF_ALL "\\b)[\\w$,: \\t])"
static const char *const forges[] = {
	"\\b(?:console|process|globalThis|global|module|exports|JSON|Math|Object|Array|String|"
	"Number|"
	"Date|Promise|Reflect|Symbol)\\b(?:\\.\\w+)*[ \\t]*(?:=(?![=>])|\\[)",
	"\\b(?:prototype|__proto__|defineProperty|defineProperties|setPrototypeOf|assign|Proxy|"
	"eval|"
	"Function|vm|child_process|worker_threads|setInterval|on|once|addListener|internalBinding|"
	"createRequire|_load|writeSync|writev|FinalizationRegistry|fd)\\b|/proc/|/dev/fd|"
	"\\bwrite\\w*[ \\t]*\\([ \\t\\n]*\\d",
	/* In what a loop goes through nothing is declared. */
	"\\b(?:var|let|const|import)\\b(?![ \\t]+(?:" LOOP_NAME "+|\\[" LOOP_NAME
	"*\\]|\\{" LOOP_NAME "*\\})[ \\t]+(?:of|in)\\b)[^=\\n;]*\\b" OF_ALL
	"\\b[^=\\n;]*(?:=|\\(|\\{|from)",
	/* What a function has for parameters and within is its own. */
	"\\b(?:function|class)\\b(?:[\\s*]|/\\*[\\s\\S]*?\\*/|//[^\\n]*\\n)*" OF_ALL "\\b",
	"\\b[A-Za-z_$][\\w$]*(?:\\.[\\w$]+)*\\.(?:log|write|stringify|parse|equal|strictEqual|ok|"
	"deepEqual|assert)[ \\t]*=(?![=>])",
	NULL,
};

const struct lang lang_javascript = {
	.name = "javascript",
	.title = "JavaScript",
	.package = "nodejs",
	.lex = lex_javascript,
	.keywords = keywords,
	.rules = "javascript.rules",
	/* acorn is part of node, behind a flag; a long sum is a deep tree. */
	.reader = { .runs = "javascript",
		    .flags = (const char *const[]){ "--no-warnings", "--expose-internals",
						    "--stack-size=6000", NULL },
		    .parts = { { .path = "reader/fold.js" },
			       { .path = "reader/names.js" },
			       { .path = "reader/flow.js" },
			       { .path = "reader/calls.js" },
			       { .path = "reader/values.js" },
			       { .path = "reader/processes.js" },
			       { .path = "reader/facts.js" } } },
	.harness = {
		.program = { { "harness/codec.js", "harness/side.js", "harness/pipe.js",
			       "harness/program.js" }, "assay_program.js" },
		.judge = { { "harness/codec.js", "harness/side.js", "harness/pipe.js",
			     "harness/assertions.js", "harness/sites.js", "harness/doubts.js",
			     "harness/judge.js" },
			   "assay_judge.js" },
		.together = { { "harness/assertions.js", "harness/together.js" },
			      "assay_harness.js" },
		.show = { { "harness/show.js" }, "assay_show.js" },
		.context = { { "harness/context.js" }, "assay_context.js", inside },
		.slice = "harness/slice.js",
		.copy = "require(\"fs\").copyFileSync(\"/out/@\", \"@\");\n",
		.forges = forges,
		.tests = "assay_tests.js",
	},
	.calls = { "calls/assay.js", "assay.js",
		   "`const assay = require(\"./assay.js\")`, then `assay.call(\"NAME\", { argument: value "
		   "})`, which returns what JSON holds, or throws an Error, with a kind" },
	.assertions = "console.assert",
	.report = {
		.error = "^(?:Uncaught )?([A-Z]\\w*(?:Error|Exception|Warning)?)"
			 "(?: \\[\\w+\\])?: (.*)$",
		.frame = "%s:(\\d+)(?::(\\d+))?",
		.syntax = "^SyntaxError\\b",
		.import = "Cannot find (?:module|package) '([^']+)'",
		.memory = "^(?:RangeError: (?:Invalid array length|Array buffer allocation "
			  "failed))|heap out of memory",
	},
	.advice = {
		[LANG_ADVICE_KIND] = "^TypeError(?::|$)",
		[LANG_ADVICE_NAME] = "^ReferenceError(?::|$)",
		[LANG_ADVICE_ITEM] = "^RangeError(?::|$)",
		[LANG_ADVICE_ASSERTION] = "^AssertionError(?::|$)",
	},
	.reply = {
		.strong = "^(?:const |let |var |function\\s*\\*?\\s*\\w*\\s*\\(|async function|console\\.\\w+\\(|"
			"import .* from |class \\w+ (?:extends \\w+ )?\\{|'use strict'|\"use strict\"|"
			"(?:if|for|while) \\(.*\\{\\s*$)",
		.line = "^(?:" CALL "|[\\w.$]+\\s*=|[})\\]]|module\\.|export |return\\b|throw |try \\{)",
		.files = "m?js",
		.members = (const char *const[]){ "javascript", NULL },
		.tools = (const char *const[]){ "javascript", "node", NULL },
		.tags = tags,
	},
	.outline = &javascript_outline,
};
