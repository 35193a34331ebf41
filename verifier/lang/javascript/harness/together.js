// Runs a solution, then its tests, in one interpreter, and reports how many
// assertions were executed and which failed. A solution can forge all of that, so
// a failure told of here is believed, and a pass never is.
//
// The report is written when the event loop has run dry, so that tests that wait
// for promises are heard; a solution that ends the process before that leaves none.
(() => {
const fs = require('fs'), path = require('path'), vm = require('vm');
const Module = require('module');
const work = __dirname, reportPath = '@REPORT@';
const solutionPath = path.join(work, '@SOLUTION@'), testsPath = path.join(work, '@TESTS@');
const writeFile = fs.writeFileSync, print = JSON.stringify;
const exit = process.exit, leaveNow = process.reallyExit.bind(process);
const tally = assertions.count(testsPath, () => []), { state } = tally;

const load = Module._load;
Module._load = function (name, ...rest) {
	const found = load.call(this, name, ...rest);
	return /^(node:)?assert(\/strict)?$/.test(name) ? tally.instrument(found) : found;
};
globalThis.require = Module.createRequire(solutionPath);
globalThis.module = { exports: {}, filename: solutionPath, children: [], paths: [] };
globalThis.exports = globalThis.module.exports;
globalThis.__filename = solutionPath;
globalThis.__dirname = work;
process.argv[1] = solutionPath;

const left = new Error('process.exit');
const broken = (e) => {
	if (!state.failed)
		tally.fail(e, 'an exception without a message');
	process.exitCode = 1;
	console.error(e && e.stack ? e.stack : e);
};
const run = (text, filename) => {
	try {
		vm.runInThisContext(text, { filename });
	} catch (e) {
		if (e !== left)
			broken(e);
	}
};
const bare = (text) => text.replace(/^#!.*/, '');
const code = fs.readFileSync(solutionPath, 'utf8'), tests = fs.readFileSync(testsPath, 'utf8');

const finish = () => {
	writeFile(reportPath, print({ ...state, lines: tally.lines() }) + '\n',
		{ flag: 'wx', mode: 0o600 });
	leaveNow(state.failed ? 1 : 0);
};
process.on('beforeExit', () => {
	if (process.exitCode && !state.failed)
		tally.fail(null, 'the tests set exit code ' + process.exitCode);
	finish();
});
process.exit = () => { throw left; };
run(bare(code), solutionPath);
process.exit = exit;
process.on('uncaughtException', (e) => {
	broken(e);
	finish();
});
if (!state.failed) {
	globalThis.require.main = globalThis.module;
	run(`(function () { ${bare(tests)}\n}).call(globalThis)`, testsPath);
}
})();
