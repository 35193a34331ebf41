// What each expression may be: values flow from where they are made to where
// they are used, without regard to order; members go by their name alone.
const ROUNDS_MAX = 60;

class Program {
	constructor(tree, isModule) {
		this.tree = tree;
		this.nodes = [];
		this.fields = new Map(); // name -> () => Value of what is assigned to it anywhere
		this.values = new Map();
		this.before = new Map();
		this.folder = new Folder(this);
		this.root = new Scope(null, true);
		const strict = isModule || tree.body.some((s) => s.directive === "use strict");
		declare(tree, this.root, strict, null);
		this.link(tree);
	}

	// --- second pass: what flows into names ---

	field(name, source) {
		if (!this.fields.has(name))
			this.fields.set(name, []);
		this.fields.get(name).push(source);
	}

	// source flows into a pattern
	bind(p, source, init) {
		if (!p)
			return;
		switch (p.type) {
		case "Identifier": {
			const v = p.$scope.find(p.name) || this.root.declare(p.name);
			v.sources.push(source);
			v.writes++;
			if (init)
				v.inits.push(init);
			return;
		}
		case "AssignmentPattern":
			this.bind(p.left, () => new Value().add(source()).add(this.value(p.right)));
			return;
		case "RestElement":
			this.bind(p.argument, () => new Value(F.OBJ).add(source()));
			return;
		case "ArrayPattern":
			for (const e of p.elements)
				this.bind(e, e && e.type === "RestElement" ? source : () => source().element());
			return;
		case "ObjectPattern":
			for (const e of p.properties) {
				if (e.type === "RestElement") {
					this.bind(e, source);
					continue;
				}
				e.$from = source;
				this.nodes.push(e);
				this.bind(e.value, () => this.member(source(), this.keyOf(e), e));
			}
			return;
		case "MemberExpression":
			this.store(p, source);
			return;
		}
	}

	// source becomes a member of something
	store(target, source) {
		if (!target.computed)
			this.field(target.property.name, source);
		else
			for (const name of this.keyOf(target, true).names || [])
				this.field(name, source);
		if (target.computed)
			this.holdIn(target.object, source);
	}

	holdIn(node, source) {
		while (/^(?:Member|Chain|Call|Assignment)Expression$/.test(node.type)) {
			if (node.type === "MemberExpression" && !node.computed)
				this.field(node.property.name, () => new Value().hold(source()));
			node = node.object || node.expression || node.left || node.callee;
		}
		const v = node.type === "Identifier" && node.$scope.find(node.name);
		if (v) {
			v.sources.push(() => new Value().hold(source()));
			v.held = true;
		}
	}

	link(node) {
		const value = (n) => () => this.value(n);
		this.nodes.push(node);
		switch (node.type) {
		case "Identifier":
			node.$var = node.$scope.find(node.name);
			if (node.$var)
				node.$var.refs.push(node);
			return;
		case "VariableDeclaration":
			for (const d of node.declarations)
				if (d.init)
					this.bind(d.id, value(d.init), d.init);
			break;
		case "AssignmentExpression":
			this.bind(node.left, node.operator === "=" ? value(node.right) : value(node),
				  node.operator === "=" ? node.right : null);
			break;
		case "UpdateExpression":
			this.bind(node.argument, () => new Value(F.NUM));
			break;
		case "ForOfStatement":
			this.bindLoop(node, () => this.value(node.right).element());
			break;
		case "ForInStatement":
			this.bindLoop(node, () => new Value(F.UNK));
			break;
		case "CatchClause":
			this.bind(node.param, () => new Value(F.UNK));
			break;
		case "ReturnStatement":
			this.returned(node, node.argument);
			break;
		case "YieldExpression":
			this.returned(node, node.argument);
			break;
		case "ImportDeclaration":
			this.linkImport(node);
			return;
		case "CallExpression":
			this.linkCall(node);
			break;
		}
		if (isFunction(node))
			this.linkFunction(node);
		if (node.type === "ClassDeclaration" && node.id)
			this.bindName(node.id.name, node.$scope.parent, node);
		if (isClass(node) && node.id)
			this.bindName(node.id.name, node.$scope, node);
		if (/^(?:Property|MethodDefinition|PropertyDefinition)$/.test(node.type))
			this.linkProperty(node);
		for (const c of this.expressions(node))
			this.link(c);
	}

