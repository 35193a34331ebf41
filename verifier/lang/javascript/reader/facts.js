
// --- facts ---

// What has a method work on another object than its own.
const LENDS = new Set(["call", "apply", "bind", "assign", "setPrototypeOf", "defineProperty", "construct"]);

class Facts {
	constructor(program, source) {
		this.program = program;
		this.source = source;
		this.commands = new Commands(program);
		this.all = [];
		this.seen = new Map();
	}

	tell(text, node) {
		text = text.slice(0, 200);
		const places = this.seen.get(text) || new Set();
		const before = this.source.slice(this.source.lastIndexOf("\n", node.start - 1) + 1, node.start);
		this.seen.set(text, places);
		if (places.size >= PER_FACT || places.has(node.start))
			return;
		if (this.all.length >= FACTS_MAX)
			throw new TooMuch("more names than screening looks at");
		places.add(node.start);
		this.all.push([text, node.loc.start.line, Buffer.byteLength(before) + 1]);
	}

	see() {
		for (const node of this.program.nodes) {
			const see = this["see" + node.type];
			if (see)
				see.call(this, node);
			if (this.program.isExpression(node))
				this.seeValue(node);
		}
		return this.all;
	}

	// What a node with this as its value is for.
	use(node) {
		let up = node.$up;
		while (up && (up.type === "ChainExpression" || up.type === "AwaitExpression"
			      || up.type === "LogicalExpression"
			      || up.type === "ConditionalExpression" && up.test !== node
			      || up.type === "SequenceExpression" && up.expressions.at(-1) === node)) {
			node = up;
			up = node.$up;
		}
		return { node, up };
	}

	// Whether a value stays where it is followed: in a name, or used on the spot.
	isFollowed(from) {
		const { node, up } = this.use(from);

		switch (up && up.type) {
		case "CallExpression":
		case "NewExpression":
			return up.callee === node || this.isSpecialArgument(up, node);
		case "TaggedTemplateExpression":
			return up.tag === node;
		case "MemberExpression":
			return up.object === node;
		case "VariableDeclarator":
			return true;
		case "AssignmentExpression":
			return up.left === node || up.left.type !== "MemberExpression";
		case "AssignmentPattern":
			return true;
		case "Property":
			return up.$up.type === "ObjectPattern";
		case "UnaryExpression":
		case "BinaryExpression":
		case "ExpressionStatement":
		case "SequenceExpression":
		case "IfStatement":
		case "ConditionalExpression":
		case "ClassDeclaration":
		case "ClassExpression":
		case "UpdateExpression":
		case "ExportSpecifier":
		case "ExportDefaultDeclaration":
			return true;
		}
		return false;
	}

	isSpecialArgument(call, node) {
		const host = this.program.hostName(call.callee);
		return host === "util.promisify" && call.arguments[0] === node
			|| host === "Reflect.get" && call.arguments[0] === node
			|| /^(?:Reflect\.apply|util\.inherits)$/.test(host || "") && call.arguments[0] === node;
	}

	seeValue(node) {
		const v = this.program.value(node), up = node.$up;
		const direct = /^(?:Identifier|MemberExpression|MetaProperty)$/.test(node.type);
		for (const h of v.h) {
			const inner = up.type === "MemberExpression" && up.object === node;
			const test = up.type === "UnaryExpression" && up.operator === "typeof" && node.type === "Identifier"
				|| up.type === "BinaryExpression" && up.operator === "instanceof" && up.right === node;
			if (direct && !test && !(inner && this.program.value(up).h.size) && !MODULES.has(h)
			    && !(inner && h === "globalThis"))
				this.tell("use " + h, node);
			if (!test && !this.isFollowed(node))
				this.tell("escape " + h, node);
		}
		if (up && up.callee === node && v.f & F.DANGER)
			this.tell("pick", node);
		if ((isClass(up || node) && up && up.superClass === node) && v.f & F.DANGER)
			this.tell("pick", node);
	}

	seeMemberExpression(node) {
		const key = this.program.keyOf(node), o = this.program.value(node.object);
		if (!key.names || key.open)
			for (const h of o.h)
				this.tell("key " + h, node);
		this.seeKeys(key, o, node);
		this.seePrototype(node, o, key);
	}

