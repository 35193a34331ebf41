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
#define ERRORS \
	"(?:Aggregate|Assertion|Eval|Internal|Range|Reference|Suppressed|Syntax|Type|URI)?Error"
#define OF_ALL                                                                                     \
	"(?:console|process|globalThis|JSON|Math|Object|Array|String|Number|Date|Promise|require|" \
	"display|parseInt|parseFloat|isNaN|isFinite|Map|Set|WeakMap|BigInt|Boolean|RegExp|Buffer|" \
	"Intl|Reflect|Symbol|structuredClone|setTimeout|setImmediate|queueMicrotask|URL|"          \
	"URLSearchParams|TextDecoder|TextEncoder|atob|btoa|fetch|escape|unescape|Iterator|"        \
	"(?:en|de)codeURI(?:Component)?|(?:Big)?(?:Ui|I)nt\\d+Array|Float\\d+Array|" ERRORS ")"
#define LOOP_NAME   "(?:(?!\\b" OF_ALL "\\b)[\\w$,: \\t])"
#define ASSIGNED_BY "\\s*(?:[-+*/%&|^]|\\*\\*|<<|>>>?|&&|\\|\\||\\?\\?)?=(?![=>])"
/* What a stream of lines tells ends with it, before the cell does. */
#define OF_LINES "\\b(?:rl|process\\.stdin)\\.(?:on|once)(?=\\(\\s*['\"])"
/* \3 of a function, or of what catches. */
#define PARAMETER                                                                            \
	"(?:\\b(?!(?:if|for|while|switch)\\b)[\\w$]+\\s*" IN_BRACKETS "\\s*\\{|" IN_BRACKETS \
	"\\s*=>)"
#define IN_BRACKETS "\\((?:[^()]|\\([^()]*\\))*\\b\\3\\b(?:[^()]|\\([^()]*\\))*\\)"
/* But to a name whose only value is an object that is written out. */
#define ASSIGNED_TO_OWN                                                                            \
	"(?!\\s*\\(\\s*([A-Za-z_$][\\w$]*)\\s*,)|"                                                 \
	"\\bassign\\b(?=\\s*\\(\\s*([A-Za-z_$][\\w$]*)\\s*,)"                                      \
	"(?!\\s*\\(\\s*(?:acc|out|result|copy|merged|target|options|opts|obj|o)\\s*,)|"            \
	"\\A(?=[\\s\\S]*?\\bassign\\s*\\(\\s*(acc|out|result|copy|merged|target|options|opts|obj|" \
	"o)\\s*,)"                                                                                 \
	"(?=[\\s\\S]*?(?:\\b\\3\\b\\s*(?:\\|\\||&&|\\?\\?)?=(?!\\s*\\{|=)|"                        \
	"[\\[{,(:]\\s*\\3\\s*[,}\\])]+\\s*(?:=(?!=)|from\\b|of\\b|in\\b)|"                         \
	"\\bimport\\b[^;\\n]*\\b\\3\\b|\\b\\3\\s+(?:of|in)\\b|" PARAMETER "))"
/* From a bracket to something in it. */
#define STRING "(?:'(?:[^'\\\\\\n]|\\\\.)*'|\"(?:[^\"\\\\\\n]|\\\\.)*\"|`[^`]*`)"
#define IN_KEY "\\[(?:[^\\[\\]\\n'\"`]|" STRING "|\\[[^\\]\\n]*\\])*?"
#define PIECE  "['\"`][construpye_]+['\"`]"
#define DECODED                                                                               \
	"\\b(?:(?:atob|decodeURI\\w*|unescape|Buffer\\s*\\.\\s*from)\\s*\\(|from(?:CharCode|" \
	"CodePoint)\\s*\\([^(),]*,)"