	bindName(name, scope, node) {
		const v = scope.find(name);
		v.sources.push(() => this.value(node));
		v.inits.push(node);
		v.writes++;
	}

	bindLoop(node, source) {
		this.bind(node.left.type === "VariableDeclaration" ? node.left.declarations[0].id : node.left, source);
	}

	returned(node, argument) {
		let fn = node;
		while (fn && !isFunction(fn))
			fn = fn.$up;
		if (fn && argument)
			fn.$returns.push(argument);
	}

	linkImport(node) {
		const module = this.module(node.source.value);
		for (const s of node.specifiers) {
			const key = s.type === "ImportSpecifier" ? s.imported.name || s.imported.value : null;
			const names = key && key !== "default" ? this.member(module, { names: [key] }, node) : module;
			s.$value = names;
			const v = s.$scope.find(s.local.name);
			v.sources.push(() => names);
			v.writes++;
		}
	}

	linkFunction(node) {
		if (node.type === "FunctionDeclaration" && node.id) {
			this.bindName(node.id.name, node.$scope.parent, node);
			const outer = node.$scope.parent.function().vars.get(node.id.name);
			if (outer && outer !== node.$scope.parent.find(node.id.name))
				this.bindName(node.id.name, node.$scope.parent.function(), node);
		} else if (node.id) {
			this.bindName(node.id.name, node.$scope, node);
		}
		node.params.forEach((p, i) => this.bind(p, () => this.argument(node, i, p.type === "RestElement")));
		if (node.body.type !== "BlockStatement")
			node.$returns.push(node.body);
	}

	argument(fn, i, rest) {
		const v = new Value(rest ? F.OBJ : 0);
		if (!fn.$args.length)
			return new Value(this.open ? F.UNK : 0);
		for (const args of fn.$args)
			for (const source of rest ? args.slice(i) : args[i] ? [args[i]] : []) {
				if (rest)
					v.hold(source());
				else
					v.add(source());
			}
		return v;
	}

	linkProperty(node) {
		if (node.$up.type === "ObjectPattern")
			return;
		const source = node.kind === "get" ? () => this.results(node.value)
			: node.value ? () => this.value(node.value) : () => new Value(F.UNK);
		for (const name of this.keyOf(node, true).names || [])
			this.field(name, source);
	}

	// What is stored by a call: push and its like, Object.assign, defineProperty.
	linkCall(node) {
		const callee = node.callee;
		if (callee.type !== "MemberExpression" || callee.computed)
			return;
		const name = callee.property.name, of = callee.object.name, args = node.arguments;
		if (STORES.has(name))
			for (const a of args)
				this.holdIn(callee.object, () => a.type === "SpreadElement"
					? this.value(a.argument).element() : this.value(a));
		if ((of === "Object" || of === "Reflect") && args.length > 1) {
			if (name === "defineProperty" && args[2])
				for (const key of this.keyOf({ computed: true, property: args[1] }, true).names || [])
					this.field(key, () => this.descriptor(args[2]));
			for (const a of args.slice(1))
				this.holdIn(args[0], () => this.value(a.argument || a));
		}
	}

	descriptor(node) {
		const v = this.value(node).element();
		for (const fn of [...v.fn])
			v.add(this.results(fn));
		return v;
	}

	// Children that are looked at as expressions or statements: no plain names.
	*expressions(node) {
		for (const c of children(node)) {
			if (c === node.key && !node.computed || c === node.property && !node.computed
			    && node.type === "MemberExpression" || c === node.label || node.type === "MetaProperty")
				continue;
			if (node.type === "ExportSpecifier" && c !== node.local)
				continue;
			yield c;
		}
	}

	// --- what an expression is ---

	// What flows in from all sources; once in a round. own: a Var or a list.
	merged(own, sources) {
		let v = this.values.get(own);
		if (v)
			return v;
		const before = this.before.get(own) || new Value();
		this.values.set(own, before);
		v = new Value(before.f);
		v.ef = before.ef;
		for (const source of sources)
			v.add(source());
		this.values.set(own, v);
		return v;
	}