	seeKeys(key, o, node) {
		for (const name of key.names || []) {
			if (WORDS.has(name) && !(OWN_WORDS.has(name) && this.program.fields.has(name))
			    && !(name === "constructor" && this.isHonestConstructor(node)))
				this.tell("word " + name, node);
			else if (o.f & F.OBJ && !o.h.size && this.isThis(node.object) && PROCESS.has(name)
				 && !this.program.fields.has(name))
				this.tell("use process." + name, node);
		}
	}

	isThis(node) {
		return node && node.type === "ThisExpression" && this.program.functionOf(node);
	}

	// x.constructor.name, a comparison, A.prototype.constructor = A, new this.constructor()
	isHonestConstructor(node) {
		const { up, node: at } = this.use(node);
		if (up.type === "BinaryExpression" || up.type === "UnaryExpression")
			return true;
		if (up.type === "MemberExpression" && up.object === at && !up.computed) {
			const name = up.property.name;
			return name === "name" || this.isThis(node.object) && this.program.fields.has(name)
				&& !WORDS.has(name) && !METHODS.has(name);
		}
		if (up.type === "CallExpression" && up.arguments[1] === at)
			return this.program.hostName(up.callee) === "Error.captureStackTrace";
		if (up.type === "AssignmentExpression" && up.left === node)
			return this.program.value(up.right).fn.size > 0 || up.right.type === "Identifier" && up.right.$var;
		return up.type === "NewExpression" && up.callee === at && this.isThis(node.object)
			&& this.isOwnMethod(this.program.functionOf(node));
	}

	// A class's method that is only ever called on an object of it.
	isOwnMethod(fn) {
		const method = fn.$up, name = method.key && method.key.name;
		if (method.type !== "MethodDefinition" || method.static || method.computed)
			return false;
		const members = this.program.nodes.filter((n) => n.type === "MemberExpression");
		const lends = members.some((n) => !n.computed && LENDS.has(n.property.name));
		return members.every((n) => {
			const { names, number } = this.program.keyOf(n);
			return n.$up.callee === n && !n.computed || number || names && !names.includes(name)
				|| !names && !lends;
		});
	}

	// Changes of what all objects share.
	seePrototype(node, o, key) {
		const up = node.$up;
		const changed = up.type === "AssignmentExpression" && up.left === node
			|| up.type === "UnaryExpression" && up.operator === "delete"
			|| up.type === "UpdateExpression";
		if (!changed)
			return;
		if (o.f & F.PROTO)
			this.tell("prototype ?", node);
		for (const h of this.program.value(node).h)
			this.tell("replace " + h, node);
		for (const h of o.h)
			if (/\.prototype$/.test(h)) {
				const name = (key.names || ["?"])[0], plain = h.replace(/\.prototype$/, "");
				const known = globalThis[plain] && Object.hasOwn(globalThis, plain)
					&& name in Object(globalThis[plain].prototype);
				const fn = up.right && isFunction(up.right) && !known;
				this.tell("prototype " + (fn ? "own " : "") + plain + "." + name, node);
			}
	}

	seeProperty(node) {
		const key = this.program.keyOf(node), pattern = node.$up.type === "ObjectPattern";
		const o = pattern && node.$from ? node.$from() : new Value();
		for (const name of key.names || [])
			if (WORDS.has(name) && (pattern ? !OWN_WORDS.has(name) : name === "__proto__"
				&& !(node.value.type === "Literal" && node.value.value === null)))
				this.tell("word " + name, node);
		for (const h of o.h) {
			if (!key.names)
				this.tell("key " + h, node);
			for (const name of key.names || [])
				for (const full of this.program.member(Value.host(h), { names: [name] }, node).h)
					this.tell("use " + full, node);
		}
		if (pattern && o.f & F.GLOB)
			for (const name of key.names || [])
				if (GLOBALS.has(name) && !this.program.fields.has(name))
					this.tell("use " + name, node);
	}

	seeImportDeclaration(node) {
		this.seeModule(Value.text(node.source.value), node);
		for (const s of node.specifiers)
			for (const h of s.$value ? s.$value.h : [])
				if (!MODULES.has(h))
					this.tell("use " + h, s);
	}

