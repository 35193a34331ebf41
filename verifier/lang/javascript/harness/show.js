// Runs a program that printed nothing once more, and prints the value of its last
// expression, as a notebook would.
'use strict';
{
	const path = require('path').join(__dirname, '@SOLUTION@');
	const code = require('fs').readFileSync(path, 'utf8').replace(/^#!.*/, '');
	globalThis.require = require('module').createRequire(path);
	globalThis.module = { exports: {} };
	globalThis.exports = module.exports;
	globalThis.__filename = process.argv[1] = path;
	globalThis.__dirname = __dirname;
	const value = require('vm').runInThisContext(code, { filename: path });
	if (value !== undefined && typeof value !== 'function')
		Promise.resolve(value).then((v) => { if (v !== undefined) console.log(v); });
}
