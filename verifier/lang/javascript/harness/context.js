// The cells of a context in one realm: the earlier ones again, for nobody to see, then the new
// one with the streams of the run. A cell has ended when the event loop has run dry. At the end
// of the last a report (a file of the run's own) says what is there now and what the cells
// before it printed; it is the guest's word, and nothing is decided by it but whether there is
// a state.
(() => {
const fs = require('fs'), path = require('path'), vm = require('vm'), util = require('util');
const inside = require; // cells get another
const acorn = inside('internal/deps/acorn/acorn/dist/acorn');
const work = __dirname, reportPath = '@REPORT@', solutionPath = path.join(work, '@SOLUTION@');
const CELLS = path.join(work, 'assay_cells'), NAMES = 60, TEXT = 160;
const { cwd } = process, { apply } = Reflect, print = JSON.stringify, { inspect } = util;
const { builtinModules } = inside('module');
const soon = setImmediate, leaveNow = process.reallyExit.bind(process);

const take = (name) => {
	if (!fs.existsSync(name))
		return null;
	const bytes = fs.readFileSync(name);
	fs.unlinkSync(name);
	return bytes;
};
const numbers = fs.existsSync(CELLS) ?
	fs.readdirSync(CELLS).filter((n) => /^\d+$/.test(n)).map(Number).sort((a, b) => a - b) : [];
const cells = numbers.map((n) => ({ code: String(take(path.join(CELLS, String(n)))),
	stdin: take(path.join(CELLS, n + '.in')) }));
if (numbers.length)
	fs.rmdirSync(CELLS);
cells.push({ code: String(take(solutionPath)) });
fs.unlinkSync(__filename);

globalThis.require = require('module').createRequire(solutionPath);
globalThis.module = { exports: {}, filename: solutionPath, children: [], paths: [] };
globalThis.exports = globalThis.module.exports;
globalThis.require.main = globalThis.module;
globalThis.__filename = process.argv[1] = solutionPath;
globalThis.__dirname = work;
globalThis.display = (...values) => console.log(...values);

// --- the streams ---

// The lowest number that is free is what a file is opened as.
const put = (number, name, flags) => {
	fs.closeSync(number);
	fs.openSync(name, flags);
};
const kept = [0, 1, 2].map((n) => fs.openSync('/proc/self/fd/' + n, n ? 'a' : 'r'));
let scratch = 0;
const hide = (stdin) => {
	const name = `/tmp/.assay-${process.pid}-${++scratch}`;
	fs.writeFileSync(name + '.in', stdin || '', { mode: 0o600 });
	put(0, name + '.in', 'r');
	put(1, name, 'ax+');
	put(2, '/dev/null', 'a');
	fs.unlinkSync(name + '.in');
	return name;
};
const unhide = (name) => {
	const bytes = fs.readFileSync(name);
	fs.unlinkSync(name);
	kept.forEach((fd, n) => put(n, '/proc/self/fd/' + fd, n ? 'a' : 'r'));
	return require('crypto').createHash('sha256').update(bytes).digest('hex');
};
const openInput = () => {
	let stream;
	Object.defineProperty(process, 'stdin', { configurable: true, enumerable: true,
		get: () => stream = stream ||
			new fs.ReadStream(null, { fd: 0, autoClose: false }) });
};
// As files they are written to at once, and whatever their number stands for then.
let printed = false;
{
	const name = hide(null);
	for (const stream of [process.stdout, process.stderr]) {
		const write = stream.write;
		stream.write = function (...args) {
			printed = true;
			return apply(write, this, args);
		};
	}
	unhide(name);
}

// --- the text of a cell ---

const bound = (node) => node.specifiers.map((s) => {
	const from = `require(${node.source.raw})`, local = s.local.name;
	if (s.type === 'ImportNamespaceSpecifier')
		return `var ${local} = ${from};`;
	if (s.type === 'ImportDefaultSpecifier' || s.imported.name === 'default')
		return `var ${local} = ((m) => m && m.default ? m.default : m)(${from});`;
	return `var { ${s.imported.name}: ${local} } = ${from};`;
}).join(' ') || `require(${node.source.raw});`;
const options = { ecmaVersion: 'latest', allowAwaitOutsideFunction: true, allowHashBang: true,
	allowReturnOutsideFunction: false };
const parse = (text) => {
	try {
		return acorn.parse(text, { ...options, sourceType: 'script' });
	} catch (e) {
		if (!/import|export/.test(e.message))
			throw e;
		return acorn.parse(text, { ...options, sourceType: 'module' });
	}
};
// What a cell declares is there for the next, which may declare it again.
const changes = (tree) => tree.body.flatMap((node) => {
	if (node.type === 'VariableDeclaration' && node.kind !== 'var')
		return [[node.start, node.start + node.kind.length, 'var']];
	if (node.type === 'ClassDeclaration')
		return [[node.start, node.start, `var ${node.id.name} = `]];
	if (node.type === 'ImportDeclaration')
		return [[node.start, node.end, bound(node)]];
	if (node.type === 'ExportNamedDeclaration' && node.declaration)
		return [[node.start, node.declaration.start, ''],
			...changes({ body: [node.declaration] })];
	return [];
});
const replace = (text, list) => list.reverse().reduce((all, [from, to, by]) =>
	all.slice(0, from) + by + all.slice(to), text);
const SHOWN = /^(Identifier|MemberExpression|Literal|BinaryExpression|TemplateLiteral|ArrayExpression|ObjectExpression|ConditionalExpression|LogicalExpression|UnaryExpression|ChainExpression)$/;
const compile = (text, name) => {
	text = text.replace(/^#!.*/, '');
	let tree;
	try {
		tree = parse(text);
	} catch (e) {
		new vm.Script(text, { filename: name }); // says it as node does
		throw e;
	}
	const last = tree.body.at(-1);
	const isValue = last && last.type === 'ExpressionStatement' && !last.directive;
	const without = replace(text, changes(tree));
	const waits = /\bawait\b/.test(without) && // it is long to load
		inside('internal/repl/await').processTopLevelAwait(without);
	const code = waits ? replace(waits, changes(acorn.parse(waits, options))) : without;
	return { script: new vm.Script(code, { filename: name }), waits, isValue,
		isPure: isValue && SHOWN.test(last.expression.type) };
};

// --- one cell ---

const left = new Error('process.exit');
let status = 0, number = 0, stdoutName, ended;
const digests = [];
// Whoever opened the context may have another way to show values: of the last cell alone.
const show = (value) => {
	const other = globalThis[Symbol.for('assay.show')];
	if (value === undefined || typeof value === 'function')
		return;
	if (!other)
		console.log(value);
	else if (isLast())
		other(value);
};
const clean = (e) => {
	if (!e || typeof e.stack !== 'string')
		return e;
	const lines = e.stack.split('\n'), inside = lines.findLastIndex((l) => /\bcell \d+:/.test(l));
	return lines.filter((l, i) => i <= inside || !/^ {4}at /.test(l)).join('\n');
};
const run = async ({ code }, name) => {
	const { script, waits, isValue, isPure } = compile(code, name);
	printed = false;
	let value = script.runInThisContext();
	if (waits)
		value = (await value)?.value;
	if (isPure)
		show(value);
	else if (isValue)
		ended = async () => {
			value = await value;
			if (!printed)
				show(value);
		};
};
const isLast = () => number === cells.length;
// To who answers calls of tools, if somebody does (agent/call_cells.h).
const canCall = (() => {
	try {
		return fs.existsSync(path.join(work, 'assay.js')) && fs.fstatSync(4).isFIFO();
	} catch {
		return false;
	}
})();
const writeNow = fs.writeSync;
const beginTurn = (n) => {
	const turn = Buffer.from('    ' + print({ cell: n }));
	turn.writeUInt32BE(turn.length - 4);
	try {
		if (canCall)
			writeNow(4, turn);
	} catch {
		// nothing more is answered
	}
};
const stop = (e) => {
	if (!isLast()) {
		unhide(stdoutName);
		console.error(clean(e));
		fs.writeFileSync(reportPath, print({ printed: digests, broken: number }),
			{ flag: 'wx', mode: 0o600 });
	} else {
		console.error(clean(e));
	}
	leaveNow(1);
};
const next = () => {
	const cell = cells[number++];
	stdoutName = isLast() ? undefined : hide(cell.stdin);
	beginTurn(isLast() ? 0 : number);
	openInput();
	process.exitCode = undefined;
	ended = undefined;
	soon(() => {}); // or the loop, which was dry, would not tell its end again
	run(cell, `cell ${number}`).catch((e) => {
		if (e !== left)
			stop(e);
	});
};

// --- what is there ---

const names = new Set(Object.getOwnPropertyNames(globalThis));
const cut = (text, most = TEXT) => text.length > most ? text.slice(0, most) + '...' : text;
const asText = (value, depth) => inspect(value, { depth, customInspect: false, getters: false,
	maxArrayLength: 3, maxStringLength: 60, breakLength: Infinity });
const isPlain = (value) => value !== null && typeof value === 'object' && !util.types.isProxy(value);
// Records are alike mostly: one whole tells more than the beginnings of three.
const firstRecord = (list) => {
	const first = util.types.isProxy(list) ? undefined :
		Object.getOwnPropertyDescriptor(list, 0)?.value;
	return isPlain(first) && !Array.isArray(first) ? first : null;
};
const describe = (value) => {
	if (typeof value === 'function')
		return /^class\b/.test(Function.prototype.toString.call(value)) ? 'class' :
			`function of ${value.length}`;
	if (!Array.isArray(value))
		return `${typeof value} ${cut(asText(value, 1))}`;
	const record = firstRecord(value);
	return `Array of ${value.length}: ` + (record ? `the first is ${cut(asText(record, 4), 2 * TEXT)}` :
		cut(asText(value, 1)));
};
// A module by its own name, as it mostly is.
const isModule = (name, value) => isPlain(value) && builtinModules.includes(name) &&
	inside(name) === value;
// No caches of libraries: what is hidden is there, and not told.
const listFiles = (folder, as, found) => {
	for (const e of fs.readdirSync(folder, { withFileTypes: true })) {
		if (e.name.startsWith('.'))
			continue;
		const name = path.join(folder, e.name), known = path.join(as, e.name);
		if (e.isDirectory())
			listFiles(name, known, found);
		else if (e.isFile() && found.size < NAMES)
			found.set(known, fs.statSync(name).size);
	}
	return found;
};
const listOpen = () => process.getActiveResourcesInfo()
	.filter((kind) => /Socket|Server|Process|Timeout/.test(kind)).slice(0, 20);
const workingFolder = () => {
	try {
		return apply(cwd, process, []);
	} catch {
		return '(removed)';
	}
};
const write = () => {
	const own = Object.getOwnPropertyNames(globalThis).filter((n) => !names.has(n));
	const found = [], modules = [];
	for (const name of own) {
		const d = Object.getOwnPropertyDescriptor(globalThis, name);
		if (d && isModule(name, d.value))
			modules.push(name);
		else
			found.push([name.slice(0, 80), d && 'value' in d ? describe(d.value) : 'accessor']);
	}
	if (modules.length)
		found.push(['modules', modules.slice(0, 40).join(', ')]);
	const folder = workingFolder();
	if (folder !== work)
		found.push(['working folder', folder]);
	fs.writeFileSync(reportPath, print({ printed: digests, kept: true,
		names: found.slice(-NAMES), more: Math.max(0, found.length - NAMES),
		files: [...listFiles('/out', work, listFiles(work, work, new Map()))], out: fs.readdirSync('/out', { recursive: true }).slice(0, 200), left: listOpen(), html: [] }), { flag: 'wx', mode: 0o600 });
};

// --- all of them ---

// A folder goes into one of its name; all else takes the place of what is there.
const isFolder = (name) => fs.lstatSync(name, { throwIfNoEntry: false })?.isDirectory();
const moveInto = (from, to) => {
	if (isFolder(from) && isFolder(to)) {
		for (const name of fs.readdirSync(from))
			moveInto(path.join(from, name), path.join(to, name));
	} else {
		fs.rmSync(to, { recursive: true, force: true });
		fs.cpSync(from, to, { recursive: true });
	}
	fs.rmSync(from, { recursive: true, force: true });
};
// Files of an earlier cell stay, in the work folder.
const clearOut = () => {
	for (const name of fs.readdirSync('/out'))
		moveInto(path.join('/out', name), path.join(work, name));
};
const finish = () => {
	status = Number(process.exitCode || 0);
	if (status && !isLast())
		stop('it set exit code ' + status);
	if (status)
		leaveNow(status);
	if (isLast()) {
		write();
		leaveNow(0);
	}
	digests.push(unhide(stdoutName));
	clearOut();
	next();
};
process.exit = (code) => {
	process.exitCode = code ?? process.exitCode;
	if (!isLast() && !Number(process.exitCode || 0))
		throw left;
	finish();
};
process.on('uncaughtException', (e) => {
	if (e !== left)
		stop(e);
});
process.on('beforeExit', () => {
	const later = ended;
	ended = undefined;
	if (later)
		later().then(() => soon(() => {}), stop);
	else
		finish();
});
next();
})();
