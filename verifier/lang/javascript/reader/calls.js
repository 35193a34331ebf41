// What calls give: to functions their arguments, and back what they return, of the host's
// functions too. Follows flow.js, and is part of values.js' Program.

class Calls extends Flow {
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