	value(node) {
		let v = this.values.get(node);
		if (v)
			return v;
		this.values.set(node, this.before.get(node) || new Value());
		v = this.find(node);
		this.values.set(node, v);
		return v;
	}

	// What nobody calls is called by somebody unknown: asked when all calls are known.
	settle() {
		this.rounds();
		this.open = true;
		this.rounds();
	}

	// Values only grow; a few rounds follow what goes in circles.
	rounds() {
		let size = -1;
		for (let round = 0; round < ROUNDS_MAX; round++) {
			this.before = this.values;
			this.values = new Map();
			this.folder.again();
			let now = 0;
			for (const n of this.nodes)
				if (n.type !== "Property" && this.isExpression(n))
					now += this.value(n).size;
			if (now === size)
				return;
			size = now;
		}
		throw new TooMuch("values that do not come to rest");
	}

	isExpression(n) {
		return typeof this["find" + n.type] === "function";
	}

	find(node) {
		const f = this["find" + node.type];
		if (!f)
			return new Value(F.UNK);
		if (/^(?:Binary|TemplateLit|Call|Member|Tagged|New|Unary|Conditional)/.test(node.type)) {
			const c = this.folder.constant(node);
			const v = c && this.ofConstant(c.v);
			if (v && (node.type !== "CallExpression" && node.type !== "MemberExpression" || v.s.size))
				return v;
			if (v && !v.h.size && v.es.size)
				return v;
		}
		return f.call(this, node);
	}

	ofConstant(v) {
		if (typeof v === "string")
			return Value.text(v);
		if (Buffer.isBuffer(v))
			return Value.text(v.toString());
		if (Array.isArray(v)) {
			const r = new Value(F.OBJ);
			for (const x of v.slice(0, 200)) {
				const e = this.ofConstant(x);
				r.hold(e || new Value(F.UNK));
			}
			return r;
		}
		return typeof v === "object" && v ? null : new Value(F.NUM);
	}

	// The one host name that this is, or null.
	hostName(node) {
		if (node.type === "ChainExpression")
			return this.hostName(node.expression);
		const v = this.values.get(node) || (/^(?:Identifier|MemberExpression)$/.test(node.type)
			? this.value(node) : null);
		return v && v.h.size === 1 && !v.fn.size ? [...v.h][0] : null;
	}

	// Names that a member may go by; names null when not known. safe: certainly
	// no name of anything inherited.
	keyOf(node, early) {
		const key = node.property || node.key;
		if (!node.computed)
			return { names: [key.type === "PrivateName" || key.type === "PrivateIdentifier" ? "#" + key.name
				: String(key.name || key.value)] };
		if (early) {
			const c = this.folder.constant(key);
			this.folder.known.clear();
			return { names: c && typeof c.v === "string" ? [c.v] : null };
		}
		const c = this.folder.constant(key);
		if (c && (typeof c.v !== "object" || Array.isArray(c.v)))
			return { names: [String(c.v)], number: typeof c.v === "number" };
		const v = this.value(key);
		const symbol = v.h.size && [...v.h].every((h) => /^Symbol\.|inspect\.custom$/.test(h));
		if (v.f & ~(F.NUM | F.CHR) || (v.h.size && !symbol) || v.fn.size)
			return { names: null };
		const starts = [...v.s].filter((s) => s[0] === "^").map((s) => s.slice(1));
		if (starts.some((s) => [...WORDS].some((w) => w.startsWith(s))))
			return { names: null };
		return { names: [...v.s].filter((s) => s[0] === "=").map((s) => s.slice(1)),
			 number: Boolean(v.f & (F.NUM | F.CHR)) || starts.length > 0 || symbol,
			 open: starts.length > 0 };
	}

	global(name) {
		if (!GLOBALS.has(name))
			return new Value(F.UNK);
		return Value.host(SAME[name] || name);
	}

	module(text) {
		const name = String(text).replace(/^node:/, "");
		if (!MODULES.has(name) && name !== "sqlite" && name !== "test" && name !== "sea")
			return new Value(F.UNK);
		return Value.host(name === "crypto" ? "crypto" : name === "module" ? "node:module" : SAME[name] || name);
	}

