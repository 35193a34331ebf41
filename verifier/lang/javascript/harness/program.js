// The program, alone: it is run as it stands, and then does what its judge asks
// over the pipes (pipe.js). The tests were never in these walls.
//
// Between two requests this side waits in a read, and nothing of the program
// runs, as nothing of it would while tests are at work in one interpreter. When
// the tests themselves have nothing to do but wait, the judge says "run", and
// timers and promises have their turn here until one of them concerns it.
(() => {
const fs = require('fs'), path = require('path'), vm = require('vm'), util = require('util');
const Module = require('module');
const work = __dirname, solutionPath = path.join(work, '@SOLUTION@');
const { setTimeout: later, clearTimeout: never, setImmediate: soon } = globalThis;
const { apply } = Reflect, { then } = Promise.prototype;
const exit = process.exit, leaveNow = process.reallyExit.bind(process);
const globalNames = Object.getOwnPropertyNames(globalThis);
const before = new Map(globalNames.map((name) =>
	[name, Object.getOwnPropertyDescriptor(globalThis, name).value]));
const loaded = new Map();	// what the program required: its name

// --- the program's names ---

const RESERVED = new Set(('break case catch class const continue debugger default delete do ' +
	'else enum export extends false finally for function if import in instanceof let new ' +
	'null return static super switch this throw true try typeof var void while with yield ' +
	'await async of implements interface package private protected public arguments eval ' +
	'undefined').split(' '));
const DECLARED = /\b(?:function\s*\*?|class|const)\s+([\p{ID_Start}$_][\p{ID_Continue}$]*)/gu;
const fixed = (text) => new Set([...text.matchAll(DECLARED)].map((m) => m[1]));
const wordsOf = (text) => [...new Set(text.match(/[\p{ID_Start}$_][\p{ID_Continue}$]*/gu))]
	.filter((name) => !RESERVED.has(name));
const access = new Map();	// by name: a function that gives its value
const lookUp = (names) => {
	const list = '[' + names.map((name) => `["${name}", () => ${name}]`) + ']';
	for (const [name, get] of vm.runInThisContext(list)) {
		try {
			get();
			access.set(name, get);
		} catch (e) {
			// no name of the top
		}
	}
};
const isOwn = (name, get) => !before.has(name) || before.get(name) !== get();

// Methods that the program gave to the language's own types.
const TYPES = ['Array', 'String', 'Number', 'Boolean', 'Function', 'Promise', 'Date', 'RegExp',
	'Map', 'Set', 'Object', 'Math'];
const ownerOf = (type, where) => where ? globalThis[type].prototype : globalThis[type];
const members = () => TYPES.flatMap((type) => ['', '.prototype'].flatMap((where) =>
	Object.getOwnPropertyNames(ownerOf(type, where) || {}).map((key) => [type, where, key])));

// --- running it ---

const left = new Error('process.exit');
const isAtLoad = () => !serving;
let serving = false;
const load = Module._load;
Module._load = function (name, ...rest) {
	const found = apply(load, this, [name, ...rest]);
	const bare = String(name).replace(/^node:/, '');
	if (codec.LIBRARIES.includes(bare) && !loaded.has(found)) {
		loaded.set(found, 'node:' + bare);
		for (const key of Object.keys(found))
			if (typeof found[key] === 'function' && !loaded.has(found[key]))
				loaded.set(found[key], 'node:' + bare + '.' + key);
	}
	return found;
};
const run = (text) => {
	globalThis.require = Module.createRequire(solutionPath);
	globalThis.module = { exports: {}, filename: solutionPath, children: [], paths: [] };
	globalThis.exports = globalThis.module.exports;
	globalThis.__filename = solutionPath;
	globalThis.__dirname = work;
	process.argv[1] = solutionPath;
	process.exit = () => { throw left; };
	try {
		vm.runInThisContext(text.replace(/^#!.*/, ''), { filename: solutionPath });
	} catch (e) {
		if (e !== left) {
			console.error(e && e.stack ? e.stack : e);
			leaveNow(1);
		}
	}
	process.exit = exit;
};

// --- what it prints while it answers goes with the answer ---

const PRINTS = ['log', 'info', 'debug', 'warn', 'error'];
const isData = (v) => v === null || !['object', 'function'].includes(typeof v) ||
	!['handle', 'function', 'promise'].includes(codec.kindOf(v));
const passOn = (...values) => link.send('print', values);
for (const name of PRINTS) {
	const print = console[name];
	console[name] = function (...args) {
		if (isAtLoad())
			return apply(print, console, args);
		const told = args.every(isData) ? args : [util.format(...args)];
		return passOn('console', name, ...told);
	};
}
for (const name of ['stdout', 'stderr']) {
	const { get } = Object.getOwnPropertyDescriptor(process, name);
	let stream;
	Object.defineProperty(process, name, { configurable: true, enumerable: true, get: () => {
		if (stream)
			return stream;
		stream = get.call(process);
		const write = stream.write;
		stream.write = function (text, ...rest) {
			if (isAtLoad())
				return apply(write, this, [text, ...rest]);
			passOn('stream', name, Buffer.from(text).toString());
			const done = rest.find((v) => typeof v === 'function');
			if (done)
				process.nextTick(done);
			return true;
		};
		return stream;
	} });
}

// --- its turns ---

let events = false, ending = false, timer = null;	// while the judge waits for what happens
const waiting = [];	// what happened: number, held or not, value
const over = (dry) => {
	const told = [dry, ...waiting.splice(0)];
	never(timer);
	events = false;
	ending = false;
	link.send('return', told);
	serve();
};
const happened = (...event) => {
	waiting.push(...event);
	if (events && !ending) {
		ending = true;
		soon(() => over(false));
	}
};
const turn = (ms) => {
	events = true;
	soon(() => {});	// or the process would end, when this is its last turn
	if (waiting.length)
		happened();
	else if (ms >= 0)
		timer = later(() => events && !ending && over(false), ms).unref();
};
process.on('beforeExit', () => {
	if (events)
		over(true);
});

const open = new Map();	// promises of the judge
const operations = {
	__proto__: null, ...pipe.operations,
	names: () => [[...access].filter(([name, get]) => isOwn(name, get))
		.map(([name]) => [name, fixedNames.has(name)]),
	members().filter((m) => !known.has(String(m)))],
	name: (name) => [access.get(name)()],
	exports: () => [globalThis.module.exports],
	member: (type, where, key) => [ownerOf(type, where)[key]],
	settle: (id, held, v) => {
		open.get(id)[held ? 0 : 1](v);
		open.delete(id);
		return [];
	},
};
const nothing = () => undefined;
const link = pipe.connect({
	bounded: false,
	operations,
	fatal: (e) => {
		if (!(e instanceof Ended))
			fs.writeSync(2, 'the driver of the program: ' + (e && e.stack) + '\n');
		leaveNow(e instanceof Ended ? 0 : 1);
	},
	watch: {
		coerced: nothing, claimed: nothing, got: nothing, listed: nothing, stands: nothing,
		refused: () => false, isTheirs: () => false,
		called: (info, self, args, ask) => {
			const v = ask();
			happened();
			return v;
		},
		made: (info, ask) => ask(),
	},
	promise: (id) => new Promise((...settle) => open.set(id, settle)),
	sent: (kind, id, v) => {
		if (kind === 'promise')
			apply(then, v, [true, false].map((held) => (x) => happened(id, held, x)));
	},
	library: () => undefined,
	loaded: (v) => loaded.get(v),
	printed: nothing,
	asked: nothing,
	thrown: (e) => e,
});
const serve = () => {
	serving = true;
	for (;;) {
		const [type, values] = link.receive();
		if (type === 'run')
			return turn(values[0]);
		link.answer(type, values);
	}
};

const code = fs.readFileSync(solutionPath, 'utf8'), fixedNames = fixed(code);
const known = new Set(members().map(String));
run(code);
lookUp(wordsOf(code));
serve();
})();
