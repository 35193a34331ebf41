// The first cell of a sandbox's context of JavaScript (agent/doors/e2b/code.c): where it begins, and values
// as results, not printed. What it says is a guest's word, and decides nothing.
void ((cwd) => {
	const fs = require('fs'), util = require('util');
	for (const folder of ['/tmp/user', cwd])
		fs.mkdirSync(folder, { recursive: true });
	process.chdir(cwd);
	const plain = process.cwd; // it would tell where the home really is
	process.cwd = () => plain.call(process).replace(/^\/tmp\/user(?=\/|$)/, '/home/user');
	globalThis[Symbol.for('assay.show')] = (value) => {
		const text = typeof value === 'string' ? value : util.inspect(value);
		fs.writeFileSync('/out/.e2b.json', JSON.stringify({ results: [{ text, is_main_result: true }], error: null }));
	};
})(process.env.ASSAY_CWD);