	// base.name of the host
	reach(base, name) {
		if (base === "globalThis")
			return GLOBALS.has(name) ? this.global(name) : new Value(F.UNK);
		if (name === "default" && !base.includes("."))
			return Value.host(base);
		if (base === "process.env" && Object.hasOwn(VARIABLES, name))
			return Value.host(base + "." + name).add(Value.text(VARIABLES[name]));
		if (base === "process.argv" && /^\d+$/.test(name))
			return new Value(F.ARGV);
		const full = (base + "." + name).slice(0, 120);
		return Value.host(full === "crypto.webcrypto" ? full : SAME[full] || full);
	}

	member(o, key, node) {
		const v = new Value();
		for (const name of key.names || []) {
			for (const h of o.h)
				v.add(this.reach(h, name));
			const own = this.fields.get(name);
			if (own)
				v.add(this.merged(own, own));
			if (o.f & F.GLOB && !own && GLOBALS.has(name))
				v.add(this.global(name));
			const called = node.$up && node.$up.callee === node && METHODS.has(name);
			if ((own || called) && !/^\d+$/.test(name))
				v.add(called ? new Value() : this.marked(o.element()));
			else if (/^\d+$/.test(name) || o.es.size || o.ef)
				v.add(o.element());
			else if (NUMBERS.test(name))
				v.f |= F.NUM;
			else if (!o.h.size && !own)
				v.f |= METHODS.has(name) && !called ? F.FUN : F.UNK;
		}
		if (key.number || !key.names)
			v.add(o.element());
		if (!key.names) {
			v.f |= o.f & DEEP ? F.DANGER : F.DATA;
			if (o.h.size && ![...o.h].every((h) => h === "process.argv"))
				v.f |= F.DANGER;
		}
		return v;
	}

	// Of what may be in an object by another way: functions, and what leads to them.
	marked(v) {
		const r = new Value(v.f & DEEP);
		r.ef = v.ef & DEEP;
		r.put("fn", v.fn);
		r.put("efn", v.fn);
		return r;
	}

	results(fn) {
		const v = new Value(fn.generator ? F.OBJ : 0);
		for (const r of fn.$returns || []) {
			if (fn.generator)
				v.hold(r.$up.delegate ? this.value(r).element() : this.value(r));
			else
				v.add(this.value(r));
		}
		return v;
	}

	findLiteral(node) {
		return node.regex ? new Value(F.OBJ) : this.ofConstant(node.value);
	}

	findIdentifier(node) {
		if (!node.$var) {
			if (["undefined", "NaN", "Infinity"].includes(node.name))
				return new Value(F.NUM);
			if (node.name === "arguments" && this.functionOf(node))
				return new Value(F.OBJ).hold(this.argument(this.functionOf(node), 0, true).element());
			return this.global(node.name);
		}
		const folded = this.folder.constant(node);
		if (folded && typeof folded.v !== "object")
			return this.ofConstant(folded.v);
		return this.merged(node.$var, node.$var.sources);
	}

	// The function whose `this` and `arguments` are meant; null at the top.
	functionOf(node) {
		for (let n = node; n; n = n.$up)
			if (isFunction(n) && n.type !== "ArrowFunctionExpression")
				return n;
			else if (n.type === "StaticBlock" || n.type === "PropertyDefinition")
				return n;
		return null;
	}

	findThisExpression(node) {
		const fn = this.functionOf(node);
		return new Value(F.OBJ | (fn && !fn.$strict ? F.GLOB : 0));
	}

	findFunctionExpression(node) {
		const v = new Value(F.FUN);
		v.fn = new Set([node]);
		return v;
	}

	findArrowFunctionExpression(node) {
		return this.findFunctionExpression(node);
	}

	findFunctionDeclaration(node) {
		return this.findFunctionExpression(node);
	}

	findClassExpression(node) {
		const v = new Value(F.FUN);
		const init = node.body.body.find((m) => m.kind === "constructor");
		if (init)
			v.fn = new Set([init.value]);
		return v;
	}

	findClassDeclaration(node) {
		return this.findClassExpression(node);
	}

