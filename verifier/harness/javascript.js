// Runs a solution, then its tests in the same global scope, and reports how
// many assertions were executed and which failed. Counted are console.assert
// (which by itself never fails a run) and the assert module.
//
// The report is written when the event loop has run dry, so that tests that
// wait for promises are heard; a solution that ends the process before that
// leaves no report and does not pass. The report's name is random and the
// files are gone before the solution starts, but one interpreter runs both:
// code written to cheat can find what is here.
'use strict';
(() => {
	const fs = require('fs'), path = require('path'), vm = require('vm');
	const Module = require('module');
	const work = __dirname;
	const reportPath = '@REPORT@';
	const solutionPath = path.join(work, '@SOLUTION@');
	const testsPath = path.join(work, '@TESTS@');
	const state = { assertions: 0, failed: 0, failures: [] };
	const writeFile = fs.writeFileSync, print = JSON.stringify;
	const exit = process.exit;

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

	const consoleAssert = console.assert;
	console.assert = (ok, ...rest) => {
		state.assertions++;
		if (!ok)
			fail(new Error('console.assert failed' + (rest.length ? ': ' + rest.join(' ') : '')));
		return consoleAssert.call(console, ok, ...rest);
	};

	const counted = (fn, self) => function (...args) {
		state.assertions++;
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

	// --- the run ---

	const code = fs.readFileSync(solutionPath, 'utf8');
	const tests = fs.readFileSync(testsPath, 'utf8');
	for (const file of [testsPath, __filename]) {
		try {
			fs.unlinkSync(file);
		} catch (e) {
			// a read-only folder: the files stay
		}
	}
	globalThis.require = Module.createRequire(solutionPath);
	globalThis.module = { exports: {}, filename: solutionPath, children: [], paths: [] };
	globalThis.exports = globalThis.module.exports;
	globalThis.__filename = solutionPath;
	globalThis.__dirname = work;
	process.argv[1] = solutionPath;

	const run = (text, filename) => {
		try {
			vm.runInThisContext(text.replace(/^#!.*/, ''), { filename });
		} catch (e) {
			if (e === left)
				return;
			if (!state.failed)
				fail(e, 'an exception without a message');
			process.exitCode = 1;
			console.error(e && e.stack ? e.stack : e);
		}
	};
	const left = new Error('process.exit');
	process.exit = () => { throw left; };
	run(code, solutionPath);
	process.exit = exit;
	if (!state.failed) {
		globalThis.require.main = undefined;
		run(tests, testsPath);
	}
	process.on('beforeExit', () => {
		if (process.exitCode && !state.failed)
			fail(null, 'the tests set exit code ' + process.exitCode);
		writeFile(reportPath, print(state) + '\n', { flag: 'wx', mode: 0o600 });
		process.reallyExit(state.failed ? 1 : 0);
	});
})();