static const char *const forges[] = {
	"(?<![.\\w$])(?!process\\.exitCode\\s*=\\s*\\d+\\s*(?:[;}]|$))(?:" OF_ALL
	"|global|module|exports)\\b(?:\\s*\\??\\.\\s*[\\w$]+)*"
	"(?:" ASSIGNED_BY "|\\s*\\[)",
	OF_LINES "(*SKIP)(*FAIL)|\\b(?:on|once|emit|with|fd|unref)\\b|"
		 "\\bassign\\b(?!\\s*\\(\\s*(?:\\{[^{}]*\\}|\\[\\s*\\])\\s*,)" ASSIGNED_TO_OWN "|"
		 "\\bwrite\\w*[ \\t]*\\([ \\t\\n]*\\d|\\bReflect\\s*\\.\\s*(?!ownKeys|has\\b)|"
		 "\\.\\s*constructor\\b|\\brequire\\s*\\.\\s*(?!resolve\\b)",
	/* What nobody waits for at the end of a cell. */
	"\\bonabort\\b|\\bpersistent\\b|\\bwaitAsync\\b|"
	"\\b(?:PerformanceObserver|MessageChannel|BroadcastChannel)\\b|"
	"\\bwatch(?:File)?\\s*\\(|(?<!signal: )\\bAbortSignal\\s*\\.\\s*timeout\\b",
	/* The things of all by another name. */
	"(?<![.\\w$'\"`])(?:console|process|globalThis|global|JSON|Math|Reflect)\\b"
	"(?![\\w$])(?!\\s*\\??\\.|['\"`]\\s*\\))|"
	"\\bprocess\\s*\\.\\s*(?!(?:argv|exit|env|cwd|memoryUsage|hrtime|stdin|uptime|version|"
	"versions|exitCode(?=\\s*=\\s*\\d+\\s*(?:[;}]|$))|"
	"platform|arch|stderr|nextTick|pid|stdout\\s*\\.\\s*write)\\b)",
	/* In what a loop goes through nothing is declared. */
	"\\b(?:var|let|const|import)\\b(?![ \\t]+(?:" LOOP_NAME "+|\\[" LOOP_NAME
	"*\\]|\\{" LOOP_NAME "*\\})[ \\t]+(?:of|in)\\b)[^=\\n;]*\\b" OF_ALL
	"\\b(?!\\s*:|\\s+as\\b)[^=\\n;]*(?:=|\\(|\\{|from)",
	/* What a function has for parameters and within is its own. */
	"\\b(?:function|class)\\b(?:[\\s*]|/\\*[\\s\\S]*?\\*/|//[^\\n]*\\n)*" OF_ALL "\\b",
	"\\b[A-Za-z_$][\\w$]*(?:\\s*\\.\\s*[\\w$]+)*\\s*\\.\\s*(?:log|write|stringify|parse|equal|"
	"strictEqual|ok|deepEqual|assert|error|table|emit|inspect|format|promises|join|"
	"\\w+Sync|\\w*Stream)" ASSIGNED_BY,
	/* A part of what a call gave, of one target of several, or of what a module is called. */
	"\\)\\s*\\.\\s*[\\w$]+" ASSIGNED_BY "|"
	"\\b(?:fs|path|util|os|assert|events|stream|url|zlib|crypto|readline|http|https|buffer|"
	"querystring|perf_hooks|timers|string_decoder)(?:\\s*\\.\\s*[\\w$]+)+" ASSIGNED_BY "|"
	"\\b(?:const|let|var)\\s+([\\w$]+)\\s*=\\s*(?:require\\s*\\(|await\\s+import)[\\s\\S]*"
	"\\b\\1(?:\\s*\\.\\s*[\\w$]+|\\s*\\[[^\\]]*\\])+" ASSIGNED_BY "|"
	"(?:(?<![\\w$)\\]])\\[|[{,:])\\s*[A-Za-z_$][\\w$]*(?:\\s*\\.\\s*[\\w$]+)+\\s*(?:,[^=;\\n]*)"
	"?[\\]}]\\s*(?:\\)\\s*)?=(?![=>])|"
	"\\bfor\\s*(?:await\\s*)?\\(\\s*(?!(?:const|let|var)\\b)[\\w$]+\\s*[.\\[]",
	"(?:(?<![\\w$)\\]])\\[|[{,:])\\s*" OF_ALL "\\s*(?:,[^=;\\n]*)?[\\]})]+\\s*=(?![=>])",
	/* A letter by its number. */
	"[\\w$.]\\\\u|\\\\u(?:\\{[\\da-fA-F]+\\}|[\\da-fA-F]{4})[\\w$]*\\s*[.=(]",
	/* Modules, and things of all, handed on by their names. */
	"[(,\\[:]\\s*(?:await\\s+import|require)\\s*\\([^()]*\\)\\s*[,)\\]}]|"
	"\\b(?:(?:const|let|var)\\s+([\\w$]+)\\s*=\\s*(?:require\\s*\\(|await\\s+import)|"
	"import\\s+(?:\\*\\s*as\\s+)?([\\w$]+)\\s+from\\b)[\\s\\S]*[({,\\[=:]\\s*(?:\\1|\\2)\\s*[,)"
	"\\]};]",
	"(?:&&|\\|\\||\\?\\??|=>|\\breturn\\b|[=\\[])\\s*" OF_ALL "\\s*[,)\\];}]|"
	"(?:&&|\\|\\||\\?\\??|=>|\\breturn\\b)\\s*" OF_ALL "[ \\t]*$|"
	/* A part of a module by a name of its own. */
	"(?:\\{[^{}]*\\b([\\w$]+)\\s*(?:,[^{}]*)?\\}\\s*(?:=\\s*(?:require|await\\s+import)\\s*\\(|"
	"from\\b))"
	"[\\s\\S]*\\b\\1(?:\\s*\\.\\s*[\\w$]+|\\s*\\[[^\\]]*\\])+" ASSIGNED_BY "|"
	"\\b(?:const|let|var)\\s+([\\w$]+)\\s*=\\s*(?:require\\s*\\(|await\\s+import)[\\s\\S]*?"
	"\\b([\\w$]+)\\s*=\\s*\\2\\s*(?:\\.\\s*[\\w$]+\\s*)+[;,)\\n][\\s\\S]*"
	"\\b\\3(?:\\s*\\.\\s*[\\w$]+|\\s*\\[[^\\]]*\\])+" ASSIGNED_BY "|"
	"(?<!map)(?<!filter)[({,\\[=]\\s*(?:Object|Array|Date|Intl|Buffer|Map|Set|Promise|"
	"Symbol)\\s*[,)\\]};]",
	/* What `this` is outside of a class has the names of all. */
	"\\A(?:\\bclass\\b[^{]*(\\{(?:[^{}]++|(?1))*+\\})|"
	"(?!\\bthis\\s*(?:\\.\\s*[\\w$]|\\[)|[=(,\\[>]\\s*this\\s*[;,)\\]\\n]|\\breturn[ "
	"\\t]+this\\b)"
	"[\\s\\S])*+(?:[=(,\\[>]\\s*|return[ \\t]+)?\\bthis\\b",
	"Symbol\\s*\\.\\s*for\\b",
	NULL,
};
/* In strings, too, for these name parts and modules. */
static const char *const forges_text[] = {
	"\\bprototype\\b(?!\\s*\\.\\s*(?:hasOwnProperty|toString|slice)\\s*\\.\\s*call\\s*\\()|"
	"\\b(?:__proto__|defineProperty|defineProperties|setPrototypeOf|getPrototypeOf|"
	"Proxy|eval|Function|vm|child_process|worker_threads|setInterval|"
	"addListener|addEventListener|internalBinding|createRequire|_load|writeSync|writev|"
	"FinalizationRegistry|node_modules|defaultOptions|__define\\w+|"
	"AsyncLocalStorage|async_hooks|diagnostics_channel|inspector)\\b|/proc/|/dev/fd",
	/* A key that is put together, of pieces of what no key may be. */
	IN_KEY "(?:" PIECE "\\s*\\+|\\+\\s*" PIECE ")",
	"['\"`](?:constr|constru|construct?|constructo|onstructor|nstructor|structor|tructor|"
	"ructor|uctor|ctor|rototype|ototype|totype|otype|protot|prototyp?|__prot?o?|r?oto__|"
	"proto__|to__)['\"`]|"
	"(?i)['\"`][^'\"`\\s]*(?:c\\W?o\\W?n\\W?s\\W?t\\W?r\\W?u\\W?c\\W?t\\W?o\\W?r|"
	"r\\W?o\\W?t\\W?c\\W?u\\W?r\\W?t\\W?s\\W?n\\W?o\\W?c)[^'\"`\\s]*['\"`]"
	"(?=\\s*\\.)",
	/* Or of bytes. */
	IN_KEY DECODED "|"
		       "\\b(?:const|let|var)\\s+([\\w$]+)\\s*=[^;\\n]*" DECODED
		       "[\\s\\S]*\\[\\s*\\1\\s*\\]",
	/* A name that is put together of pieces. */
	"(['\"`])\\w+\\1\\s*\\+\\s*(['\"`])\\w+\\2|\\[(?:\\s*['\"`]\\w*['\"`]\\s*,?)+\\]\\s*\\.\\s*"
	"(?:join\\s*\\(\\s*['\"`]['\"`]|reverse|reduce)|\\.\\s*split\\s*\\(\\s*['\"`]['\"`]\\s*\\)"
	"\\s*\\.\\s*"
	"reverse\\(\\)\\s*\\.\\s*join\\s*\\([^)]*\\)\\s*\\]",
	"(?s)\\A(?=.*?\\btimers\\b).*?\\K\\bref\\b",
	"['\"`](?:on|once|emit|with|fd|unref|assign|constructor|prependListener)['\"`]\\s*[\\]:]|"
	"\\[\\s*['\"`][^'\"`\\]\\n]*\\\\[ux0-7]|['\"`][^'\"`\\n]*\\\\[ux][^'\"`\\n]*['\"`]\\s*:",
	"\\b(?:require|import)\\s*\\((?!\\s*['\"`][ \\w:@./-]+['\"`]\\s*\\))|"
	"\\bfrom\\s*['\"][^'\"\\n]*\\\\",
	NULL,
};