	findObjectExpression(node) {
		const v = new Value(F.OBJ);
		for (const p of node.properties) {
			if (p.type === "SpreadElement")
				v.hold(this.value(p.argument).element());
			else
				v.hold(p.kind === "get" ? this.results(p.value) : this.value(p.value));
		}
		return v;
	}

	findArrayExpression(node) {
		const v = new Value(F.OBJ);
		for (const e of node.elements)
			if (e)
				v.hold(e.type === "SpreadElement" ? this.value(e.argument).element() : this.value(e));
		return v;
	}

	findMemberExpression(node) {
		return this.member(this.value(node.object), this.keyOf(node), node);
	}

	findChainExpression(node) {
		return this.value(node.expression);
	}

	findAwaitExpression(node) {
		return this.value(node.argument);
	}

	findYieldExpression() {
		return new Value(F.UNK);
	}

	findSequenceExpression(node) {
		return this.value(node.expressions[node.expressions.length - 1]);
	}

	findConditionalExpression(node) {
		return new Value().add(this.value(node.consequent)).add(this.value(node.alternate));
	}

	findLogicalExpression(node) {
		return new Value().add(this.value(node.left)).add(this.value(node.right));
	}

	findAssignmentExpression(node) {
		if (node.operator === "=")
			return this.value(node.right);
		const left = this.value(node.left), right = this.value(node.right);
		if (node.operator === "+=")
			return this.opened(this.concat(left, right));
		return /^(?:\|\||&&|\?\?)=$/.test(node.operator) ? new Value().add(left).add(right) : new Value(F.NUM);
	}

	findUpdateExpression() {
		return new Value(F.NUM);
	}

	findUnaryExpression() {
		return new Value(F.NUM);
	}

	findBinaryExpression(node) {
		return node.operator === "+" ? this.concat(this.value(node.left), this.value(node.right))
			: new Value(F.NUM);
	}

	findTemplateLiteral(node) {
		return this.joined(node.quasis.flatMap((q, i) => [Value.text(q.value.cooked || ""),
			...(i < node.expressions.length ? [this.value(node.expressions[i])] : [])]));
	}

	// More may follow: what grows in a loop is known by its beginning.
	opened(v) {
		v.s = new Set([...v.s].map((s) => "^" + s.slice(1)));
		return v;
	}

	joined(parts) {
		return parts.reduce((a, b) => this.concat(a, b), Value.text(""));
	}

	// a + b: what it begins with is what counts.
	concat(a, b) {
		const v = new Value();
		const unsure = (b.f & ~F.NUM) || b.h.size || b.fn.size || [...b.s].some((s) => s[0] === "^");
		if ([...a.s].some((s) => s === "="))
			v.add(b.f & F.NUM ? new Value(F.REL) : new Value()).add(b);
		for (const s of a.s) {
			if (s === "=")
				continue;
			if (s[0] === "^" || unsure || b.f || a.f & F.UNK)
				v.put("s", new Set(["^" + s.slice(1)]));
			for (const t of s[0] === "=" && !unsure && !(a.f & F.UNK) ? b.s : [])
				v.put("s", new Set([t[0] + s.slice(1) + t.slice(1)]));
		}
		v.f |= a.f & TEXTS;
		if (unsure && [...b.s].some((s) => /(?:^.|\/)\.\.(?:\/|$)/.test(s)))
			v.f |= F.UNK; // upward by one of several parts
		if (a.f & (F.OBJ | F.FUN | F.CHR) || [...a.h].some((h) => !this.isUnset(h)) || a.fn.size || v.f & (F.CHR | F.OBJ))
			v.f = v.f & ~(F.CHR | F.OBJ) | F.UNK;
		if (a.f & F.NUM)
			v.f |= b.f & F.NUM && !unsure && !b.s.size ? F.NUM : b.s.size ? F.REL : b.f & ~F.CHR || F.UNK;
		v.f &= ~(MARKS | F.GLOB);
		return v.limit("s", "f");
	}

