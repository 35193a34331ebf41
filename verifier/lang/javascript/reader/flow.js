// What flows into the names and members of a program, from where values are made: without
// regard to order, and members go by their name alone. Whose value an expression has is said in
// values.js, whose Program this is the beginning of.

class Flow {
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
}
