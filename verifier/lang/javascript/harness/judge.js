// The tests, and of the program nothing but a pipe to it: what they call of it is
// asked over that pipe (pipe.js), and what comes back is plain data or
// a handle. So the program cannot reach the tests, what they expect, what counts
// them or the report; and no object of its own is ever here to be asked.
//
// An assertion counts when it was decided here. One that the program's word about
// itself decided is told of as undecided (doubts.js).
//
// What is left to a wrong program: tests that a wrong answer satisfies; answers
// that depend on how often, in which order and when it is asked, and on which
// properties of its objects are looked at; and texts of two of its objects that
// the tests compare with each other. Its answers are made without sight of what
// the tests expect, unless the tests hand that to it as an argument.
(() => {
const fs = require('fs'), path = require('path'), vm = require('vm'), util = require('util');
const Module = require('module');
const { setImmediate: soon } = globalThis;
const { every } = Array.prototype;
const work = __dirname, reportPath = '@REPORT@';
const testsPath = path.join(work, '@TESTS@'), solutionPath = path.join(work, '@SOLUTION@');
const { writeFileSync, readFileSync } = fs, print = JSON.stringify;
const leaveNow = process.reallyExit.bind(process);
const SLICE_MS = 1;
Error.stackTraceLimit = 60;

let link = null, unlike = null;
const lineHere = () => tally.lineOf(new Error('here'));
const isThing = (v) => v !== null && ['object', 'function'].includes(typeof v);
const kept = doubts.keep((v) => isThing(v) && link ? link.infoOf(v) : undefined,
	(e) => tally.lineOf(e), (line) => tests.split('\n')[line - 1] || '',
	(...what) => made(...what));
const tally = assertions.count(testsPath, kept.take);

// --- the report ---

let written = false;
const undecided = () => {
	const late = { line: 0, doubts: kept.take('', []) };
	return [...tally.made, late].flatMap((one) => {
		one.doubts = kept.open(one.doubts);
		const [first] = one.doubts;
		return first ? [{ line: first.line || one.line, why: first.why }] : [];
	}).slice(0, 100);
};
const writeReport = () => {
	if (written)
		return;
	written = true;
	const { assertions: made, failed, failures } = tally.state, open = undecided();
	const told = unlike ? { failed: 0, failures: [], lines: [] } :
		{ failed, failures, lines: tally.lines() };
	const text = print({ assertions: made, ...told, undecided: open, unlike }) + '\n';
	writeFileSync(reportPath, text, { flag: 'wx', mode: 0o600 });
};
const status = () => tally.state.failed && !unlike ? 1 : 0;
const leave = (error) => {
	if (!tally.state.failed)
		tally.fail(error, 'an exception without a message');
	console.error(error && error.stack ? error.stack : error);
	writeReport();
	leaveNow(status());
};
const fatal = (e) => {
	const ended = e instanceof Ended && 'the program ended before it answered';
	const why = new Error(ended || e.message);
	why.stack = String(why.stack).replace(/^.*\n/, why.message + '\n');
	tally.fail(why, '');
	writeReport();
	leaveNow(1);
};

// --- what the program may ask of the tests ---

// Functions and objects of the tests that were given to it, and of those only what
// the tests made themselves: no way leads from them to the language's own.
const roots = new Set([Object, Function, Array, String, Number, Boolean, Symbol, BigInt, Map, Set,
	Date, RegExp, Promise, Error, WeakMap, WeakSet, Int8Array, async () => {}, function* () {},
	async function* () {}].flatMap((v) => [v.prototype, Object.getPrototypeOf(v),
	v.prototype && Object.getPrototypeOf(v.prototype)]));
const HIDDEN = ['constructor', '__proto__', 'prototype', 'caller', 'callee', 'arguments'];
const given = (v) => {
	codec.need(isThing(v) && link.side.isGiven(v));
	called.add(v);
	return v;
};
const ownerOf = (v, key) => {
	codec.need(codec.isText(key));
	const { getPrototypeOf, hasOwn } = Object;
	for (let o = given(v); o && !roots.has(o) && !HIDDEN.includes(key); o = getPrototypeOf(o))
		if (hasOwn(o, key))
			return o;
	return null;
};
const memberOf = (v, key) => ownerOf(v, key) ? v[key] : undefined;
const { operations: all } = pipe;
const operations = {
	__proto__: null,
	call: (fn, self, ...args) => {
		codec.need(typeof given(fn) === 'function');
		kept.hear(args);
		return all.call(fn, self, ...args);
	},
	new: (fn, ...args) => {
		codec.need(typeof given(fn) === 'function');
		kept.hear(args);
		return all.new(fn, ...args);
	},
	method: (v, key, ...args) => {
		codec.need(key === 'next' && steps.has(v));
		return [steps.get(v).next(...args)];
	},
	close: (v, ...args) => all.close(steps.get(v), ...args),
	iterate: (v, async) => {
		const it = all.iterate(given(v), async === true)[0];
		const token = { next() {} };
		steps.set(token, it);
		return [token];
	},
	get: (v, key) => [memberOf(v, key)],
	set: (v, key, value) => {
		codec.need(codec.isText(key) && !HIDDEN.includes(key));
		codec.need(typeof value !== 'function' || !doubts.isMethod(key));
		return all.set(given(v), key, value);
	},
	has: (v, key) => [ownerOf(v, key) !== null],
	delete: (v, key) => [Object.hasOwn(given(v), key) && delete v[key]],
	keys: (v) => all.keys(given(v)),
	describe: (v, key) => ownerOf(v, key) === v ? all.describe(v, key) : [false],
	// But not the text of the tests.
	primitive: (v, hint) => typeof given(v) === 'function' ? ['function () { }'] :
		all.primitive(v, hint),
};
const steps = new WeakMap();	// iterators of the tests, behind what stands for them

// --- promises, and the program's turns ---

const open = new Map();	// the program's promises that are not settled yet
const own = [];	// of the tests, settled, to be told
let pumping = false;
const settled = (id, held, v) => {
	const one = open.get(id);
	codec.need(one && typeof held === 'boolean');
	open.delete(id);
	kept.hear([v]);
	one.settle[held ? 0 : 1](held ? v : thrown(v));
};
const tellOwn = () => own.splice(0).forEach((event) => link.ask('settle', ...event));
const isBusy = () => process.getActiveResourcesInfo().some((what) =>
	!['PipeWrap', 'TTYWrap'].includes(what));
const pump = () => {
	tellOwn();
	const [dry, ...events] = link.ask('run', isBusy() ? SLICE_MS : -1);
	codec.need(typeof dry === 'boolean' && events.length % 3 === 0);
	for (let i = 0; i < events.length; i += 3)
		settled(events[i], events[i + 1], events[i + 2]);
	pumping = false;
	if (!dry || own.length)
		plan();
};
// Its turn comes when the tests have nothing to do but wait for it.
const plan = () => {
	if (pumping || !(open.size || own.length || handed.size || isBusy()))
		return;
	pumping = true;
	soon(safely(pump));
};
const safely = (fn) => () => {
	try {
		fn();
	} catch (e) {
		fatal(e);
	}
};

// --- the program ---

// An error of the program is made here, and where it stands in the tests is told.
const thrown = (e) => {
	if (!(e instanceof Error) || !link.side.isTheirs(e))
		return e;
	const frames = new Error('').stack.split('\n')
		.filter((line) => line.includes(testsPath + ':'));
	Object.defineProperty(e, 'stack', { configurable: true, writable: true,
		value: [`${e.name}: ${e.message}`, ...frames].join('\n') });
	return e;
};
// A thing of a library that the program loaded is this side's own; what asserts, only
// by the name that it has there.
let asking = null;
const library = (name) => {
	const [, bare, key] = /^node:([a-z/]+)(?:\.(\w+))?$/.exec(name) || [];
	if (!codec.LIBRARIES.includes(bare))
		return undefined;
	const is = asking === (key || bare) ||
		(asking === 'assert' && (!key || ['strict', 'ok'].includes(key)));
	if (bare.startsWith('assert') && key !== 'AssertionError' && !is)
		kept.add('the program has a function of assert by another name');
	const found = require(bare);
	return !key ? found : Object.hasOwn(found, key) ? found[key] : undefined;
};
let printFailed = null;
const printed = (kind, name, ...values) => {
	const isConsole = kind === 'console';
	codec.need(isConsole ? ['log', 'info', 'debug', 'warn', 'error'].includes(name) :
		['stdout', 'stderr'].includes(name) && codec.isText(values[0]));
	try {
		if (isConsole)
			console[name](...values);
		else
			process[name].write(values[0]);
	} catch (e) {
		printFailed = printFailed || { error: e };
	}
};
const refused = (why) => {
	unlike = unlike || why;
	return false;
};
const asked = (told) => {
	if (told)
		kept.hear(told);
	const failed = printFailed;
	printFailed = null;
	plan();
	if (failed)
		throw failed.error;
};
// Of what is handed to the program as more than data.
const handed = new Map(), called = new Set(), libraries = new Set([process, globalThis]);
const sent = (kind, id, v) => {
	const tell = (held) => (x) => {
		own.push([id, held, x]);
		plan();
	};
	if (kind === 'promise')
		v.then(tell(true), tell(false));
	if (kind === 'function' || kind === 'handle')
		handed.set(v, lineHere());
	if (libraries.has(v))
		refused('a library is handed to the program');
};
const connect = () => pipe.connect({
	bounded: true, operations, fatal, printed, thrown, library, loaded: () => undefined,
	watch: {
		...kept.watch, refused, isTheirs: (v) => link.side.isTheirs(v),
	},
	asked, sent,
	promise: (id) => {
		const one = { line: lineHere() };
		const promise = new Promise((...settle) => { one.settle = settle; });
		open.set(id, one);
		return promise;
	},
});

// --- its names in the tests ---

const wordsOf = (text) => new Set([...text.matchAll(
	/(\.\.\.|\.)?\s*([\p{ID_Start}$_][\p{ID_Continue}$]*)/gu)]
	.filter((m) => m[1] !== '.').map((m) => m[2]));
const told = (v, facts) => {
	const info = isThing(v) && link.infoOf(v);
	if (info)
		Object.assign(info, facts);
	return v;
};
const nameOf = (name) => {
	asking = name;
	const trusted = /^[A-Z].*[a-z]/.test(name);	// a class or a namespace to the tests
	const v = told(link.ask('name', name)[0], { name, trusted, origin: 'name ' + name });
	asking = null;
	const known = codec.names.get(v);
	if (known && !known.endsWith(name) && doubts.isComparison(name))
		kept.add(`the program's ${name} is ${known}`);
	return v;
};
// What the tests give a value themselves is theirs from there on.
const addName = (name, isFixed) => {
	let value, is = false;
	Object.defineProperty(globalThis, name, {
		configurable: true,
		get: () => {
			if (!is)
				value = nameOf(name);
			is = isFixed;
			return value;
		},
		set: (own) => Object.defineProperty(globalThis, name,
			{ value: own, configurable: true, writable: true }),
	});
};
// Its method for one of the language's own types, where the tests ask for it by name.
const addMember = (type, where, key) => {
	const owner = where ? globalThis[type].prototype : globalThis[type];
	if (key in owner || ['toJSON', 'then'].includes(key))
		return;
	Object.defineProperty(owner, key, { configurable: true, writable: true,
		value: function (...args) {
			const [fn] = link.ask('member', type, where, key);
			return Reflect.apply(told(fn, { name: key }), this, args);
		} });
};
// The names that only the tests' wrapper may see: a function of the program that
// is named like one of the language's, when nothing else of it is under test.
const addNames = () => {
	const [names, members] = link.ask('names');
	codec.need(Array.isArray(names) && Array.isArray(members));
	const words = wordsOf(tests);
	const used = names.filter(([name, isFixed]) => {
		codec.need(codec.isText(name));
		codec.need(/^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name));
		codec.need(typeof isFixed === 'boolean');
		return words.has(name);
	});
	const free = used.filter(([name]) => !(name in globalThis));
	const named = used.filter(([name, isFixed]) => isFixed && name in globalThis &&
		/^[a-z]/.test(name) && typeof globalThis[name] === 'function');
	free.forEach(([name, isFixed]) => addName(name, isFixed));
	members.forEach(([type, where, key]) => {
		codec.need(['', '.prototype'].includes(where) && codec.isText(key) &&
			/^[A-Z]\w*$/.test(type) && Object.hasOwn(globalThis, type));
		if (new RegExp('\\.' + key.replace(/[^\w]/g, '\\$&') + '\\b').test(tests))
			addMember(type, where, key);
	});
	const isOnly = !free.length && !members.length && named.length === 1 &&
		!/\brequire\s*\(\s*['"`]\.{0,2}\//.test(tests);
	return (isOnly ? named : []).map(([name]) => [name, nameOf(name)])
		.filter(([, v]) => typeof v === 'function');
};

// --- the run ---

const loadModule = Module._load;
Module._load = function (name, parent, ...rest) {
	if (/^(?:\.{1,2}(?:\/|$)|\/)/.test(name) && parent && parent.filename === solutionPath &&
	    (path.resolve(work, name) + '.js' === solutionPath ||
	     path.resolve(work, name) === solutionPath || !isThere(name)))
		return told(link.ask('exports')[0], { name, trusted: true });
	const found = loadModule.call(this, name, parent, ...rest);
	if (Module.isBuiltin(name) && !codec.LIBRARIES.includes(name.replace(/^node:/, '')))
		for (const key of [null, ...Object.keys(found)])
			libraries.add(key === null ? found : found[key]);
	return /^(node:)?assert(\/strict)?$/.test(name) ? tally.instrument(found) : found;
};
const isThere = (name) => ['', '.js', '.json', '/index.js', '.cjs'].some((end) =>
	fs.existsSync(path.resolve(work, name) + end));
const deepEqual = util.isDeepStrictEqual;
util.isDeepStrictEqual = (...args) => {
	const same = deepEqual(...args);
	kept.deep(args);
	return same;
};

Array.prototype.every = function (...args) {
	kept.over(this);
	return Reflect.apply(every, this, args);
};

const finish = () => {
	if (process.exitCode && !tally.state.failed)
		tally.fail(null, 'the tests set exit code ' + process.exitCode);
	lookBack();
	writeReport();
	leaveNow(status());
};
// What kept assertions from being made: a promise that stays open, a function that the
// program never called, where the tests still wait or were to assert, or what it said.
const ASSERTS = /\bassert\b(?!\.(?:fail|AssertionError)\b)/;
const lookBack = () => {
	kept.lookBack();
	for (const { line } of open.values())
		kept.add('a promise of the program was never settled', null, line);
	const unmade = text.unmade(tally.frames);
	for (const { line } of unmade)
		kept.add('this assertion was never made', null, line);
	for (const [v, line] of handed)
		if (!called.has(v) && (waits.size || unmade.length ||
		    (typeof v === 'function' && ASSERTS.test(v))))
			kept.add('the program never called what it was given', null, line);
};
const runTests = (named) => {
	const names = ['_assay_ref', ...named.map(([name]) => name)];
	const head = `(function (${names}) { `;
	const body = vm.runInThisContext(head + text.text + '\n})',
		{ filename: testsPath, columnOffset: -head.length });
	body.apply(globalThis, [text.ref, ...named.map(([, v]) => v)]);
};
let tests = '', text = null, made = null;	// as they are, and what sites.js says of them
const waits = new Set();	// promises that are not settled yet
const main = () => {
	tests = readFileSync(testsPath, 'utf8').replace(/^#!.*/, '');
	text = sites.read(tests);
	made = sites.answers(tests);
	if (/\bawait\b|\bPromise\b/.test(tests))
		require('async_hooks').createHook({
			init: (id, type) => { if (type === 'PROMISE') waits.add(id); },
			promiseResolve: (id) => { waits.delete(id); },
		}).enable();
	globalThis.require = Module.createRequire(solutionPath);
	globalThis.module = { exports: {}, filename: solutionPath, children: [], paths: [] };
	globalThis.exports = globalThis.module.exports;
	globalThis.__filename = solutionPath;
	globalThis.__dirname = work;
	globalThis.require.main = globalThis.module;
	process.argv[1] = solutionPath;
	const { emit } = process;
	process.emit = function (name, ...rest) {
		const heard = Reflect.apply(emit, this, [name, ...rest]);
		if (name === 'exit')
			finish();
		return heard;
	};
	process.setUncaughtExceptionCaptureCallback(leave);
	link = connect();
	runTests(addNames());
	plan();
};
main();
})();