	// A variable that nobody sets in the sandbox: what the program says for that case is used.
	isUnset(host) {
		this.sets ??= this.nodes.some((n) => n.type === "AssignmentExpression" && n.left.type === "MemberExpression"
			&& /^env$/.test(n.left.object.property?.name || n.left.object.name || ""));
		return /^process\.env\.\w+$/.test(host) && !this.sets && !SET_VARIABLES.has(host.slice(12));
	}

	findMetaProperty(node) {
		return node.meta.name === "import" ? Value.host("import.meta") : new Value(F.FUN);
	}

	findImportExpression(node) {
		return this.loaded(this.value(node.source));
	}

	loaded(v) {
		const r = new Value();
		for (const s of v.s)
			r.add(s[0] === "=" ? this.module(s.slice(1)) : new Value(F.UNK));
		return v.f ? r.add(new Value(F.UNK)) : r;
	}

	findTaggedTemplateExpression(node) {
		const tag = this.value(node.tag), v = new Value(tag.fn.size ? 0 : F.UNK);
		const args = [() => new Value(F.OBJ), ...node.quasi.expressions.map((e) => () => this.value(e))];
		for (const fn of tag.fn) {
			this.give(fn, node, args);
			v.add(this.results(fn));
		}
		return v;
	}

	// A call gives a function its arguments, once.
	give(fn, node, args) {
		fn.$given = fn.$given || new Set();
		if (!fn.$args || fn.$given.has(node))
			return;
		fn.$given.add(node);
		fn.$args.push(args);
	}

	findNewExpression(node) {
		const v = this.findCallExpression(node);
		v.f |= F.OBJ;
		return v;
	}

	argumentsOf(node) {
		return node.arguments.flatMap((a) => a.type === "SpreadElement"
			? [0, 1, 2, 3].map(() => () => this.value(a.argument).element()) : [() => this.value(a)]);
	}

	findCallExpression(node) {
		const callee = this.value(node.callee), args = this.argumentsOf(node);
		const v = new Value();
		for (const fn of callee.fn) {
			this.give(fn, node, args);
			if (node.type === "CallExpression")
				v.add(this.results(fn));
		}
		for (const h of callee.h)
			v.add(this.hostCall(h, node, args));
		const c = node.callee.type === "ChainExpression" ? node.callee.expression : node.callee;
		if (c.type === "MemberExpression")
			return v.add(this.methodCall(node, c, callee, args));
		if (callee.h.size || callee.fn.size)
			return v;
		for (const a of args)
			this.giveUnknown(a(), node);
		return v.add(new Value(F.UNK | callee.f & MARKS));
	}

	// Functions handed to something that is not followed.
	giveUnknown(v, node) {
		for (const fn of [...v.fn, ...v.efn])
			this.give(fn, node, [0, 1, 2, 3].map(() => () => new Value(F.UNK)));
	}

	methodCall(node, c, callee, args) {
		const names = this.keyOf(c).names || [], name = names.length === 1 ? names[0] : "";
		const o = this.value(c.object), first = args[0] ? args[0]() : new Value(), v = new Value();
		if (callee.fn.size && !METHODS.has(name))
			return v;
		if (name === "call" || name === "apply" || name === "bind")
			return v.add(this.indirect(name, o, node, args));
		if (o.h.size && callee.h.size && ![...o.h].every((h) => /^(?:process\.argv)$/.test(h)))
			return v;
		const turn = (fn, ...with_) => (this.give(fn, node, with_), this.results(fn));
		const element = () => this.value(c.object).element();
		if (name === "reduce" || name === "reduceRight") {
			const start = () => args[1] ? args[1]() : element();
			for (const fn of first.fn)
				v.add(turn(fn, () => new Value().add(start()).add(this.results(fn)), element, () => new Value(F.NUM)));
			return v.add(start());
		}
		if (name === "then" || name === "finally") {
			for (const fn of first.fn)
				v.add(turn(fn, () => this.value(c.object)));
			return first.fn.size ? v : v.add(o);
		}
		if (TO_ELEMENTS.has(name)) {
			const second = name === "sort" || name === "toSorted" ? element : () => new Value(F.NUM);
			for (const fn of first.fn) {
				const r = turn(fn, element, second, () => this.value(c.object));
				if (name === "map")
					v.f |= F.OBJ, v.hold(r);
				else if (name === "flatMap")
					v.add(r);
			}
			if (name === "map" && first.h.size)
				v.f |= F.OBJ, v.hold(new Value(F.UNK));
			if (/^(?:map|flatMap|forEach)$/.test(name))
				return v.add(new Value(name === "forEach" ? F.NUM : F.OBJ));
		} else {
			for (const a of args)
				this.giveUnknown(a(), node);
		}
		return v.add(this.methodResult(name, o, node, args));
	}

