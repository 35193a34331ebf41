// What an expression is when all that goes into it is written in the program:
// escapes, concatenation, arrays of codes, small functions that decode. Only
// operations of this list are done, on values made here; nothing of the program
// is called. The first half of the reader of JavaScript: names.js follows.
"use strict";

const posix = require("path").posix;

const LENGTH_MAX = 20000;
const STEPS_MAX = 4000; // of one expression
const ALL_STEPS_MAX = 1000000; // a program of 100 KiB takes a tenth; what would not be looked at is not passed

const PURE = {
	string: new Set(["at", "charAt", "charCodeAt", "codePointAt", "concat", "endsWith", "includes",
		"indexOf", "lastIndexOf", "match", "normalize", "padEnd", "padStart", "repeat", "replace",
		"replaceAll", "search", "slice", "split", "startsWith", "substr", "substring", "toLowerCase",
		"toString", "toUpperCase", "trim", "trimEnd", "trimStart", "valueOf"]),
	number: new Set(["toFixed", "toPrecision", "toString", "valueOf"]),
	boolean: new Set(["toString", "valueOf"]),
	array: new Set(["at", "concat", "every", "filter", "find", "findIndex", "flat", "flatMap", "includes",
		"indexOf", "join", "lastIndexOf", "map", "reduce", "reduceRight", "reverse", "slice", "some",
		"sort", "toReversed", "toSorted", "toString", "with"]),
	bytes: new Set(["toString", "at", "reverse", "slice", "subarray", "map"]),
};
// Those that change the array they are called on.
const CHANGES = new Set(["copyWithin", "fill", "pop", "push", "reverse", "shift", "sort", "splice", "unshift"]);