	seeExportNamedDeclaration(node) {
		if (node.source)
			this.seeModule(Value.text(node.source.value), node);
	}

	seeExportAllDeclaration(node) {
		this.seeModule(Value.text(node.source.value), node);
	}

	seeImportExpression(node) {
		this.seeModule(this.program.value(node.source), node);
	}

	seeModule(v, node) {
		for (const s of v.s) {
			const name = s.slice(1).replace(/^node:/, "");
			if (s[0] === "^")
				this.tell("import ?", node);
			else
				this.tell("import " + (/^[./]/.test(name) ? posix.resolve("/work", name) : name), node);
		}
		if (v.f || v.h.size)
			this.tell("import ?", node);
	}

	seeCallExpression(node) {
		const callee = this.program.value(node.callee);
		const c = node.callee.type === "ChainExpression" ? node.callee.expression : node.callee;
		const args = this.program.argumentsOf(node);
		this.seeDanger(node, c, args);
		for (const h of callee.h)
			this.seeHostCall(h, node, args);
		if (c.type !== "MemberExpression")
			return;
		const names = this.program.keyOf(c).names || [], o = this.program.value(c.object);
		for (const h of names.includes("bind") ? o.h : [])
			if (RUNNERS.test(h))
				this.tell("run ?", node);
		for (const h of names.includes("call") || names.includes("apply") ? o.h : []) {
			const list = args[1] ? args[1]() : new Value();
			this.seeHostCall(h, node, names.includes("call") ? args.slice(1) : [() => list.element()]);
		}
	}

	seeNewExpression(node) {
		this.seeCallExpression(node);
	}

	seeTaggedTemplateExpression(node) {
		for (const h of this.program.value(node.tag).h)
			this.seeHostCall(h, node, [() => Value.text((node.quasi.quasis[0].value.cooked))]);
	}

	// Constructors of functions handed to what calls them.
	seeDanger(node, c, args) {
		const name = c.type === "MemberExpression" ? (this.program.keyOf(c).names || ["?"])[0] : c.name;
		if (c.type === "MemberExpression" && ["call", "apply", "bind"].includes(name)
		    && this.program.value(c.object).f & F.DANGER)
			this.tell("pick", node);
		if (FUNCTION_USERS.has(name) && args.some((a) => a().f & F.DANGER))
			this.tell("pick", node);
	}

	seeHostCall(h, node, args) {
		const first = args[0] ? args[0]() : new Value();
		if (/^(?:Object|Reflect)\.(?:assign|set|setPrototypeOf|defineProperty|defineProperties)$/.test(h)
		    && first.f & F.PROTO)
			this.tell("prototype ?", node);
		const file = FILES.exec(h);
		if (RUNNERS.test(h) || /^Reflect\./.test(h) && [...first.h].some((x) => RUNNERS.test(x)))
			this.seeRun(h, node);
		if (["require", "module.require", "process.getBuiltinModule", "require.main.require"].includes(h)) {
			this.seeModule(first, node);
		} else if (file) {
			this.seeFile(first, node, "file ");
			if (TWO_FILES.has(file[1]))
				this.seeFile(args[1] ? args[1]() : new Value(), node, "file ");
			if (CHANGE_FILES.has(file[1]))
				this.seeFile(first, node, "change ");
		} else if (h === "worker_threads.Worker") {
			this.seeWorker(node);
		} else if (/^(?:setTimeout|setInterval|setImmediate)$/.test(h) && first.s.size) {
			this.tell("use eval", node);
		} else if (/^Reflect\.(?:get|getOwnPropertyDescriptor|set|defineProperty)$|^Object\.(?:getOwnPropertyDescriptor|defineProperty)$/.test(h)
			   && node.arguments && node.arguments.length > 1) {
			this.seeReflect(h, node, first);
		}
	}

	seeRun(h, node) {
		if (!node.arguments || !this.program.value(node.callee).h.has(h) || !RUNNERS.test(h))
			return this.tell("run ?", node);
		const { shell, texts } = this.commands.of(node, h);
		for (const code of this.commands.codes || [])
			for (const [text] of factsOfText(code) || [["run ?"]])
				this.tell(text, node);
		this.commands.codes = [];
		for (const text of texts)
			this.tell((shell ? "line " : "run ") + (text.length < 190 ? text : "?"), node);
	}

