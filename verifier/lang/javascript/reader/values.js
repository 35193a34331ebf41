// What each expression may be: values flow (flow.js) from where they are made to where they are
// used, calls among them (calls.js), until nothing changes.
const ROUNDS_MAX = 60;

class Program extends Calls {
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
}
