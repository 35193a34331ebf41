// Runs a solution, then its tests, and reports how many assertions were executed
// and which failed. Counted are console.assert (which by itself never fails a
// run) and the assert module.
//
// One interpreter runs both, so what is reported from there may be forged. The
// calls that the tests make are noted, too; "answer" makes them again where the
// tests are not, and "confirm" runs the tests where the program is not, on its
// answers. verifier/tests.h says which of them is believed. The report is
// written when the event loop has run dry, so that tests that wait for promises
// are heard; a solution that ends the process before that leaves none.
'use strict';
(() => {
	const fs = require('fs'), path = require('path'), vm = require('vm'), v8 = require('v8');
	const Module = require('module');
	const work = __dirname;
	const mode = '@MODE@', reportPath = '@REPORT@', dataPath = '@DATA@';
	const solutionPath = path.join(work, '@SOLUTION@');
	const testsPath = path.join(work, '@TESTS@');
	const state = { assertions: 0, failed: 0, failures: [], own: 0, unlike: null };
	const writeFile = fs.writeFileSync, print = JSON.stringify;
	const exit = process.exit;
	let ownWord = false;	// the program's own method has decided what comes next

	const fail = (error, fallback) => {
		const stack = String((error && error.stack) || '');
		const at = stack.split(testsPath + ':')[1];
		state.failed++;
		if (state.failures.length < 20)
			state.failures.push({
				line: at ? parseInt(at, 10) : 0,
				message: String((error && error.message) || fallback).slice(0, 500),
			});
	};

	// --- counting ---

	const count = () => {
		if (ownWord)
			state.own++;
		else
			state.assertions++;
		ownWord = false;
	};
	const consoleAssert = console.assert;
	console.assert = (ok, ...rest) => {
		count();
		if (!ok)
			fail(new Error('console.assert failed' + (rest.length ? ': ' + rest.join(' ') : '')));
		return consoleAssert.call(console, ok, ...rest);
	};

	const counted = (fn, self) => function (...args) {
		count();
		try {
			const result = fn.apply(self, args);
			if (result && typeof result.then === 'function')
				return result.catch((e) => { fail(e); throw e; });
			return result;
		} catch (e) {
			fail(e);
			throw e;
		}
	};
	const seen = new Map();
	const instrument = (assert) => {
		if (!seen.has(assert))
			seen.set(assert, new Proxy(assert, {
				apply: (target, self, args) => counted(target, self)(...args),
				get: (target, key) => {
					const value = target[key];
					if (key === 'strict')
						return instrument(value);
					return typeof value === 'function' && key !== 'AssertionError' ?
						counted(value, target) : value;
				},
			}));
		return seen.get(assert);
	};
	const load = Module._load;
	Module._load = function (name, ...rest) {
		const found = load.call(this, name, ...rest);
		return /^(node:)?assert(\/strict)?$/.test(name) ? instrument(found) : found;
	};

	// --- how values cross: with one form for one value ---

	const ITEMS_MAX = 10000, SIZE_MAX = 3 << 20;
	class Opaque extends Error {}
	const plainKinds = [Date, RegExp, ArrayBuffer, Boolean, Number, String];

	const isPlain = (v, depth = 0) => {
		if (v === null || (typeof v !== 'object' && typeof v !== 'function'))
			return typeof v !== 'symbol';
		if (typeof v === 'function' || depth > 100)
			return false;
		const kind = Object.getPrototypeOf(v);
		if (plainKinds.some((k) => kind === k.prototype) || ArrayBuffer.isView(v))
			return true;
		if (kind === Map.prototype || kind === Set.prototype)
			return [...v].every((x) => isPlain(x, depth + 1));
		if (kind !== Object.prototype && kind !== Array.prototype && kind !== null)
			return false;
		return Reflect.ownKeys(v).every((k) => typeof k === 'string' &&
			(k === 'length' || isPlain(v[k], depth + 1)));
	};

	// Objects and functions of the program are numbered as they are first seen.
	const numbers = new Map(), objects = [];
	const number = (v) => {
		if (!numbers.has(v)) {
			numbers.set(v, objects.length);
			objects.push(v);
		}
		return numbers.get(v);
	};
	let size = 0;
	const encode = (v) => {
		const text = numbers.has(v) ? 'h' + numbers.get(v) :
			isPlain(v) ? 'v' + v8.serialize(v).toString('base64') : null;
		if (text === null)
			throw new Opaque(typeof v === 'function' ? 'a function' : 'an object with methods');
		size += text.length;
		if (size > SIZE_MAX)
			throw new Opaque('more than can be kept');
		return text;
	};
	const decode = (text) => text[0] === 'h' ? objects[+text.slice(1)] :
		v8.deserialize(Buffer.from(text.slice(1), 'base64'));
	const keyOf = (what, word, args) => print([what, word, args.map(encode)]);

	// --- where the program is ---

	const iterated = (v) => {
		const items = [];
		for (const item of v) {
			items.push(item);
			if (items.length > ITEMS_MAX)
				throw new Opaque('an endless iterator');
		}
		return items;
	};
	const isIterator = (v) => typeof v === 'object' && v !== null && typeof v.next === 'function' &&
		typeof v[Symbol.iterator] === 'function';

	// One operation on the program: the same beside the tests and apart from them.
	const operate = (program, what, word, args) => {
		if (what === 'call')
			return program[word](...args);
		if (what === 'new')
			return new program[word](...args);
		const [self, key, ...rest] = args;
		if (what === 'set')
			return void (self[key] = rest[0]);
		return what === 'get' ? self[key] : self[key](...rest);
	};

	const told = (v) => {
		if (isPlain(v))
			return ['value', encode(v)];
		if (isIterator(v))
			return ['iterate', encode(iterated(v))];
		return [typeof v === 'function' ? 'function' : 'object', number(v)];
	};
	const errorOf = (e) => ['raise', String(e && e.constructor && e.constructor.name),
		String(e && e.name), String(e && e.message)];

	const answer = async (program, key) => {
		const [what, word, codes] = JSON.parse(key);
		const args = codes.map(decode), before = print(codes);
		let reply;
		try {
			const v = operate(program, what, word, args);
			if (v && typeof v.then === 'function')
				reply = ['promise', await v.then(told, errorOf)];
			else
				reply = told(v);
		} catch (e) {
			reply = e instanceof Opaque ? ['opaque', e.message] : errorOf(e);
		}
		const after = print(args.map(encode));
		return print([reply, after === before ? null : after]);
	};

	const kindOf = (v) => {
		if (typeof v !== 'function')
			return isPlain(v) ? ['value', encode(v)] : ['object', number(v)];
		if (!/^class\b/.test(Function.prototype.toString.call(v)))
			return ['function'];
		return [v.prototype instanceof Error ? 'error' : 'class'];
	};

	// What the program declares at its top, as its text has it.
	const declared = (text) => {
		const found = new Set(), re =
			/(?:^|[;{}\n]|\basync\b)\s*(?:function\s*\*?|class|const|let|var)\s+([A-Za-z_$][\w$]*)/g;
		for (const m of text.matchAll(re))
			found.add(m[1]);
		return [...found];
	};
	const valuesOf = (names) => {
		const values = Object.create(null);
		for (const name of names) {
			try {
				const v = vm.runInThisContext(name);
				if (v !== undefined)
					values[name] = v;
			} catch (e) {
				// declared in a function, not at the top
			}
		}
		return values;
	};

	// --- between the tests and the program, or what stands for it ---

	// Their names decide in the language's own types what a test asks of them.
	const deciding = new Set([Array, String, Map, Set, RegExp, Object].flatMap((k) =>
		Object.getOwnPropertyNames(k.prototype)));
	const proxies = new Map(), targets = new WeakMap();
	const inner = (v) => targets.has(v) ? targets.get(v) : v;

	// ask(what, word, args) makes the operation, or gives its recorded answer.
	const outer = (v, ask) => {
		if (v === null || (typeof v !== 'object' && typeof v !== 'function') || !numbers.has(v))
			return v;
		if (proxies.has(v))
			return proxies.get(v);
		const proxy = new Proxy(typeof v === 'function' ? function () {} : {}, {
			apply: (t, self, args) => ask('method', 'call', [v, 'call', undefined, ...args]),
			set: (t, key, value) => {
				ask('set', String(key), [v, String(key), value]);
				return true;
			},
			get: (t, key) => {
				if (typeof key === 'symbol' || key === 'then' || key === 'constructor')
					return undefined;
				const found = ask('get', key, [v, key]);
				if (typeof found !== 'function')
					return found;
				return (...args) => {
					const result = ask('method', key, [v, key, ...args]);
					ownWord = ownWord || (typeof result === 'boolean' && deciding.has(key));
					return result;
				};
			},
		});
		proxies.set(v, proxy);
		targets.set(proxy, v);
		return proxy;
	};
	const facade = (name, kind, ask) => {
		if (kind === 'class')
			return new Proxy(class {}, {
				construct: (t, args) => ask('new', name, args),
				get: (t, key) => {
					if (typeof key === 'symbol' || key === 'prototype')
						return t[key];
					return (...args) => ask('call', name + '.' + key, args);
				},
			});
		return (...args) => ask('call', name, args);
	};

	let calls = '';	// a text, not an array, whose methods the program could replace
	const recorder = (program) => {
		let busy = false;
		return (what, word, args) => {
			const own = args.map(inner);
			if (busy)
				return operate(program, what, word, own);
			try {
				const key = print(keyOf(what, word, own));
				calls += (calls && ',') + key;
			} catch (e) {
				state.unlike = state.unlike || word + ' is given ' + e.message;
			}
			const drawn = seed;
			let v;
			busy = true;
			try {
				v = operate(program, what, word, own);
			} finally {
				busy = false;
				seed = drawn;
			}
			if (v !== null && (typeof v === 'object' || typeof v === 'function') && !isPlain(v) &&
			    !isIterator(v) && typeof v.then !== 'function')
				number(v);
			return outer(v, recorder(program));
		};
	};

	class Unlike extends Error {}
	const errors = new Map();
	const player = (asked, answers) => {
		let at = 0;
		const unlike = (why) => {
			state.unlike = state.unlike || why;
			throw new Unlike(why);
		};
		const given = (reply, ask) => {
			switch (reply[0]) {
			case 'value':
				return decode(reply[1]);
			case 'iterate':
				return decode(reply[1])[Symbol.iterator]();
			case 'object':
			case 'function': {
				const id = reply[1];
				objects[id] = objects[id] || (reply[0] === 'function' ? function () {} : { id });
				numbers.set(objects[id], id);
				return outer(objects[id], ask);
			}
			case 'promise':
				return reply[1][0] === 'raise' ? Promise.reject(raised(reply[1])) :
					Promise.resolve(given(reply[1], ask));
			case 'raise':
				throw raised(reply);
			default:
				return unlike(String(reply[1]));
			}
		};
		const raised = ([, kind, name, message]) => {
			const known = errors.get(kind) || (/^[A-Za-z]*Error$/.test(kind) && globalThis[kind]) || Error;
			const e = new known(message);
			if (e.message !== message)
				e.message = message;
			if (e.name !== name)
				e.name = name;
			return e;
		};
		const ask = (what, word, args) => {
			let key;
			try {
				key = keyOf(what, word, args.map(inner));
			} catch (e) {
				unlike(word + ' is given ' + e.message);
			}
			if (asked[at] !== key)
				unlike('without the program, the tests make other calls (' + word + ')');
			const [reply, after] = JSON.parse(answers[at++]);
			if (after !== null)
				JSON.parse(after).forEach((code, i) => change(args[i], code));
			return given(reply, ask);
		};
		ask.done = () => at === asked.length;
		return ask;
	};
	const change = (old, code) => {
		if (old === null || typeof old !== 'object' || code[0] !== 'v')
			return;
		const now = decode(code);
		if (Array.isArray(old) && Array.isArray(now))
			old.splice(0, old.length, ...now);
		else if (old instanceof Map || old instanceof Set) {
			old.clear();
			now.forEach((v, k) => old instanceof Map ? old.set(k, v) : old.add(v));
		} else if (!targets.has(old)) {
			Object.keys(old).forEach((k) => delete old[k]);
			Object.assign(old, now);
		}
	};

	// The tests draw the same random numbers in every run.
	let seed = 1;
	Math.random = () => {
		seed = (seed + 0x6D2B79F5) | 0;
		let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
		t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
		return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
	};

	// --- the run ---

	const take = (name) => {
		const file = path.join(work, name), text = fs.readFileSync(file, 'utf8');
		try {
			fs.unlinkSync(file);
		} catch (e) {
			// a read-only folder: the file stays
		}
		return text;
	};
	const code = fs.readFileSync(solutionPath, 'utf8');
	const tests = mode === 'answer' ? '' : take('@TESTS@');
	const asked = mode === 'answer' || mode === 'confirm' ? take('assay_calls') : '[]';
	const said = mode === 'confirm' ? JSON.parse(take('assay_answers')) : null;
	take(path.basename(__filename));
	globalThis.require = Module.createRequire(solutionPath);
	globalThis.module = { exports: {}, filename: solutionPath, children: [], paths: [] };
	globalThis.exports = globalThis.module.exports;
	globalThis.__filename = solutionPath;
	globalThis.__dirname = work;
	process.argv[1] = solutionPath;

	const left = new Error('process.exit');
	const run = (text, filename, names = [], values = []) => {
		const bare = text.replace(/^#!.*/, '');
		try {
			if (names.length)
				vm.runInThisContext('(function (' + names + ') { ' + bare + '\n})', { filename })
					.apply(globalThis, values);
			else
				vm.runInThisContext(bare, { filename });
		} catch (e) {
			if (e === left)
				return;
			if (!state.failed)
				fail(e, 'an exception without a message');
			process.exitCode = 1;
			console.error(e && e.stack ? e.stack : e);
		}
	};
	const runSolution = () => {
		process.exit = () => { throw left; };
		run(code, solutionPath);
		process.exit = exit;
	};
	// Only what the tests use and do not declare themselves.
	const used = (names) => {
		const own = new Set(declared(tests));
		return names.filter((n) => !own.has(n) && tests.includes(n));
	};
	const runTests = (names, values) => {
		globalThis.require.main = undefined;
		seed = 1;
		run(tests, testsPath, names, values);
	};
	const methods = (program) => {
		for (const [name, v] of Object.entries(program))
			if (kindOf(v)[0] === 'class')
				for (const key of Object.getOwnPropertyNames(v))
					if (typeof v[key] === 'function')
						program[name + '.' + key] = (...args) => v[key](...args);
		return program;
	};

	let finished = () => {};
	const together = () => {
		runSolution();
		if (state.failed)
			return;
		const program = valuesOf(declared(code)), names = used(Object.keys(program));
		for (const name of Object.keys(program))
			kindOf(program[name]);
		const ask = recorder(methods(program));
		runTests(names, names.map((n) => {
			const [kind] = kindOf(program[n]);
			return kind === 'class' || kind === 'function' ? facade(n, kind, ask) :
				outer(program[n], ask);
		}));
		finished = () => writeFile(dataPath, '[' + calls + ']', { flag: 'wx', mode: 0o600 });
	};
	const answerAll = async () => {
		runSolution();
		const program = valuesOf(declared(code));
		const out = [Object.keys(program).map((n) => [n, ...kindOf(program[n])])];
		methods(program);
		for (const key of JSON.parse(asked))
			out.push(await answer(program, key));
		writeFile(dataPath, print(out), { flag: 'wx', mode: 0o600 });
		process.reallyExit(0);
	};
	const confirm = () => {
		const keys = JSON.parse(asked);
		if (!Array.isArray(keys) || keys.some((k) => typeof k !== 'string') ||
		    print(keys) !== asked)
			state.unlike = 'calls that hold more than calls';
		const ask = player(keys, said.slice(1));
		const stubs = Object.create(null);
		for (const [name, kind, content] of said[0]) {
			if (!/^[A-Za-z_$][\w$]*$/.test(name))
				continue;
			if (kind === 'error')
				errors.set(name, stubs[name] = { [name]: class extends Error {} }[name]);
			else if (kind === 'object')
				numbers.set(objects[content] = { id: content }, content);
			if (kind === 'object')
				stubs[name] = outer(objects[content], ask);
			else if (kind !== 'error')
				stubs[name] = kind === 'value' ? decode(content) : facade(name, kind, ask);
		}
		const names = used(Object.keys(stubs)).filter((n) => !(n in globalThis));
		runTests(names, names.map((n) => stubs[n]));
		finished = () => {
			if (!ask.done() && !state.failed)
				state.unlike = state.unlike || 'without the program, the tests make fewer calls';
		};
	};

	process.on('beforeExit', () => {
		if (process.exitCode && !state.failed)
			fail(null, 'the tests set exit code ' + process.exitCode);
		finished();
		writeFile(reportPath, print(state) + '\n', { flag: 'wx', mode: 0o600 });
		process.reallyExit(state.failed ? 1 : 0);
	});
	({ answer: answerAll, confirm })[mode] ? ({ answer: answerAll, confirm })[mode]() : together();
})();