	seeReflect(h, node, first) {
		const key = this.program.keyOf({ computed: true, property: node.arguments[1] });
		for (const name of key.names || [])
			if (WORDS.has(name))
				this.tell("word " + name, node);
		for (const base of first.h) {
			if (!key.names)
				this.tell("key " + base, node);
			for (const name of key.names || [])
				for (const full of this.program.reach(base, name).h)
					this.tell((/define|set$/.test(h) && /prototype$/.test(base) ? "prototype " : "use ") + full, node);
		}
	}

	seeFile(v, node, how) {
		const listed = this.isListed(v);
		for (const s of listed ? [...v.s, ...v.es] : v.s) {
			const name = posix.resolve("/work", s.slice(1).replace(/^file:\/\//, ""));
			const open = s[0] === "^" ? (/\/$/.test(s) && name !== "/" ? "/*" : "*") : "";
			this.tell(how + name + open, node);
		}
		if (v.f & F.UNK || v.f & (F.OBJ | F.FUN | F.CHR | F.DATA) && !(v.f & (F.REL | F.ARGV | F.INPUT)) && !listed)
			this.tell(how + "?", node);
	}

	// A text out of a list, or the list, which is no file's name; an object that says where a
	// file is (a URL, or what looks like one) is neither.
	isListed(v) {
		const plain = F.NUM | F.OBJ | F.REL | F.ARGV | F.INPUT;
		this.likeURL ??= this.program.fields.has("pathname") || this.program.nodes.some((n) => isClass(n)
			&& n.superClass && this.program.value(n.superClass).h.size);
		return v.s.size > 0 && !(v.f & ~plain) && !(v.ef & ~plain) && !v.h.size && !v.fn.size && !v.efn.size
			&& !this.likeURL && ![...v.es].some((s) => s.includes("%"));
	}

	// A thread of this very program is as well known as the program.
	seeWorker(node) {
		const [file, options] = node.arguments || [];
		const v = file ? this.program.value(file) : new Value(F.UNK);
		const self = !(v.f & ~F.OBJ) && v.s.size === 1 && v.s.has("=/work/main.js");
		const plain = !options || options.type === "ObjectExpression" && options.properties.every(
			(p) => p.type === "Property" && !p.computed && /^(?:workerData|argv|name|resourceLimits|stdout|stderr|transferList)$/.test(
				p.key.name || p.key.value));
		if (!self || !plain)
			this.tell("worker", node);
	}

	seeIdentifier(node) {
		if (node.name === "arguments" && !node.$var && !this.program.functionOf(node))
			this.tell("arguments", node);
	}

	seeWithStatement(node) {
		this.tell("with", node);
	}

	seeLiteral(node) {
		this.seeText(node);
	}

	seeTemplateLiteral(node) {
		this.seeText(node);
	}

	seeBinaryExpression(node) {
		if (node.operator === "+")
			this.seeText(node);
	}

	seeText(node) {
		const up = node.$up;
		if (up.type === "BinaryExpression" && up.operator !== "+" || up.type === "SwitchCase" || up.key === node)
			return;
		const c = this.program.folder.constant(node);
		if (!c || typeof c.v !== "string" || this.isShown(node))
			return;
		const plain = c.v.replace(/\\u([0-9a-fA-F]{4})/g, (_, x) => String.fromCharCode(parseInt(x, 16)));
		const found = TEXT_WORDS.exec(plain);
		if (found)
			this.tell("text " + found[0].replace(/["']/g, ""), node);
	}

	isShown(node) {
		return node.$up.type === "CallExpression" && node.$up.callee !== node
			&& /^console\./.test(this.program.hostName(node.$up.callee) || "");
	}

	// --- loops ---

	seeWhileStatement(node) {
		this.seeLoop(node);
	}

	seeDoWhileStatement(node) {
		this.seeLoop(node);
	}

	seeForStatement(node) {
		this.seeLoop(node);
	}

	seeLoop(node) {
		const test = node.test ? this.program.folder.constant(node.test) : { v: true };
		if (test && test.v && (!node.test || !node.test.$var) && !this.leaves(node.body))
			this.tell("loop endless", node);
	}

	leaves(node) {
		if (/^(?:Break|Return|Throw)Statement$|^(?:Yield|Await)Expression$/.test(node.type))
			return true;
		if (node.type === "CallExpression" && !/^(?:console\.\w+|.*\.(?:push|add|set|write))$/.test(
			this.source.slice(node.callee.start, node.callee.end)))
			return true;
		return !isFunction(node) && [...children(node)].some((c) => this.leaves(c));
	}
}

// --- the parser ---

function findParser() {
	for (const name of ["internal/deps/acorn/acorn/dist/acorn", "/usr/share/nodejs/acorn"])
		try {
			const acorn = require(name);
			if (typeof acorn.parse === "function")
				return acorn;
		} catch {}
	return null;
}

function parseAs(acorn, source, sourceType) {
	return acorn.parse(source, { ecmaVersion: "latest", sourceType, locations: true, allowHashBang: true,
		allowReturnOutsideFunction: sourceType === "script" });
}

// What the language's own parser says of it as a script; nothing runs.
function compileError(source) {
	try {
		vm.compileFunction(source.replace(/^#!.*/, ""), ["exports", "require", "module", "__filename", "__dirname"]);
	} catch (e) {
		return e;
	}
	return null;
}

// Whether the language's own parser reads it as a module; nothing runs. Where that cannot be asked, it does not.
function isOwnModule(source) {
	try {
		const { ModuleWrap } = require("internal/test/binding").internalBinding("module_wrap");
		return Boolean(new ModuleWrap("file:///work/main.mjs", undefined, source, 0, 0));
	} catch {
		return false;
	}
}

// { tree, isModule } or { error } or { unread }
function parse(acorn, source) {
	let error, as;
	try {
		return { tree: parseAs(acorn, source, "script"), isModule: false };
	} catch (e) {
		if (!(e instanceof SyntaxError))
			throw e;
		error = e;
	}
	as = compileError(source);
	if (!as)
		return { unread: true };
	try {
		return { tree: parseAs(acorn, source, "module"), isModule: true };
	} catch (e) {
		if (!(e instanceof SyntaxError))
			throw e;
		if (isOwnModule(source))
			return { unread: true };
		return { error: /import|export|await/.test(error.message) ? e : error, as };
	}
}

function syntaxAnswer({ error, as }, source) {
	const loc = error.loc || { line: 1, column: 0 };
	const before = (source.split("\n")[loc.line - 1] || "").slice(0, loc.column);
	const message = /import|export/.test(as.message) ? error.message.replace(/ \(\d+:\d+\)$/, "") : as.message;
	return { syntax_error: { type: "SyntaxError", message: message.slice(0, 300), line: loc.line,
		column: Buffer.byteLength(before) + 1 }, failed: null, facts: [] };
}

// Of code in a text; null where it cannot be read.
function factsOfText(source) {
	const parsed = parse(findParser(), source);
	if (!parsed.tree)
		return null;
	const program = new Program(parsed.tree, parsed.isModule);
	program.settle();
	return new Facts(program, source).see();
}

function factsOf(bytes) {
	const answer = { syntax_error: null, failed: null, facts: [] };
	const source = bytes.toString().replace(/^\ufeff/, "");
	const acorn = findParser();
	try {
		if (!acorn)
			return { ...answer, facts: [["no tree: parser", 1, 1]] };
		const parsed = parse(acorn, source);
		if (parsed.unread)
			return { ...answer, facts: [["no tree: syntax", 1, 1]] };
		if (parsed.error)
			return syntaxAnswer(parsed, source);
		const program = new Program(parsed.tree, parsed.isModule);
		program.settle();
		return { ...answer, facts: new Facts(program, source).see() };
	} catch (e) {
		return { ...answer, failed: (e.name + ": " + e.message).slice(0, 200) };
	}
}

function main() {
	console.log(JSON.stringify(factsOf(fs.readFileSync(0))).replace(/\\u0000/g, "\\ufffd"));
}

main();