/* Of JSON.parse and BigInt. */
#define READ_AS ": (?:[^\\n]*\\bJSON\\b|Cannot convert )"

const struct lang lang_javascript = {
	.name = "javascript",
	.title = "JavaScript",
	.package = "nodejs",
	.lex = lex_javascript,
	.sure = sure_javascript,
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
		.slice = { "harness/needs.js", "harness/slice.js" },
		.copy = "if (require(\"fs\").existsSync(\"/out/@\")) require(\"fs\").copyFileSync(\"/out/@\", \"@\");\n",
		.forges = { forges, forges_text, NULL },
		.tests = "assay_tests.js",
	},
	.calls = { "calls/assay.js", "assay.js",
		   "`const assay = require(\"./assay.js\")`, then `assay.call(\"NAME\", { argument: value "
		   "})`, which returns what JSON holds, or throws an Error, with a kind" },
	.refusal = "refusal.js",
	.assertions = "console.assert",
	.report = {
		.error = "^(?:Uncaught )?([A-Z]\\w*(?:Error|Exception|Warning)?)"
			 "(?: \\[\\w+\\])?: (.*)$",
		.frame = "%s:(\\d+)(?::(\\d+))?",
		/* What a text that is read at run time is not is no error of the program's text. */
		.syntax = "^SyntaxError\\b(?!" READ_AS ")",
		.import = "Cannot find (?:module|package) '([^']+)'",
		.memory = "^(?:RangeError: (?:Invalid array length|Array buffer allocation "
			  "failed))|heap out of memory",
	},
	.advice = {
		[LANG_ADVICE_KIND] = "^TypeError(?::|$)",
		[LANG_ADVICE_NAME] = "^ReferenceError(?::|$)",
		[LANG_ADVICE_ITEM] = "^RangeError(?::|$)(?! (?:Maximum call stack|Division by zero|"
			"Invalid time value|Invalid code point|The number .* cannot be converted))",
		[LANG_ADVICE_FORM] = "^SyntaxError" READ_AS "|^URIError(?::|$)|"
			"^RangeError: (?:Invalid time value|Invalid code point|The number )",
		[LANG_ADVICE_DIVISION] = "^RangeError: Division by zero",
		[LANG_ADVICE_RECURSION] = "^RangeError: Maximum call stack",
		[LANG_ADVICE_ASSERTION] = "^AssertionError(?::|$)",
		[LANG_ADVICE_FILE] = "^Error: (?:ENOENT|ENOTDIR|EISDIR)\\b",
		[LANG_ADVICE_INPUT] = "^Error: (?:EOF: end of file|readline was closed)",
		[LANG_ADVICE_MOVE] = "^Error: EXDEV:",
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
