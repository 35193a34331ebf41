// Reads a JavaScript program from standard input, parses it with the acorn that
// node brings along (or Debian's), and prints what is in it as one line of JSON.
// It runs inside the sandbox and nothing of the program runs with it. What is
// allowed is not decided here: verifier/lang/javascript/javascript.rules has patterns for
// these facts.
//
//	import fs		a module is loaded, however that is written (? : not known)
//	use process.env.HOME	something of the host is used, under any alias: a global, or
//				what is below one, or below a module ("fs.readFileSync")
//	escape process		... is handed on to where it is not followed
//	key process		... is looked into by a name that is not known here
//	word constructor	a name that leads to the insides of objects, as a key
//	text __proto__		such a name inside a text, put together or not
//	pick			what is called was found in a function by names not known here
//	prototype Array.x	a prototype of the language is changed (? : not known which)
//	replace JSON.parse	something of the host is given another value
//	file /in/a		a file that is named; "file /in/*" begins so; "file ?" is not known
//	change /out/a		one that is removed, moved or re-permitted
//	run sort -k1,1 @	a process that is started: its words, as processes.js writes them
//	line date -u		the same, of a line for a shell
//	worker			a thread of something other than this program
//	arguments		those of the program's own wrapper
//	with			the statement
//	loop endless		a loop that nothing ends
//	no tree: parser		there is no acorn here
//	no tree: syntax		the language's parser reads it, this one does not
const fs = require("fs");
const vm = require("vm");

const FACTS_MAX = 20000;
const PER_FACT = 5;
const TEXTS_MAX = 32;

// What a value may be. NUM and CHR: no name of anything when used as a key.
const F = { NUM: 1, CHR: 2, REL: 4, ARGV: 8, INPUT: 16, UNK: 32, OBJ: 64, FUN: 128, DATA: 256, DANGER: 512,
	PROTO: 1024, GLOB: 2048 };
const MARKS = F.DATA | F.DANGER | F.PROTO;
const TEXTS = F.REL | F.ARGV | F.INPUT | F.UNK;
// Where a name that is not known may lead to a constructor of functions.
const DEEP = F.FUN | F.DATA | F.DANGER | F.PROTO | F.GLOB;

const GLOBALS = new Set(Object.getOwnPropertyNames(globalThis).concat("exports", "require", "module",
	"__filename", "__dirname", "WebSocket", "EventSource", "XMLHttpRequest", "navigator", "gc"));
const MODULES = new Set(require("module").builtinModules);
const PROCESS = new Set([...Object.keys(process), ...Object.getOwnPropertyNames(Object.getPrototypeOf(process)),
	"_load", "require", "children", "_compile"]);
const SAME = {
	global: "globalThis", self: "globalThis", "buffer.Buffer": "Buffer", "fs/promises": "fs.promises",
	"path/posix": "path", "path.posix": "path", "assert/strict": "assert", "assert.strict": "assert",
	"timers/promises": "timers.promises", "stream/promises": "stream.promises", "stream/web": "stream.web",
	"readline/promises": "readline.promises", "url.URL": "URL", performance: "perf_hooks.performance",
	"util.TextEncoder": "TextEncoder", "util.TextDecoder": "TextDecoder", "module.Module": "module",
	"dns/promises": "dns", "util/types": "util.types", crypto: "crypto.webcrypto",
};
// Names that stand for a text that is known.
const PLACES = { __filename: "/work/main.js", "import.meta.filename": "/work/main.js",
	"import.meta.url": "/work/main.js", __dirname: "/work", "import.meta.dirname": "/work" };
// Variables that are there in the sandbox: sandbox/native/keeper/payload.c.
const VARIABLES = { HOME: "/work", TMPDIR: "/tmp" };
const SET_VARIABLES = new Set(["PATH", "PWD", "OLDPWD", "SHLVL", "_", "LANG", "TZ", "LC_CTYPE", "USER", "SHELL"]);
const METHODS = new Set([Array, String, Object, Function, Map, Set, Promise, Number, RegExp, Date]
	.flatMap((c) => Object.getOwnPropertyNames(c.prototype)).filter((n) => n !== "length" && n !== "size"));
const WORDS = new Set(["constructor", "__proto__", "__defineGetter__", "__defineSetter__", "__lookupGetter__",
	"__lookupSetter__", "prepareStackTrace", "caller", "callee", "getThis", "getFunction", "mainModule"]);
