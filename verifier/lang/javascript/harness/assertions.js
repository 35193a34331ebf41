// Assertions of the tests: how many were executed, which of them failed, and in
// which lines. Counted are console.assert (which by itself never fails a run) and the
// assert module. Which of those that a text holds were never made is for sites.js.
'use strict';
const assertions = (() => {
const FAILURES_MAX = 20, LINES_MAX = 1000;

// testsPath: whose frames of a stack tell the line. doubts() gives, and forgets,
// the reasons not to believe what was decided since it was last asked.
const count = (testsPath, doubts) => {
	const state = { assertions: 0, failed: 0, failures: [] }, made = [], frames = new Set();

	const lineOf = (error) => {
		const at = String((error && error.stack) || '').split(testsPath + ':')[1];
		return at ? parseInt(at, 10) : 0;
	};
	const fail = (error, fallback) => {
		state.failed++;
		if (state.failures.length < FAILURES_MAX)
			state.failures.push({
				line: lineOf(error),
				message: String((error && error.message) || fallback).slice(0, 500),
			});
	};
	const begin = () => {
		const here = new Error('here');
		state.assertions++;
		for (const part of String(here.stack).split(testsPath + ':').slice(1))
			frames.add(/^\d+:\d+/.exec(part)[0]);
		const one = { line: lineOf(here), held: true, doubts: [] };
		made.push(one);
		return one;
	};
	const failed = (one, error) => {
		one.held = false;
		fail(error, 'an assertion without a message');
	};

	const consoleAssert = console.assert;
	console.assert = (ok, ...rest) => {
		const one = begin();
		if (!ok)
			failed(one, new Error(['console.assert failed', rest.join(' ')]
				.filter((part) => part).join(': ')));
		one.doubts = doubts('ok', [ok]);
		return consoleAssert.call(console, ok, ...rest);
	};

	const counted = (fn, name, self) => function (...args) {
		const one = begin();
		try {
			const result = fn.apply(self, args);
			one.doubts = doubts(name, args);
			if (!result || typeof result.then !== 'function')
				return result;
			return result.then((v) => {
				one.doubts.push(...doubts(name, args));
				return v;
			}, (e) => { failed(one, e); throw e; });
		} catch (e) {
			one.doubts = doubts(name, args);
			failed(one, e);
			throw e;
		}
	};
	const seen = new Map();
	const instrument = (assert) => {
		if (!seen.has(assert))
			seen.set(assert, new Proxy(assert, {
				apply: (target, self, args) => counted(target, 'ok', self)(...args),
				get: (target, key) => {
					const value = target[key];
					const isClass = /^[A-Z]/.test(String(key));
					if (key === 'strict')
						return instrument(value);
					if (typeof value !== 'function' || isClass)
						return value;
					return counted(value, String(key), target);
				},
			}));
		return seen.get(assert);
	};
	// Of the lines with an assertion: whether all in it held.
	const lines = () => {
		const held = new Map();
		for (const { line, held: ok, doubts: why } of made)
			if (line && (!ok || !why.length))
				held.set(line, ok && held.get(line) !== false);
		return [...held].slice(0, LINES_MAX);
	};
	return { state, made, frames, fail, lineOf, instrument, lines };
};
return { count };
})();
