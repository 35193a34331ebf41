// What the text of the tests tells without being run: where it holds assertions and
// which of them were never made, and which calls are about an answer of the program
// that the tests have made something else of.
//
// A function that asserts and is only named, as in list.forEach(assert.ok), is an
// assertion, too. The text that runs has it in a call of _assay_ref, which says of it
// whether it was ever called (references). Nothing else of the text is changed, and
// its lines stay what they are.
//
// The text is looked at by its words, not parsed: what is not seen here is not counted
// as unmade. No decision that an assertion held is ever made here.
'use strict';
const sites = (() => {
const QUOTED = new RegExp(['//.*', '/\\*[^]*?\\*/', "'(?:\\\\[^]|[^'\\\\\\n])*'",
	'"(?:\\\\[^]|[^"\\\\\\n])*"', '`(?:\\\\[^]|[^`\\\\])*`',
	'(?<=[(,=:[!&|?{};]\\s*)/(?:\\\\.|\\[(?:\\\\.|[^\\]\\n])*\\]|[^/\\\\\\n*])+/'].join('|'), 'g');
const REQUIRED = 'require\\(\\s*[\'"](?:node:)?assert(?:/strict)?[\'"]\\s*\\)';
const BINDS = '(?:const|let|var)\\s+([\\w$]+|\\{[^}]*\\})\\s*=\\s*';
const MODULE = new RegExp(BINDS + REQUIRED, 'g');
const DEFINED = /\bfunction\s*\*?\s*([\w$]+)\s*\(|\b(?:const|let|var)\s+([\w$]+)\s*=\s*(?:async\b\s*)?(?=function\b|\(|[\w$]+\s*=>)/g;
const VARIABLE = /\b(?:const|let|var)\s+([\w$]+|\{[^}]*\}|\[[^\]]*\])\s*(?:=(?!=)|of\b)|(?<![\w$.])([\w$]+)\s*=(?![=>])/g;
const IS_FALSE = /^\(\s*(?:false|!1|0|null|undefined)\s*[,)]/;
const NEVER = /^(?:fail|AssertionError)$/;	// not asserted when all is well
const CLOSES = { '(': ')', '[': ']', '{': '}' };

// Of the same length, without what is quoted or a comment.
const bare = (text) => text.replace(QUOTED, (part) => part.replace(/[^\n]/g, ' '));
// And with what stands in the places of a template.
const bareButPlaces = (text) => text.replace(QUOTED, (part) => part[0] !== '`' ?
	part.replace(/[^\n]/g, ' ') :
	part.split(/(\$\{[^{}]*\})/).map((piece, i) => i % 2 ? ` (${piece.slice(2, -1)})` :
		piece.replace(/[^\n]/g, ' ')).join(''));
const escaped = (names) => names.map((name) => name.replace(/\$/g, '\\$')).join('|');
const skipSpace = (text, at) => at + /^\s*/.exec(text.slice(at))[0].length;
const wordsBefore = (text, at) => text.slice(Math.max(0, at - 200), at).trimEnd();
// Behind what is opened here.
const behind = (text, at) => {
	const open = [];
	do {
		if (CLOSES[text[at]])
			open.push(CLOSES[text[at]]);
		else if (text[at] === open[open.length - 1])
			open.pop();
	} while (++at < text.length && open.length);
	return at;
};
// Where the bracket is that this stands in; -1: in none.
const opening = (text, at) => {
	let depth = 0;
	while (--at >= 0) {
		if (')]}'.includes(text[at]))
			depth++;
		else if (CLOSES[text[at]] && !depth--)
			break;
	}
	return at;
};
const statementEnd = (text, from) => {
	let at = skipSpace(text, from);
	if (text[at] === '{')
		return behind(text, at);
	const branches = /^if\s*(?=\()/.exec(text.slice(at));
	if (branches) {
		at = statementEnd(text, behind(text, at + branches[0].length));
		const next = skipSpace(text, at);
		return /^else\b/.test(text.slice(next)) ? statementEnd(text, next + 4) : at;
	}
	while (at < text.length && !';}'.includes(text[at]))
		at = CLOSES[text[at]] ? behind(text, at) : at + 1;
	return at + 1;
};
// [from, to] of both sides of every if with an else.
const branchesOf = (text) => [...text.matchAll(/\bif\s*(?=\()/g)].flatMap((m) => {
	const from = behind(text, m.index + m[0].length), to = statementEnd(text, from);
	const other = skipSpace(text, to);
	return /^else\b/.test(text.slice(other)) ?
		[[[from, to], [other, statementEnd(text, other + 4)]]] : [];
});
const functionsOf = (text) => [...text.matchAll(DEFINED)].map((m) => {
	const at = m.index + m[0].length;
	const params = m[1] ? at - 1 : text.indexOf('(', at);
	const arrow = /^\s*(?:async\s+)?(?:\([^)]*\)|[\w$]+)\s*=>/.exec(text.slice(at));
	const body = m[2] && arrow ? at + arrow[0].length : behind(text, params);
	return { name: m[1] || m[2], from: body, to: statementEnd(text, body) };
});

const METHOD = /(?<=[{,;}]\s*)(?:static\s+|async\s+)*(?!(?:if|for|while|switch|catch|function)\b)([\w$]+)\s*(?:\([^()]*\)\s*(?=\{)|:\s*(?:async\s*)?(?:\([^()]*\)|[\w$]+)\s*=>)/g;
const methodsOf = (text) => [...text.matchAll(METHOD)].map((m) => {
	const from = m.index + m[0].length;
	return { name: m[1], from, to: statementEnd(text, from), isMethod: true };
});

// --- the names that assert ---

const boundBy = (pattern) => (pattern[0] !== '{' ? [pattern] : pattern.slice(1, -1).split(',')
	.map((part) => part.split(':').pop().trim()))
	.filter((name) => /^[\w$]+$/.test(name) && !NEVER.test(name));
const memberOf = (names) => `(?:console\\s*\\.\\s*assert|(?:${escaped(names)})(?:\\s*\\.\\s*[\\w$]+)*)`;
// Those of the module, and those that are one of these by another name.
const namesOf = (tests, text) => {
	const names = new Set(['assert', ...[...tests.matchAll(MODULE)].flatMap((m) => boundBy(m[1]))]);
	for (let before = 0; before < names.size;) {
		before = names.size;
		const alias = new RegExp(BINDS + memberOf([...names]) + '(?=\\s*(?:[;\\n]|$)|\\()', 'g');
		for (const m of text.matchAll(alias))
			if (text[m.index + m[0].length] !== '(' || /\.\s*bind$/.test(m[0]))
				boundBy(m[1]).forEach((name) => names.add(name));
	}
	return [...names];
};

// --- where they are called, and where they are only named ---

const lastOf = (path) => /[\w$]+$/.exec(path)[0];
const callsOf = (text, names) => {
	const call = new RegExp(`(?<![\\w$.])${memberOf(names)}(?=\\s*\\()`, 'g');
	return [...text.matchAll(call)].filter((m) => !/\bfunction\s*\*?\s*$/.test(text.slice(0, m.index)) &&
		!NEVER.test(lastOf(m[0])) && lastOf(m[0]) !== 'bind').map((m) => {
		const last = m[0].length - lastOf(m[0]).length;
		return { at: m.index + last, end: m.index + m[0].length };
	});
};
// What a function is named for that is not to call it: to be found again.
const FINDS = /(?:^|[^\w$])(?:off|remove\w*|includes|indexOf|has|delete|is|bind|call|apply|(?:not|deep|strict|Deep|Strict)*[eE]qual)$/;
// Of an error's handler: it asserts that there is none.
const ON_ERROR = /(?:\.\s*catch\s*\(|\.\s*then\s*\([^]*,|\bon(?:ce)?\s*\(\s*['"]error['"]\s*,)\s*$/;
const isExpression = (text, at, end) => {
	const before = wordsBefore(text, at), open = opening(text, at);
	const after = skipSpace(text, end);
	if (!/(?:[(,[:?=]|=>|&&|\|\||\?\?|\breturn)$/.test(before) || !/^(?:[,)\]};:]|$)/.test(text.slice(after, after + 1)))
		return false;
	if (/\b(?:const|let|var)\s+(?:[\w$]+|\{[^}]*\})\s*=$/.test(before))
		return false;	// a name for it, that is looked at by itself
	if (open < 0)
		return true;
	const close = text.slice(skipSpace(text, behind(text, open))).slice(0, 2);
	if (text[open] === '(')	// not a parameter
		return close !== '=>' && (close[0] !== '{' || /\b(?:if|while|for|switch)\s*$/.test(text.slice(0, open)));
	return !/^=(?![=])/.test(close) && (text[open] !== '{' || !/[,{]$/.test(before));
};
const isToFind = (text, at) => {
	let open = opening(text, at);
	while (text[open] === '[')
		open = opening(text, open);
	return text[open] === '(' && FINDS.test(text.slice(0, open).trimEnd().slice(-40));
};
const namedOf = (tests, text, path) => {
	const named = new RegExp(`(?<![\\w$.])${path}(?!\\s*[\\w$.])`, 'g');
	return [...text.matchAll(named)].flatMap((m) => {
		const at = m.index, last = lastOf(m[0]);
		const bound = last === 'bind' && text[skipSpace(text, at + m[0].length)] === '(';
		const end = bound ? behind(text, skipSpace(text, at + m[0].length)) : at + m[0].length;
		const isNot = NEVER.test(last) ||
			(last === 'ifError' && ON_ERROR.test(tests.slice(Math.max(0, at - 2000), at)));
		return isNot || !isExpression(text, at, end) ? [] :
			[{ at, end, isNamed: true, isToFind: isToFind(text, at) }];
	});
};
// Where assertions are, and functions of the tests are called or named that hold some.
const find = (tests) => {
	const text = bare(tests), names = namesOf(tests, text);
	const direct = callsOf(text, names).filter(({ end }) =>
		!IS_FALSE.test(text.slice(skipSpace(text, end))));
	const functions = [...functionsOf(text), ...methodsOf(text)];
	const found = [...direct, ...namedOf(tests, text, memberOf(names))];
	const known = new Set(names);
	for (let i = 0; i < found.length; i++)
		for (const { name, from, to, isMethod } of functions) {
			if (known.has(name) || found[i].isToFind || found[i].at < from || found[i].at >= to)
				continue;
			known.add(name);
			const path = escaped([name]);
			const more = isMethod ? namedOf(tests, text, `[\\w$]+(?:\\.[\\w$]+)*\\.${path}`) :
				[...callsOf(text, [name]), ...namedOf(tests, text, memberOf([name]))];
			found.push(...more.filter(({ at }) => (at < from || at >= to) &&
				!found.some((one) => one.at === at)));
		}
	return found;
};

// --- which of them were made ---

// The text that is run in place of the tests, with what is only named in _assay_ref.
const write = (tests, named) => {
	const parts = named.flatMap(({ at, end, isToFind: isNot }, i) =>
		[[at, `_assay_ref(${isNot ? -1 : i}, `], [end, ')']]);
	parts.sort(([a], [b]) => a - b);
	let text = '', from = 0;
	for (const [at, part] of parts) {
		text += tests.slice(from, at) + part;
		from = at;
	}
	return { text: text + tests.slice(from), parts };
};
// Where each stands in that text; the name that waits for it, too.
const placed = (tests, sites, parts) => sites.map((site) => {
	const before = tests.slice(0, site.at).split('\n'), here = before[before.length - 1];
	const waits = /\bawait\s+[\w$.\s]*$/.exec(here), start = site.at - here.length;
	const column = (n) => parts.reduce((sum, [at, part]) =>
		sum + (at >= start && at <= start + n ? part.length : 0), n);
	return { ...site, line: before.length,
		columns: [column(here.length), column(waits ? waits.index : 0)] };
});
const isValid = (text) => {
	try {
		new (require('vm').Script)(`(function () { ${text}\n})`);
		return true;
	} catch (e) {
		return false;
	}
};

// text: what is to be run; ref(n, v): its _assay_ref; unmade(frames): those that were
// never made, where an assertion was made in each of the frames, "line:column". Of one
// line with several, each has its own place in a stack.
const read = (tests) => {
	const all = find(tests), branches = branchesOf(bare(tests));
	let named = all.filter((site) => site.isNamed), written = write(tests, named);
	if (!isValid(written.text)) {
		named = [];
		written = write(tests, named);
	}
	const sites = placed(tests, all.filter((site) => !site.isNamed || named.includes(site)),
		written.parts).filter((site) => !site.isToFind);
	const called = new Set(), pending = new Map(), proxies = new Map();

	// Of one that is named more than once, each of its calls is for one of them.
	const mark = (v) => called.add((pending.get(v) || []).shift());
	const proxyOf = (v) => {
		if (!proxies.has(v))
			proxies.set(v, new Proxy(v, {
				apply: (target, self, args) => {
					mark(v);
					return Reflect.apply(target, self, args);
				},
				get: (target, key, self) => {
					const found = target[key];
					if (typeof found === 'function' && !(key in Function.prototype))
						mark(v);
					return found;
				},
			}));
		return proxies.get(v);
	};
	const ref = (n, v) => {
		if (typeof v !== 'function') {
			called.add(n);
			return v;
		}
		if (n >= 0)
			pending.set(v, [...pending.get(v) || [], n]);
		return n >= 0 ? proxyOf(v) : proxies.get(v) || v;
	};

	const unmade = (frames) => {
		const lines = new Set([...frames].map((frame) => +frame.split(':')[0]));
		const direct = sites.filter((site) => !site.isNamed);
		const count = (line) => direct.filter((site) => site.line === line).length;
		const isMade = (site) => site.isNamed ?
			called.has(named.findIndex((one) => one.at === site.at)) :
			(lines.has(site.line) && count(site.line) === 1) ||
			site.columns.some((column) => frames.has(site.line + ':' + (column + 1)));
		const made = sites.filter(isMade);
		const isIn = ({ at }, [from, to]) => at >= from && at < to;
		const isElse = (site) => branches.some((pair) => [pair, [...pair].reverse()]
			.some(([here, there]) => isIn(site, here) &&
				!made.some((one) => isIn(one, here)) &&
				made.some((one) => isIn(one, there))));
		return sites.filter((site) => !made.includes(site) && !isElse(site));
	};
	return { text: written.text, ref, unmade };
};

// --- what is made of an answer ---

const bound = (pattern) => pattern.match(/[\w$]+/g) || [];
// The expression that ends here, as far back as names, dots and brackets go.
const expressionTo = (text, end) => {
	let at = end;
	while (at > 0 && /[\w$.)\]\s]/.test(text[at - 1]))
		at = ')]'.includes(text[at - 1]) ? Math.max(0, opening(text, at - 1)) : at - 1;
	return text.slice(at, end);
};
// Functions written where a method of something is called: their parameters are of it.
const CALLBACK = /(?:\(([^()]*)\)|([\w$]+))\s*=>|\bfunction\s*\(([^()]*)\)/g;
const callbacksOf = (text) => [...text.matchAll(CALLBACK)].flatMap((m) => {
	const open = opening(text, m.index), owner = /\.\s*[\w$]+$/.exec(wordsBefore(text, open));
	return text[open] !== '(' || !owner ? [] :
		[{ names: bound(m[1] || m[2] || m[3] || ''), value: expressionTo(text, open) }];
});
// Names of the tests that hold what functions and properties of these names said, or what
// was made of it.
const madeOf = (text, names) => {
	const said = new RegExp(`(?<![\\w$])(?:${escaped(names)})\\s*\\(|\\.\\s*(?:${escaped(names)})(?![\\w$])`);
	const held = new Set();
	const isMade = (part) => said.test(part) || (held.size &&
		new RegExp(`(?<![\\w$.])(?:${escaped([...held])})(?![\\w$])`).test(part));
	const variables = [...text.matchAll(VARIABLE)].map((m) => ({ names: bound(m[1] || m[2]),
		value: text.slice(m.index + m[0].length, statementEnd(text, m.index + m[0].length)) }));
	const functions = functionsOf(text).map(({ name, from, to }) =>
		({ names: [name], value: text.slice(from, to) }));
	const all = [...variables, ...functions, ...callbacksOf(text), ...parametersOf(text)];
	for (let before = -1; before < held.size;) {
		before = held.size;
		for (const one of all)
			if (isMade(one.value))
				one.names.forEach((name) => held.add(name));
	}
	return isMade;
};
const argumentsOf = (text, open) => {
	const end = behind(text, open) - 1, parts = [];
	let from = open + 1;
	for (let at = from; at < end; at++) {
		if (CLOSES[text[at]])
			at = behind(text, at) - 1;
		else if (text[at] === ',')
			parts.push(text.slice(from, at)), from = at + 1;
	}
	return [...parts, text.slice(from, end)];
};
// The parameters of its functions are of what those are called with.
const parametersOf = (text) => functionsOf(text).map(({ name, from }) => {
	const [, params = ''] = /\(([^()]*)\)[^()]*$/.exec(text.slice(Math.max(0, from - 300), from)) || [];
	const call = new RegExp(`(?<![\\w$.])${escaped([name])}\\s*(?=\\()`, 'g');
	const given = [...text.matchAll(call)].filter(({ index }) => !/\bfunction\s*\*?\s*$/.test(text.slice(0, index)))
		.map((m) => text.slice(m.index + m[0].length, behind(text, m.index + m[0].length)));
	return { names: bound(params), value: given.join(';') };
});
// made(name, line, others): the numbers of the arguments that a call of this name in this
// line is given and that are made of what the others said.
const answers = (tests) => {
	const text = bareButPlaces(tests), found = new Map();
	let known = '', isMade = null;
	const look = (name, line) => {
		const call = new RegExp(`(?<![\\w$])${escaped([name])}\\s*(?=\\()`, 'g');
		return [...text.matchAll(call)].filter((m) =>
			text.slice(0, m.index).split('\n').length === line).flatMap((m) =>
			argumentsOf(text, m.index + m[0].length).flatMap((part, i) => isMade(part) ? [i] : []));
	};
	return (name, line, others) => {
		const key = others.join();
		if (!others.length || !/^[\w$]+$/.test(name))
			return [];
		if (key !== known)
			isMade = madeOf(text, others);
		known = key;
		const where = [name, line, key].join();
		if (!found.has(where))
			found.set(where, look(name, line));
		return found.get(where);
	};
};
return { read, answers };
})();