	methodResult(name, o, node, args) {
		const v = new Value();
		if (SAME_AS_RECEIVER.has(name) && !o.s.size) {
			v.add(o);
			v.h = NONE;
			for (const a of name === "concat" ? args : [])
				v.add(a()).hold(a());
			return v;
		}
		if (ONE_OF_RECEIVER.has(name))
			return v.add(o.element()).add(new Value(o.ef || o.es.size || o.efn.size || !o.f ? 0
				: F.UNK));
		if (NUMBERS.test(name))
			return new Value(F.NUM);
		if (name === "join") {
			const [a] = node.callee.object ? [node.callee.object] : [];
			const c = node.arguments[0] && this.folder.constant(node.arguments[0]);
			if (a && a.type === "ArrayExpression" && c && !a.elements.some((e) => !e || e.type === "SpreadElement"))
				return this.joined(a.elements.flatMap((e, i) => (i ? [Value.text(String(c.v))] : [])
					.concat(this.value(e))));
		}
		if (name === "exec" || name === "match" || name === "matchAll") {
			const text = name === "exec" ? args[0] ? args[0]() : new Value() : o;
			v.f = F.OBJ;
			v.ef = text.f & TEXTS || F.UNK;
			return v;
		}
		if (name === "charAt")
			return new Value(F.CHR);
		if (TEXT_METHODS.has(name)) {
			v.f = o.f & TEXTS || F.UNK;
			if (name === "split")
				v.ef = v.f, v.f |= F.OBJ;
			return v;
		}
		if ((name === "replace" || name === "replaceAll") && [...o.s].every((s) => s[0] === "^") && o.s.size)
			return v.add(o);
		v.f = F.UNK | (o.ef | o.f) & MARKS;
		v.ef = o.ef & (MARKS | F.FUN);
		return v;
	}

	indirect(name, o, node, args) {
		const rest = name === "apply" ? [0, 1, 2, 3].map(() => () => args[1] ? args[1]().element()
			: new Value()) : args.slice(1);
		const v = new Value(F.UNK);
		if (name === "bind")
			return v.add(o);
		for (const fn of o.fn) {
			this.give(fn, node, rest);
			v.add(this.results(fn));
		}
		for (const h of o.h)
			v.add(this.hostCall(h, node, rest));
		return v;
	}

	hostCall(h, node, args) {
		const first = args[0] ? args[0]() : new Value();
		if (["require", "module.require", "process.getBuiltinModule", "require.main.require"].includes(h))
			return this.loaded(first);
		if (/^(?:module|node:module)\.createRequire$/.test(h))
			return Value.host("require");
		if (/^Reflect\.get$/.test(h) && node.arguments.length > 1)
			return this.member(first, this.keyOf({ computed: true, property: node.arguments[1] }), node);
		if (/\.getPrototypeOf$/.test(h))
			return new Value(F.PROTO | F.OBJ);
		if (/\.getOwnPropertyDescriptors?$/.test(h)) {
			const v = new Value(F.OBJ).hold(first.element());
			v.hold(new Value(F.UNK | (first.f & (DEEP & ~F.DATA) || first.h.size ? F.DANGER : 0)));
			return v;
		}
		if (h === "util.promisify" || h === "Promise.resolve" || h === "Object.freeze" || h === "Object.seal"
		    || h === "structuredClone" || h === "util.deprecate")
			return first;
		if (/^(?:Promise\.(?:all|race|any|allSettled)|Object\.(?:values|fromEntries|create|assign)|Array\.of|Map|Set|Array|Proxy|WeakMap)$/.test(h))
			return this.container(h, args);
		if (h === "util.parseArgs")
			return new Value(F.OBJ).hold(first).hold(new Value(F.ARGV));
		if (h === "Array.from" || h === "Object.entries")
			return this.arrayFrom(first, args, node);
		if (h === "Reflect.apply" || h === "Reflect.construct")
			return this.indirect("apply", first, node, [args[1], h === "Reflect.apply" ? args[2] : args[1]]
				.map((a) => a || (() => new Value())));
		if (h.startsWith("fs.") || h.startsWith("path.") || h === "os.tmpdir" || h === "process.cwd"
		    || h === "url.fileURLToPath" || h === "URL")
			return this.fileCall(h, node, args, first);
		for (const a of args)
			this.giveUnknown(a(), node);
		if (NUMBER_CALLS.test(h))
			return new Value(F.NUM);
		if (h === "String.fromCharCode" || h === "String.fromCodePoint")
			return new Value(args.length === 1 && node.arguments[0].type !== "SpreadElement" ? F.CHR : F.UNK);
		if (h === "String")
			return new Value().add(first);
		if (/^Object\.keys$/.test(h))
			return new Value(F.OBJ).hold(new Value(F.UNK));
		return new Value(F.UNK | F.OBJ | args.reduce((f, a) => f | a().f & (F.DANGER | F.PROTO), 0));
	}

