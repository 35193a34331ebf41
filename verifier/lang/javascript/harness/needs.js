// Which cells of a context the last one needs, told from their trees: the names that each reads, sets,
// and changes the value of. What is not known to leave a value as it is changes all that its cell
// names; what reaches further makes all cells needed. Nothing of them is run. Before slice.js.
const needed = (() => {
const words = (text) => new Set(text.split(' '));
const FILES = '/'; // stands for all of them: no name is called so
const OPAQUE = words('eval Function globalThis global Proxy Reflect vm module exports arguments');
// Called for their value: what they are called on, and given, stays as it was.
const QUIET = words('map filter reduce reduceRight forEach find findIndex findLast findLastIndex some every ' +
	'flat flatMap slice concat includes indexOf lastIndexOf join keys values entries at get has toSorted ' +
	'toReversed toSpliced with toString toFixed toPrecision toLocaleString toISOString toUpperCase toLowerCase ' +
	'trim trimEnd trimStart split replace replaceAll match matchAll test search startsWith endsWith padStart ' +
	'padEnd charAt charCodeAt codePointAt substring substr repeat normalize localeCompare getTime getFullYear ' +
	'getMonth getDate getDay getHours getMinutes getSeconds getUTCFullYear getUTCMonth getUTCDate getUTCDay ' +
	'getUTCHours valueOf toJSON format then catch finally hasOwnProperty');
// Of which the last gives something new, whose own order may be changed.
const NEW = words('map filter flat flatMap slice concat toSorted toReversed toSpliced split entries keys values ' +
	'match from fromEntries of parse');
const PURE = words('console Math JSON Number String Boolean BigInt Symbol Array Date Intl RegExp URL ' +
	'URLSearchParams Buffer parseInt parseFloat isNaN isFinite display structuredClone encodeURIComponent ' +
	'decodeURIComponent Error TypeError RangeError Map Set WeakMap WeakSet Promise setTimeout path util os ' +
	'querystring url zlib crypto');
const OBJECT = words('keys values entries fromEntries groupBy hasOwn is getOwnPropertyNames');
const WRITES = /write|append|mkdir|rm|unlink|rename|copy|truncate|link|chmod|utimes|createWrite/i;

const isNode = (value) => value && typeof value.type === 'string';
const parts = (node) => Object.entries(node).flatMap(([key, value]) =>
	key === 'property' && !node.computed || key === 'key' && !node.computed && !node.shorthand ||
		key === 'label' ? [] :
		(Array.isArray(value) ? value : [value]).filter(isNode));
const each = (node, see) => {
	see(node);
	for (const part of parts(node))
		each(part, see);
};
const isFunction = (node) => /Function/.test(node.type);
const namesOf = (node, found = new Set()) => {
	if (node)
		each(node, (n) => n.type === 'Identifier' && found.add(n.name));
	return found;
};
const bound = (node, found = new Set()) => {
	if (!node)
		return found;
	if (node.type === 'Identifier')
		found.add(node.name);
	for (const part of [...node.properties || [], ...node.elements || []])
		bound(part && (part.value || part.argument || part), found);
	if (node.type === 'AssignmentPattern')
		bound(node.left, found);
	if (node.type === 'RestElement')
		bound(node.argument, found);
	return found;
};
// Parts of things that are set.
const targets = (node) => !node ? [] : node.type === 'MemberExpression' ? [node] :
	[...node.properties || [], ...node.elements || []].flatMap((part) => targets(part && (part.value || part)))
		.concat(targets(node.type === 'RestElement' ? node.argument : node.type === 'AssignmentPattern' && node.left));
const base = (node) => {
	while (node && /^(Member|Call|Chain|Await)Expression$/.test(node.type))
		node = node.object || node.callee || node.expression || node.argument;
	return node;
};
const methodOf = (call) => call.callee.type === 'MemberExpression' && !call.callee.computed ?
	call.callee.property.name : undefined;
// Its value has no other name.
const isNew = (node) => !node || /^(Array|Object)Expression$/.test(node.type) && isPlain(node) ||
	/^(Literal|TemplateLiteral|UnaryExpression|BinaryExpression|UpdateExpression)$/.test(node.type) ||
	node.type === 'NewExpression' && PURE.has(node.callee.name) && node.arguments.every(isNew);
const isPlain = (node) => (node.elements || node.properties.map((p) => p.value)).every((n) => n && isNew(n));

class Cell {
	constructor(tree) {
		this.tree = tree;
		this.sets = new Set();    // names of all that it declares or sets
		this.certain = new Set(); // whatever happens, and not read before
		this.fresh = new Map();   // names with a value of their own, in it
		this.words = namesOf(tree);
		this.changes = new Set();
		this.same = [];
		this.functions = new Map();
		this.modules = new Map();
		this.declare(tree, true);
		each(tree, (node) => this.note(node));
		const before = new Set();
		for (const node of tree.body) {
			const own = this.declaredBy(node);
			const read = namesOf({ type: 'Parts', list: (node.declarations || []).map((d) => d.init).filter(Boolean) });
			for (const name of own)
				if (!before.has(name) && !read.has(name))
					this.certain.add(name);
			namesOf(node, before);
		}
	}
	declaredBy(node) {
		if (node.type === 'VariableDeclaration')
			return node.declarations.filter((d) => d.init).flatMap((d) => [...bound(d.id)]);
		return /^(Function|Class)Declaration$/.test(node.type) ? [node.id.name] : [];
	}
	// What is there for others: at the top, and what var declares in blocks.
	declare(node, top) {
		for (const part of parts(node)) {
			if (part.type === 'VariableDeclaration' && (top || part.kind === 'var'))
				part.declarations.forEach((d) => bound(d.id, this.sets));
			if (/^(Function|Class)Declaration$/.test(part.type) && part.id)
				this.sets.add(part.id.name);
			if (!isFunction(part) && !/^Class/.test(part.type))
				this.declare(part, false);
		}
	}
	noteFresh(name, is) {
		this.fresh.set(name, is && this.fresh.get(name) !== false);
	}
	note(node) {
		if (node.type === 'VariableDeclarator') {
			for (const name of bound(node.id))
				this.noteFresh(name, node.id.type === 'Identifier' && isNew(node.init));
			this.noteDeclarator(node);
		} else if (node.type === 'AssignmentExpression') {
			for (const name of bound(node.left)) {
				this.sets.add(name);
				this.noteFresh(name, isNew(node.right));
				this.same.push([name, ...namesOf(node.right)]);
			}
		} else if (/^For(In|Of)/.test(node.type)) {
			for (const { id } of node.left.declarations || [])
				for (const name of bound(id)) {
					this.noteFresh(name, false);
					this.same.push([name, ...namesOf(node.right)]);
				}
			bound(node.left, this.sets);
		} else if (node.type === 'UpdateExpression') {
			bound(node.argument, this.sets);
		} else if (isFunction(node)) {
			for (const parameter of node.params)
				for (const name of bound(parameter))
					this.noteFresh(name, false);
			if (node.id)
				this.functions.set(node.id.name, node);
		} else if (/^Class/.test(node.type) && node.id) {
			this.functions.set(node.id.name, node);
		} else if (node.type === 'Identifier' && OPAQUE.has(node.name) || node.type === 'WithStatement' ||
			node.type === 'ImportExpression') {
			this.opaque = `it has ${node.name || node.type}`;
		} else if (node.type === 'CallExpression' && methodOf(node) === 'reduce' && node.arguments[1] &&
			isNew(node.arguments[1]) && isFunction(node.arguments[0]) && node.arguments[0].params[0]) {
			this.sums = (this.sums || new Set()).add(node.arguments[0].params[0].name);
		}
	}
	noteDeclarator({ id, init }) {
		if (!init)
			return;
		if (id.type === 'Identifier' && isFunction(init))
			this.functions.set(id.name, init);
		const call = init.type === 'AwaitExpression' ? init.argument : init;
		const whole = base(call);
		if (call.type === 'CallExpression' && call.callee.name === 'require' ||
			whole && whole.name === 'require')
			for (const name of bound(id))
				this.modules.set(name, this.requiredBy(call));
		else if (!isNew(init))
			this.same.push([...bound(id), ...namesOf(init)]);
	}
	requiredBy(node) {
		let name;
		each(node, (n) => {
			if (n.type === 'CallExpression' && n.callee.name === 'require' && n.arguments[0])
				name = n.arguments[0].value;
		});
		return String(name).replace(/^node:/, '');
	}
}

class Needs {
	constructor(trees) {
		this.cells = trees.map((tree) => new Cell(tree));
		this.names = new Set(this.cells.flatMap((cell) => [...cell.sets]));
		this.functions = new Map();
		this.modules = new Map();
		for (const cell of this.cells) {
			for (const [name, module] of cell.modules)
				this.modules.set(name, module);
			for (const [name, node] of cell.functions)
				this.functions.set(name, [...this.functions.get(name) || [], node]);
		}
		for (const cell of this.cells) {
			cell.reads = new Set([...cell.words].filter((name) => this.names.has(name)));
			each(cell.tree, (node) => this.look(cell, node));
		}
		for (const cell of this.cells)
			this.lookForHidden(cell);
		this.spread();
	}
	// A function without a name of its own, as a getter: nobody sees where it is called.
	lookForHidden(cell) {
		const seen = new Set(cell.functions.values());
		each(cell.tree, (node) => {
			if (/^(Call|New)Expression$/.test(node.type))
				[node.callee, ...node.arguments].forEach((n) => seen.add(n));
		});
		each(cell.tree, (node) => {
			const own = node.type === 'PropertyDefinition' ? node.value : isFunction(node) && node;
			if (own && !seen.has(own) && this.changesOthers(own, new Set()))
				cell.opaque = cell.opaque || 'a function in it, whose calls cannot be told, changes what others use';
		});
	}
	changesOthers(node, seen) {
		if (seen.has(node))
			return false;
		seen.add(node);
		const own = new Cell({ type: 'Program', body: [{ type: 'ExpressionStatement', expression: node }] });
		own.reads = new Set([...own.words].filter((name) => this.names.has(name)));
		each(node, (part) => this.look(own, part));
		return [...own.sets, ...own.changes, ...own.wide || []].some((name) => name === FILES ||
			this.names.has(name) && !this.functions.has(name) && !this.modules.has(name)) ||
			[...own.called || []].some((name) =>
				this.functions.get(name).some((called) => this.changesOthers(called, seen)));
	}
	// Of a thing that is changed: the name it has, or all that the cell names.
	change(cell, node) {
		const root = base(node), name = root && root.type === 'Identifier' && root.name;
		if (root && !name && isNew(root))
			return;
		if (name && (cell.fresh.get(name) || cell.sums && cell.sums.has(name) && !cell.sets.has(name))) {
			if (this.names.has(name)) {
				cell.changes.add(name);
				cell.same.push([name, ...cell.reads]);
			}
			return;
		}
		const others = name && this.names.has(name) && !cell.fresh.has(name) ? [name] : [...cell.reads, name];
		for (const other of others)
			if (this.names.has(other))
				(cell.wide = cell.wide || new Set()).add(other);
	}
	changeAll(cell) {
		cell.wide = new Set([...cell.wide || [], ...cell.reads]);
	}
	look(cell, node) {
		if (node.type === 'AssignmentExpression')
			targets(node.left).forEach((target) => this.change(cell, target));
		else if (node.type === 'UpdateExpression' && node.argument.type === 'MemberExpression' ||
			node.type === 'UnaryExpression' && node.operator === 'delete')
			this.change(cell, node.argument);
		else if (/^For(In|Of)/.test(node.type))
			targets(node.left).forEach((target) => this.change(cell, target));
		else if (node.type === 'CallExpression')
			this.call(cell, node);
		else if (node.type === 'NewExpression' && !PURE.has(node.callee.name) || node.type === 'TaggedTemplateExpression')
			this.changeAll(cell);
	}
	call(cell, node) {
		const method = methodOf(node), root = base(node.callee), name = root && root.name;
		for (const argument of node.arguments)
			if (argument.type === 'Identifier' && this.functions.has(argument.name))
				this.calls(cell, argument.name);
		if (name === 'require')
			return;
		if (node.callee.type === 'Identifier')
			return PURE.has(name) && !this.names.has(name) ? undefined : this.modules.has(name) ?
				this.files(cell, this.modules.get(name), name, node) : this.calls(cell, name);
		if (this.modules.has(name) && !cell.fresh.get(name))
			return this.files(cell, this.modules.get(name), method, node);
		if (name === 'process')
			return;
		if (name === 'Object' ? OBJECT.has(method) : PURE.has(name) && !this.names.has(name) && method)
			return;
		if (method && QUIET.has(method))
			return;
		// Of something new that a call has just given its own order alone is changed.
		const on = node.callee.object;
		if (/^(sort|reverse)$/.test(method) && on && on.type === 'CallExpression' && NEW.has(methodOf(on)))
			return;
		if (name === 'Object' && node.arguments[0])
			this.change(cell, node.arguments[0]);
		else if (on)
			this.change(cell, on);
		else
			this.changeAll(cell);
	}
	// A function of the cells' own is looked into where it is declared: what it changes, whoever calls it does.
	calls(cell, name) {
		const list = this.functions.get(name);
		if (!list || list.some((node) => /^Class/.test(node.type)))
			return this.changeAll(cell);
		(cell.called = cell.called || new Set()).add(name);
	}
	files(cell, module, method, node) {
		if (PURE.has(module) || module === 'path')
			return;
		if (!/^fs(\/promises)?$/.test(module)) {
			cell.opaque = module === 'child_process' || module === 'worker_threads' ? `it uses ${module}` : cell.opaque;
			cell.reads.add(FILES);
			cell.changes.add(FILES);
			return this.changeAll(cell);
		}
		const path = node.arguments[0] && node.arguments[0].value;
		if (method && WRITES.test(method))
			cell.changes.add(FILES);
		if ((!method || !/^(write|append|mkdir)/.test(method)) && !(typeof path === 'string' && path.startsWith('/in/')))
			cell.reads.add(FILES);
	}
	// What follows of functions, and of two names for one thing.
	spread() {
		const inside = new Map();
		for (const [name, list] of this.functions) {
			const own = { reads: new Set(), cells: new Set() };
			for (const node of list) {
				namesOf(node).forEach((n) => this.names.has(n) && own.reads.add(n));
				for (const cell of this.cells)
					if (cell.functions.get(name) === node)
						own.cells.add(cell);
			}
			inside.set(name, own);
		}
		for (const _ of inside)
			for (const { reads } of inside.values())
				for (const name of [...reads])
					inside.get(name)?.reads.forEach((n) => reads.add(n));
		const groups = new Map();
		for (const cell of this.cells)
			for (const list of cell.same) {
				const some = list.filter((n) => this.names.has(n) && !this.modules.has(n) && !this.functions.has(n));
				const all = new Set(some.flatMap((n) => [...groups.get(n) || [n]]));
				all.forEach((n) => groups.set(n, all));
			}
		for (const cell of this.cells) {
			for (const name of [...cell.reads])
				inside.get(name)?.reads.forEach((n) => cell.reads.add(n));
			for (const name of cell.called || [])
				// Where its cell changes more than its own, so does who calls it.
				for (const other of inside.get(name).cells)
					if (other.wide || other.changes.has(FILES))
						this.changeAll(cell), other.changes.has(FILES) && cell.changes.add(FILES);
			for (const name of cell.called || [])
				for (const { sets, functions } of inside.get(name).cells)
					for (const n of sets)
						if (!functions.has(n) && namesSet(functions.get(name)).has(n))
							cell.sets.add(n);
			for (const name of cell.wide || [])
				(groups.get(name) || [name]).forEach((n) => cell.changes.add(n));
		}
	}
	need() {
		const number = this.cells.findIndex((cell) => cell.opaque) + 1;
		if (number)
			return { why: `cell ${number}: ${this.cells[number - 1].opaque}` };
		const used = new Set([this.cells.length - 1]);
		let wanted = new Set(this.cells.at(-1).reads);
		for (let n = this.cells.length - 2; n >= 0; n--) {
			const cell = this.cells[n];
			if (![...cell.sets, ...cell.changes].some((name) => wanted.has(name)))
				continue;
			used.add(n);
			wanted = new Set([...wanted, ...cell.reads].filter((name) => !cell.certain.has(name)));
		}
		return { used: [...used].sort((a, b) => a - b) };
	}
}
const namesSet = (node) => {
	const found = new Set();
	each(node, (n) => {
		if (n.type === 'AssignmentExpression')
			bound(n.left, found);
		if (n.type === 'UpdateExpression')
			bound(n.argument, found);
	});
	return found;
};
return (trees) => new Needs(trees).need();
})();
