// The cells of a context as one program: those that the last one needs, by the names that they read,
// set and change (needs.js). A name that two of them declare is declared so that it can be, and the
// last value is printed as it was. Nothing of them is run.
(() => {
const fs = require('fs');
const acorn = require('internal/deps/acorn/acorn/dist/acorn');
const given = JSON.parse(fs.readFileSync(0, 'utf8'));
const options = { ecmaVersion: 'latest', sourceType: 'script', allowHashBang: true,
	allowAwaitOutsideFunction: true };
const SHOWN = /^(Identifier|MemberExpression|Literal|BinaryExpression|TemplateLiteral|ArrayExpression|ObjectExpression|ConditionalExpression|LogicalExpression|UnaryExpression|ChainExpression)$/;

const bound = (node) => !node ? [] : node.type === 'Identifier' ? [node.name] :
	node.type === 'ObjectPattern' ? node.properties.flatMap((p) => bound(p.value || p.argument)) :
	node.type === 'ArrayPattern' ? node.elements.flatMap(bound) :
	node.type === 'AssignmentPattern' ? bound(node.left) : bound(node.argument);
const declared = (node) => node.type === 'VariableDeclaration' ?
	node.declarations.flatMap((d) => bound(d.id)) :
	node.type === 'ClassDeclaration' ? [node.id.name] : [];
const cells = given.cells.map((text) => {
	const code = text.replace(/^#!.*/, '');
	return { code, tree: acorn.parse(code, options) };
});
const seen = new Map();
for (const { tree } of cells)
	for (const name of tree.body.flatMap(declared))
		seen.set(name, (seen.get(name) || 0) + 1);
const isTwice = (node) => declared(node).some((name) => seen.get(name) > 1);
const change = (node) => !isTwice(node) ? [] : node.type === 'ClassDeclaration' ?
	[[node.start, node.start, `var ${node.id.name} = `]] :
	[[node.start, node.start + node.kind.length, 'var']];
const shown = ({ tree }, isLast) => {
	const last = tree.body.at(-1);
	if (!isLast || !last || last.type !== 'ExpressionStatement' || !SHOWN.test(last.expression.type))
		return [];
	return [[last.start, last.start, 'console.log('], [last.expression.end, last.end, ');']];
};
const { used, why } = given.all ? { why: 'all were asked for' } : needed(cells.map((cell) => cell.tree));
const numbers = used || cells.map((_, n) => n);
const parts = numbers.map((n) => {
	const cell = cells[n];
	const edits = [...cell.tree.body.flatMap(change), ...shown(cell, n === cells.length - 1)];
	const text = edits.reverse().reduce((all, [from, to, by]) =>
		all.slice(0, from) + by + all.slice(to), cell.code);
	return text.replace(/\n*$/, '\n') + given.after[n];
});
console.log(JSON.stringify({ used: numbers, program: parts.join('\n// %%\n'), why }));
})();