	container(h, args) {
		const v = new Value(F.OBJ);
		for (const a of args) {
			v.hold(a());
			if (h === "Proxy" || /^Object\.(?:assign|create)$/.test(h))
				v.f |= a().f & DEEP & ~F.FUN;
		}
		return v;
	}

	arrayFrom(first, args, node) {
		const v = new Value(F.OBJ);
		if (args[1])
			for (const fn of args[1]().fn) {
				this.give(fn, node, [() => args[0]().element(), () => new Value(F.NUM)]);
				v.hold(this.results(fn));
			}
		else
			v.hold(first.element());
		return v;
	}

	// Where files are: results that are names or contents of files.
	fileCall(h, node, args, first) {
		const parts = args.map((a) => a());
		if (h === "os.tmpdir")
			return Value.text("/tmp");
		if (h === "process.cwd")
			return Value.text("/work");
		if (h === "path.join" || h === "path.resolve") {
			const start = h === "path.resolve" ? Value.text("") : new Value();
			const all = parts.map((p) => this.asText(p)).reduce((a, b) => a ? this.concat(this.concat(a, Value.text("/")), b) : b,
				null) || start, r = new Value().add(all);
			if (h === "path.resolve" && parts.slice(1).some((p) => p.f & (F.UNK | F.OBJ) || [...p.s].some((s) => s[1] === "/")))
				parts.slice(1).forEach((p) => r.add(p));
			return r;
		}
		if (h === "path.basename" || h === "path.extname" || h === "path.relative")
			return new Value(F.REL);
		if (h === "path.dirname") {
			const v = new Value(first.f);
			for (const s of first.s)
				v.put("s", new Set([s[0] + (s[0] === "=" ? posix.dirname(s.slice(1)) : s.slice(1))]));
			return v;
		}
		if (h === "path.normalize" || h === "url.fileURLToPath" || h === "URL")
			return new Value().add(first);
		if (h.startsWith("path."))
			return new Value(F.UNK);
		if (/read(?:dir|link)|opendir|glob/.test(h))
			return this.callbackOf(node, args, new Value(F.OBJ).hold(new Value(F.REL)));
		if (/mkdtemp|realpath/.test(h))
			return this.callbackOf(node, args, new Value().add(first));
		if (/readFile|createReadStream|readSync/.test(h)) {
			const own = first.f & F.UNK || [...first.s].some((s) => !/^.\/in(?:\/|$)/.test(s));
			return this.callbackOf(node, args, new Value(own ? F.UNK : F.INPUT));
		}
		return this.callbackOf(node, args, new Value(F.UNK));
	}

	// Where anything but a text throws.
	asText(v) {
		const r = new Value().add(v);
		r.f &= ~(F.OBJ | F.FUN);
		return r;
	}

	callbackOf(node, args, result) {
		for (const a of args)
			for (const fn of a().fn)
				this.give(fn, node, [() => new Value(F.UNK), () => result]);
		return result;
	}
}