const OWN_WORDS = new Set(["caller", "callee", "getThis", "getFunction", "mainModule"]); // may be a program's
const TEXT_WORDS = /__proto__|__(?:define|lookup)[GS]etter__|^constructor$|["']constructor["']|prepareStackTrace/;
const NUMBERS = /^(?:length|size|index|lastIndex|byteLength|size|mtimeMs|push|unshift|indexOf|lastIndexOf|findIndex|charCodeAt|codePointAt|test|has|includes|some|every|startsWith|endsWith|localeCompare|toFixed|search|get(?:UTC)?(?:Full)?(?:Year|Month|Date|Day|Hours|Minutes|Seconds|Milliseconds|Time)|isFile|isDirectory)$/;
const NUMBER_CALLS = /^(?:Math\..*|Number(?:\..*)?|parseInt|parseFloat|isNaN|isFinite|Date\.(?:now|UTC|parse)|Boolean|BigInt(?:\..*)?|Symbol(?:\..*)?|Buffer\.byteLength|.*\.now|performance\..*)$/;
const TO_ELEMENTS = new Set(["map", "filter", "forEach", "some", "every", "find", "findIndex", "findLast",
	"flatMap", "sort", "toSorted"]);
const SAME_AS_RECEIVER = new Set(["filter", "slice", "sort", "reverse", "toSorted", "toReversed", "flat", "values",
	"concat", "splice", "toSpliced", "subarray", "finally", "catch", "bind", "fill", "entries", "keys", "with"]);
const ONE_OF_RECEIVER = new Set(["pop", "shift", "at", "find", "findLast", "get", "next"]);
const STORES = new Set(["push", "unshift", "set", "add", "splice", "fill", "concat"]);
const TEXT_METHODS = new Set(["trim", "trimEnd", "trimStart", "toLowerCase", "toUpperCase", "toString", "split",
	"slice", "substring", "normalize", "read"]);
const FUNCTION_USERS = new Set([...TO_ELEMENTS, "reduce", "reduceRight", "then", "catch", "finally", "replace",
	"replaceAll", "apply", "call", "bind", "from", "construct", "setTimeout", "setInterval", "setImmediate",
	"nextTick", "queueMicrotask", "on", "once", "findLastIndex", "findIndex", "defineProperty", "get", "promisify"]);
const FILES = /^fs\.(?:promises\.)?(access|appendFile|chmod|chown|copyFile|cp|createReadStream|createWriteStream|exists|glob|lchmod|lchown|link|lstat|lutimes|mkdir|mkdtemp|open|openAsBlob|opendir|readFile|readdir|readlink|realpath|rename|rm|rmdir|stat|statfs|symlink|truncate|unlink|unwatchFile|utimes|watch|watchFile|writeFile|ReadStream|WriteStream)(?:Sync)?$/;
const TWO_FILES = new Set(["copyFile", "cp", "link", "rename", "symlink"]);
const CHANGE_FILES = new Set(["chmod", "chown", "lchmod", "lchown", "link", "lutimes", "rename", "rm", "rmdir",
	"symlink", "truncate", "unlink", "utimes"]);

class TooMuch extends Error {}

// A value: what it may be itself, and (e...) what may be found in it. The sets are
// shared while they are empty.
const NONE = Object.freeze(new Set());

class Value {
	constructor(f = 0) {
		this.f = f;
		this.s = NONE; // "=text" or "^beginning"
		this.h = NONE; // names of the host
		this.fn = NONE;
		this.ef = 0;
		this.es = NONE;
		this.efn = NONE;
	}

	put(set, more) {
		if (!more.size)
			return;
		if (this[set] === NONE)
			this[set] = new Set();
		for (const x of more)
			this[set].add(x);
	}

	limit(set, flags) {
		if (this[set].size > TEXTS_MAX) {
			this[set] = NONE;
			this[flags] |= F.UNK;
		}
		return this;
	}

	add(v) {
		this.f |= v.f;
		this.ef |= v.ef;
		this.put("s", v.s);
		this.put("h", v.h);
		this.put("fn", v.fn);
		this.put("es", v.es);
		this.put("efn", v.efn);
		return this.limit("s", "f").limit("es", "ef");
	}

	// v is one of the things in this.
	hold(v) {
		this.ef |= v.f | v.ef;
		this.put("es", v.s);
		this.put("es", v.es);
		this.put("efn", v.fn);
		this.put("efn", v.efn);
		return this.limit("es", "ef");
	}

	element() {
		const v = new Value(this.ef);
		v.ef = this.ef;
		v.put("s", this.es);
		v.put("es", this.es);
		v.put("fn", this.efn);
		v.put("efn", this.efn);
		for (const x of this.s)
			if (x[0] === "=")
				v.f |= F.CHR;
		if (this.f & TEXTS && !this.ef)
			v.f |= this.f & TEXTS;
		return v;
	}

	get size() {
		return this.s.size + this.h.size + this.fn.size + this.es.size + this.efn.size + this.f + this.ef;
	}

	static text(s) {
		const v = new Value();
		v.s = new Set(["=" + s]);
		return v;
	}

	static host(name) {
		const v = new Value();
		if (Object.hasOwn(PLACES, name))
			return Value.text(PLACES[name]);
		v.h = new Set([name]);
		if (name === "process.argv" || name === "process.execArgv")
			v.f = F.OBJ, v.ef = F.ARGV;
		return v;
	}
}

class Var {
	constructor() {
		this.sources = []; // () => Value
		this.inits = []; // nodes
		this.writes = 0;
		this.refs = [];
	}

	// The only thing it ever holds, or null.
	only() {
		return this.writes === 1 && this.inits.length === 1 ? this.inits[0] : null;
	}

	// No reference changes what is in it.
	keeps() {
		return this.refs.every((n) => {
			const p = n.$up;
			if (p.type === "SpreadElement" || (p.type === "ForOfStatement" && p.right === n))
				return true;
			if (p.type !== "MemberExpression" || p.object !== n)
				return false;
			const over = p.$up;
			if (over.type === "AssignmentExpression" && over.left === p || over.type === "UpdateExpression"
			    || over.type === "UnaryExpression" && over.operator === "delete")
				return false;
			return p.computed ? !(over.type === "CallExpression" && over.callee === p)
				: !CHANGES.has(p.property.name);
		});
	}
}

class Scope {
	constructor(parent, isFunction) {
		this.parent = parent;
		this.isFunction = isFunction;
		this.vars = new Map();
	}

	declare(name) {
		if (!this.vars.has(name))
			this.vars.set(name, new Var());
		return this.vars.get(name);
	}

	function() {
		let s = this;
		while (!s.isFunction)
			s = s.parent;
		return s;
	}

	find(name) {
		for (let s = this; s; s = s.parent)
			if (s.vars.has(name))
				return s.vars.get(name);
		return null;
	}
}

function* children(node) {
	for (const key of Object.keys(node)) {
		if (key[0] === "$")
			continue;
		const v = node[key];
		for (const c of Array.isArray(v) ? v : [v])
			if (c && typeof c.type === "string")
				yield c;
	}
}

const isFunction = (n) => /Function/.test(n.type);
const isClass = (n) => n.type === "ClassDeclaration" || n.type === "ClassExpression";

// --- first pass: who is declared where ---

function declarePattern(p, scope) {
	if (!p)
		return;
	if (p.type === "Identifier")
		scope.declare(p.name);
	else if (p.type === "Property")
		declarePattern(p.value, scope);
	else if (p.type === "AssignmentPattern")
		declarePattern(p.left, scope);
	else if (p.type === "RestElement")
		declarePattern(p.argument, scope);
	else
		for (const x of p.properties || p.elements || [])
			declarePattern(x, scope);
}

function declare(node, scope, strict, up) {
	node.$up = up;
	if (node.type === "FunctionDeclaration" || node.type === "ClassDeclaration") {
		if (node.id) {
			scope.declare(node.id.name);
			if (isFunction(node) && !strict)
				scope.function().declare(node.id.name);
		}
	} else if (node.type === "VariableDeclaration") {
		for (const d of node.declarations)
			declarePattern(d.id, node.kind === "var" ? scope.function() : scope);
	} else if (/^Import\w*Specifier$/.test(node.type)) {
		scope.declare(node.local.name);
	}
	if (isFunction(node)) {
		scope = new Scope(scope, true);
		if (node.id && node.type === "FunctionExpression")
			scope.declare(node.id.name);
		for (const p of node.params)
			declarePattern(p, scope);
		strict = strict || (node.body.body || []).some?.((s) => s.directive === "use strict");
		node.$returns = [];
		node.$args = [];
	} else if (isClass(node)) {
		scope = new Scope(scope, false);
		if (node.id)
			scope.declare(node.id.name);
		strict = true;
	} else if (/^(?:BlockStatement|For\w*Statement|SwitchStatement|CatchClause|StaticBlock)$/.test(node.type)) {
		scope = new Scope(scope, node.type === "StaticBlock");
		if (node.param)
			declarePattern(node.param, scope);
	}
	node.$scope = scope;
	node.$strict = strict;
	for (const c of children(node))
		declare(c, scope, strict, node);
}