const bytes = (x, how) => Buffer.from(x, how);
const FUNCTIONS = {
	String: (...a) => String(...a), Number: (...a) => Number(...a), Boolean, parseInt, parseFloat,
	atob, btoa, escape, unescape, decodeURI, decodeURIComponent, encodeURI, encodeURIComponent,
	"String.fromCharCode": String.fromCharCode, "String.fromCodePoint": String.fromCodePoint,
	"Math.floor": Math.floor, "Math.round": Math.round, "Math.abs": Math.abs, "Math.ceil": Math.ceil,
	"Math.max": Math.max, "Math.min": Math.min, "Math.pow": Math.pow, "Math.sqrt": Math.sqrt,
	"Math.trunc": Math.trunc, "Number.parseInt": parseInt, "Number.parseFloat": parseFloat,
	"Array.of": Array.of, "Array.from": (x, f) => Array.from(listLike(x), f),
	"Object.keys": Object.keys, "Object.values": Object.values, "Object.entries": Object.entries,
	"JSON.parse": (text) => JSON.parse(String(text)), "JSON.stringify": (x) => JSON.stringify(x),
	"Buffer.from": bytes, "Buffer.concat": (list) => Buffer.concat(list),
	"path.join": posix.join, "path.resolve": (...a) => posix.resolve("/work", ...a),
	"path.normalize": posix.normalize, "path.dirname": posix.dirname, "path.basename": posix.basename,
	"path.extname": posix.extname, "url.fileURLToPath": (u) => String(u).replace(/^file:\/\//, ""),
	URL: (u) => String(u), "util.format": (f, ...a) => require("util").format(String(f), ...a.map(String)),
};

class NotConstant extends Error {}
Error.stackTraceLimit = 0; // one is made for every expression that is none
const GIVEN_UP = {};

function listLike(x) {
	if (typeof x === "string" || Array.isArray(x) || Buffer.isBuffer(x))
		return x;
	if (x && Number.isInteger(x.length) && x.length <= LENGTH_MAX)
		return { length: x.length };
	throw new NotConstant();
}

function kindOf(x) {
	return Array.isArray(x) ? "array" : Buffer.isBuffer(x) ? "bytes" : typeof x;
}

// An object that the program wrote out: no inherited name is ever looked up in it.
function isRecord(x) {
	return typeof x === "object" && x !== null && Object.getPrototypeOf(x) === null;
}

const OPERATORS = {
	"+": (a, b) => a + b, "-": (a, b) => a - b, "*": (a, b) => a * b, "/": (a, b) => a / b,
	"%": (a, b) => a % b, "**": (a, b) => a ** b, "&": (a, b) => a & b, "|": (a, b) => a | b,
	"^": (a, b) => a ^ b, "<<": (a, b) => a << b, ">>": (a, b) => a >> b, ">>>": (a, b) => a >>> b,
	"==": (a, b) => a == b, "!=": (a, b) => a != b, "===": (a, b) => a === b, "!==": (a, b) => a !== b,
	"<": (a, b) => a < b, ">": (a, b) => a > b, "<=": (a, b) => a <= b, ">=": (a, b) => a >= b,
};
const UNARY = {
	"-": (a) => -a, "+": (a) => +a, "!": (a) => !a, "~": (a) => ~a, typeof: (a) => typeof a,
	void: () => undefined,
};

class Folder {
	// program: tells what names are bound to (values.js)
	constructor(program) {
		this.program = program;
		this.steps = 0;
		this.left = ALL_STEPS_MAX;
		this.known = new Map();
		this.depth = 0;
	}

	// More may be known by now; what is a constant stays one.
	again() {
		for (const [node, found] of this.known)
			if (!found)
				this.known.delete(node);
	}

	step() {
		if (--this.left < 0)
			throw new TooMuch("more constants than screening looks at");
		if (++this.steps > STEPS_MAX)
			throw new NotConstant();
	}

	// { v } or null
	constant(node) {
		if (this.known.has(node)) {
			const before = this.known.get(node);
			return before === GIVEN_UP ? null : before;
		}
		this.known.set(node, null);
		let found = null;
		if (!this.depth++)
			this.steps = 0;
		try {
			found = { v: this.fold(node, null) };
		} catch (e) {
			if (e instanceof TooMuch || e instanceof RangeError && /call stack/.test(e.message))
				throw e;
			if (this.steps > STEPS_MAX)
				found = this.giveUp(node);
		} finally {
			this.depth--;
		}
		this.known.set(node, found);
		return found && found !== GIVEN_UP ? found : null;
	}

	// So are the sums that a long one begins with, each of which would take as long.
	giveUp(node) {
		for (let n = node.left; node.type === "BinaryExpression" && n && n.type === "BinaryExpression"; n = n.left)
			this.known.set(n, GIVEN_UP);
		return GIVEN_UP;
	}

	fold(node, env) {
		const f = this["fold" + node.type];
		this.step();
		if (!f)
			throw new NotConstant();
		const v = f.call(this, node, env);
		if (typeof v === "function" || (Array.isArray(v) && v.some((x) => typeof x === "function")))
			throw new NotConstant();
		if ((typeof v === "string" || kindOf(v) === "array" || kindOf(v) === "bytes") && v.length > LENGTH_MAX)
			throw new NotConstant();
		return v;
	}

	foldLiteral(node) {
		return node.regex ? new RegExp(node.regex.pattern, node.regex.flags) : node.value;
	}

	foldChainExpression(node, env) {
		return this.fold(node.expression, env);
	}

	foldAwaitExpression(node, env) {
		return this.fold(node.argument, env);
	}

	text(v) {
		if (isRecord(v))
			return "[object Object]";
		return String(v);
	}

	foldTemplateLiteral(node, env) {
		return node.quasis.map((q, i) => q.value.cooked +
			(i < node.expressions.length ? this.text(this.fold(node.expressions[i], env)) : "")).join("");
	}

	foldTaggedTemplateExpression(node, env) {
		if (this.program.hostName(node.tag) !== "String.raw")
			throw new NotConstant();
		return node.quasi.quasis.map((q, i) => q.value.raw + (i < node.quasi.expressions.length
			? this.text(this.fold(node.quasi.expressions[i], env)) : "")).join("");
	}

	foldUnaryExpression(node, env) {
		if (!Object.hasOwn(UNARY, node.operator))
			throw new NotConstant();
		return UNARY[node.operator](this.fold(node.argument, env));
	}

	foldBinaryExpression(node, env) {
		if (!Object.hasOwn(OPERATORS, node.operator))
			throw new NotConstant();
		const [a, b] = [node.left, node.right].map((n) => this.fold(n, env))
			.map((v) => isRecord(v) ? "[object Object]" : v);
		return OPERATORS[node.operator](a, b);
	}

	foldLogicalExpression(node, env) {
		const left = this.fold(node.left, env);
		if (node.operator === "&&" ? !left : node.operator === "||" ? left : left != null)
			return left;
		return this.fold(node.right, env);
	}

	foldConditionalExpression(node, env) {
		return this.fold(this.fold(node.test, env) ? node.consequent : node.alternate, env);
	}

	foldSequenceExpression(node, env) {
		return node.expressions.map((n) => this.fold(n, env)).pop();
	}

	foldIdentifier(node, env) {
		if (env && env.has(node.name))
			return env.get(node.name);
		if (!node.$var && ["undefined", "NaN", "Infinity"].includes(node.name))
			return { undefined, NaN, Infinity }[node.name];
		const init = node.$var && node.$var.only();
		const found = init ? this.constant(init) : null;
		if (!found || (typeof found.v === "object" && found.v && !node.$var.keeps()))
			throw new NotConstant();
		return found.v;
	}

	elements(list, env) {
		const out = [];
		for (const n of list) {
			if (!n)
				throw new NotConstant();
			if (n.type === "SpreadElement")
				out.push(...listLike(this.fold(n.argument, env)));
			else
				out.push(this.isFunction(n) ? this.closure(n, env) : this.fold(n, env));
		}
		return out;
	}

	foldArrayExpression(node, env) {
		return this.elements(node.elements, env);
	}

	foldObjectExpression(node, env) {
		const o = Object.create(null);
		for (const p of node.properties) {
			if (p.type !== "Property" || p.kind !== "init" || p.method)
				throw new NotConstant();
			o[this.key(p, env)] = this.fold(p.value, env);
		}
		return o;
	}

	key(node, env) {
		const key = node.property || node.key;
		if (node.computed) {
			const v = this.fold(key, env);
			if (typeof v === "object" && !Array.isArray(v))
				throw new NotConstant();
			return String(v);
		}
		return String(key.type === "Literal" ? key.value : key.name);
	}

	foldMemberExpression(node, env) {
		const v = this.fold(node.object, env), key = this.key(node, env);
		const kind = kindOf(v);
		if (isRecord(v) && Object.hasOwn(v, key))
			return v[key];
		if (["string", "array", "bytes"].includes(kind) && (key === "length" || /^\d+$/.test(key)))
			return v[key];
		if (v instanceof RegExp && ["source", "flags"].includes(key))
			return v[key];
		throw new NotConstant();
	}

	isFunction(node) {
		return /Function/.test(node.type) && !node.generator && !node.async;
	}

	foldNewExpression(node, env) {
		const name = this.program.hostName(node.callee);
		if (name === "URL")
			return FUNCTIONS.URL(...this.elements(node.arguments, env));
		throw new NotConstant();
	}

	foldCallExpression(node, env) {
		const callee = node.callee;
		const name = this.program.hostName(callee);
		if (name && Object.hasOwn(FUNCTIONS, name))
			return FUNCTIONS[name](...this.elements(node.arguments, env));
		if (callee.type === "MemberExpression")
			return this.method(node, env);
		const own = this.isFunction(callee) ? callee : callee.$var && callee.$var.only();
		if (!own || !this.isFunction(own))
			throw new NotConstant();
		return this.closure(own, null)(...this.elements(node.arguments, env));
	}

	method(node, env) {
		const callee = node.callee, key = this.key(callee, env);
		let v = this.fold(callee.object, env);
		const kind = kindOf(v);
		if (!Object.hasOwn(PURE, kind) || !PURE[kind].has(key))
			throw new NotConstant();
		const args = this.elements(node.arguments, env);
		if (["repeat", "padStart", "padEnd"].includes(key) && !(args[0] <= LENGTH_MAX))
			throw new NotConstant();
		if (kind === "array" || kind === "bytes")
			v = v.slice();
		return v[key](...args);
	}

	// A function of the program as one that folds its body.
	closure(fn, outer) {
		return (...values) => {
			const env = new Map(outer || []);
			fn.params.forEach((p, i) => this.assign(p, values[i], env));
			if (fn.body.type !== "BlockStatement")
				return this.fold(fn.body, env);
			const done = this.run(fn.body, env);
			return done ? done.v : undefined;
		};
	}

	assign(target, v, env) {
		if (target.type === "Identifier") {
			env.set(target.name, v);
		} else if (target.type === "ArrayPattern") {
			target.elements.forEach((t, i) => t && this.assign(t, listLike(v)[i], env));
		} else if (target.type === "AssignmentPattern") {
			this.assign(target.left, v === undefined ? this.fold(target.right, env) : v, env);
		} else {
			throw new NotConstant();
		}
	}

	foldAssignmentExpression(node, env) {
		if (!env || node.left.type !== "Identifier" || !env.has(node.left.name))
			throw new NotConstant();
		const operator = node.operator.slice(0, -1);
		let v = this.fold(node.right, env);
		if (operator) {
			if (!Object.hasOwn(OPERATORS, operator))
				throw new NotConstant();
			v = OPERATORS[operator](env.get(node.left.name), v);
		}
		env.set(node.left.name, v);
		return v;
	}

	foldUpdateExpression(node, env) {
		const name = node.argument.name;
		if (!env || !env.has(name))
			throw new NotConstant();
		env.set(name, env.get(name) + (node.operator === "++" ? 1 : -1));
		return env.get(name);
	}

	// { v } when it returned
	run(node, env) {
		this.step();
		switch (node.type) {
		case "BlockStatement":
			for (const s of node.body) {
				const done = this.run(s, env);
				if (done)
					return done;
			}
			return null;
		case "ReturnStatement":
			return { v: node.argument ? this.fold(node.argument, env) : undefined };
		case "ExpressionStatement":
			this.fold(node.expression, env);
			return null;
		case "VariableDeclaration":
			for (const d of node.declarations)
				this.assign(d.id, d.init ? this.fold(d.init, env) : undefined, env);
			return null;
		case "IfStatement":
			if (this.fold(node.test, env))
				return this.run(node.consequent, env);
			return node.alternate ? this.run(node.alternate, env) : null;
		case "ForOfStatement":
			for (const v of listLike(this.fold(node.right, env))) {
				this.assign(node.left.type === "VariableDeclaration" ? node.left.declarations[0].id
					: node.left, v, env);
				const done = this.run(node.body, env);
				if (done)
					return done;
			}
			return null;
		case "ForStatement":
			return this.loop(node, env);
		}
		throw new NotConstant();
	}

	loop(node, env) {
		if (node.init && node.init.type === "VariableDeclaration")
			this.run(node.init, env);
		else if (node.init)
			this.fold(node.init, env);
		while (!node.test || this.fold(node.test, env)) {
			const done = this.run(node.body, env);
			if (done)
				return done;
			if (node.update)
				this.fold(node.update, env);
		}
		return null;
	}
}
