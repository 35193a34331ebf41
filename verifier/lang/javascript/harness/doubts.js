// What was the program's own word about itself: reasons not to count what came
// out true by it. Each has its line, and is settled only when the tests are over,
// since what they ask of an object tells what they take it for.
//
// - An object that came as an answer, or by its name, is asked for a method that one
//   of the language's own types has by that name: it may stand for a value of that
//   type and say whatever is wanted. It does not when the tests made its class with
//   `new` themselves, call it as a function, or ask an object from the same source
//   for methods that no one such type has.
// - Its class, what is in it, or a primitive that it turns itself into.
// - What it says about another answer of its own: by a function that is named like a
//   comparison; by any other whose word is the truth of the assertion. An object may
//   be spoken of by a function of another name that said yes as well as no.
// - What one function of it makes of another one's answer and of the tests' own
//   value: it may make the same of everything.
// - That every item of an answer is right which has none.
// - Two objects of the program that are found deeply equal.
const doubts = (() => {
const METHODS = [Array, String, Number, Boolean, Map, Set, Date, RegExp, Promise, Uint8Array,
	Function, Symbol, BigInt].map((type) => new Set([type.prototype, Object.prototype,
	Object.getPrototypeOf(type.prototype) || {}].flatMap(Object.getOwnPropertyNames)));
METHODS.push(new Set(['next', 'return', 'throw']));
METHODS[0].add('toJSON');
const HARMLESS = new Set(['then', 'catch', 'finally', 'next', 'return', 'throw', 'constructor',
	'call', 'apply', 'bind']);

const COMPARES = new RegExp('equal|eq$|same|close|near|approx|almost|similar|match|compare|cmp|' +
	'diff|distance|within|toler|verify|check|assert|expect|should|must|valid', 'i');
const isMethod = (key) => METHODS.some((known) => known.has(key));
const { isPromise } = require('util').types;
const isThing = (v) => v !== null && ['object', 'function'].includes(typeof v);
const isPlainWord = (v) => typeof v === 'string' || typeof v === 'number';

// --- what came from the program, and by which of its functions ---

const ITEMS_MAX = 1000, DEPTH_MAX = 5;	// of an answer that are known again
// Not one that stands in the tests by chance.
const isTelling = (v) => typeof v === 'string' ? v.length > 1 :
	!Number.isInteger(v) || Math.abs(v) > 9;
const itemsOf = (v) => {
	if (ArrayBuffer.isView(v))
		return [];
	const isOf = v instanceof Map || v instanceof Set;
	const items = isOf ? [...v].flat() : Object.values(v);
	return (v instanceof Error ? [v.message, ...items] : items).slice(0, ITEMS_MAX);
};
const remember = (infoOf) => {
	const things = new WeakMap(), ever = new Set();
	let direct = new Set();	// of those, what is no part of another answer
	let words = new Map();	// since the last assertion: any constant may be the same
	const hear = (v, by, depth = 0) => {
		if (isPlainWord(v)) {
			words.set(v, by);
			ever.add(v);
			if (!depth)
				direct.add(v);
		}
		if (!isThing(v) || typeof v === 'function' || depth > DEPTH_MAX || things.get(v))
			return;
		things.set(v, by);
		if (!infoOf(v))
			itemsOf(v).forEach((item) => hear(item, by, depth + 1));
	};
	const isMine = (v) => infoOf(v) && infoOf(v).trusted;
	// The answers in what the tests give.
	const within = (v, depth = 0) => {
		if (isPlainWord(v))
			return words.has(v) ? [v] : [];
		if (!isThing(v) || typeof v === 'function' || isMine(v))
			return [];
		if (things.has(v))
			return [v];
		return depth > DEPTH_MAX || infoOf(v) ? [] :
			itemsOf(v).flatMap((item) => within(item, depth + 1));
	};
	return {
		hear, within,
		by: (v) => isThing(v) ? things.get(v) : words.get(v),
		isOld: (v) => isPlainWord(v) && isTelling(v) && ever.has(v),
		isAnswer: (v) => isThing(v) && things.has(v),
		isDirect: (v) => isThing(v) ? things.has(v) : direct.has(v),
		forget: () => {
			words = new Map();
			direct = new Set();
		},
	};
};

// --- the calls of the program's functions, up to the assertion they are for ---

// add(doubt); textOf(line) of the tests.
const follow = (memory, infoOf, add, textOf, madeOf) => {
	let calls = [];
	const spoken = new Set();	// names of functions and properties that answered
	const got = (name) => /^[\w$]+$/.test(name) && spoken.add(name);
	// What it is given that the tests made of other answers.
	const derived = (info, args, line) => typeof info.name !== 'string' ? [] :
		madeOf(info.name, line, [...spoken].filter((name) => name !== info.name))
			.map((i) => args[i]).filter((v) => typeof v !== 'function' &&
				!(isThing(v) && infoOf(v)) && !memory.within(v).length);
	// It stands alone, and nobody looks at what it says.
	const isIgnored = ({ info, line }) => {
		const [, callee] = /^\s*(?:await\s+)?([\w$.]+)\s*\(/.exec(textOf(line)) || [];
		return callee !== undefined && callee.split('.').pop() === info.name;
	};
	const begin = (info, self, args, line) => {
		const isOfObject = isThing(self) && infoOf(self);
		const given = self === undefined || (isOfObject && !COMPARES.test(info.name)) ? args :
			[self, ...args];
		const held = given.flatMap((v) => memory.within(v));
		const old = given.length > 1 && given.some(memory.isOld);
		const made = derived(info, args, line);
		info.said = info.said || new Set();
		info.isFree = info.isFree || !(held.length || old);
		for (const one of calls)
			one.isFed = one.isFed || given.includes(one.v);
		if ((held.length || made.length) && COMPARES.test(info.name))
			add({ line, why: `the program's ${info.name} is asked about its own answer` });
		const isOfOther = held.some((v) => memory.by(v) !== info);
		const isOfFirst = memory.isDirect(given[0]);
		return { info, line, given, held: [...held, ...made], old, made, isOfOther, isOfFirst, v: undefined, isFed: false };
	};
	const says = (call, v) => {
		const { info, line, held, old } = call;
		const why = `the program's ${info.name} is asked about its own answer`;
		if (typeof v !== 'boolean')
			return;
		if (held.length)
			info.said.add(v);
		if (held.some((one) => !isThing(one)))
			add({ line, why });
		else if (held.length && !isIgnored(call))
			add({ line, why, info, kind: 'says' });
		else if (old)
			add({ line, why, info, kind: 'helper' });
	};
	const end = (call, v) => {
		memory.hear(v, call.info);
		got(call.info.name || '');
		call.v = v;
		calls.push(call);
		says(call, v);
		if (isPromise(v))
			v.then((said) => {
				memory.hear(said, call.info);
				says(call, said);
			}, () => {});
	};

	const isOfTests = (call) => call.given.length && !call.isFed && !call.isOfFirst;
	const isApart = (call, line) => call.line < line && !/assert/i.test(textOf(call.line));
	const isDenied = ({ info, line }) =>
		textOf(line).replace(/\s/g, '').includes(`!${info.name}(`);
	const isWord = (call, name, [first]) => call.held.length && typeof call.v !== 'boolean' &&
		name === 'ok' && (first === call.v || (first === true && !call.v && isDenied(call)));
	const take = (line, name, args) => {
		const made = calls.filter(isOfTests);
		for (const call of made)
			call.info.isKept = call.info.isKept || isApart(call, line);
		for (const call of calls) {
			const why = `the program's ${call.info.name}`;
			if (isWord(call, name, args))
				add({ line: call.line, why: why + ' is asked about its own answer' });
			const isMade = made.some((one) => one !== call && one.info === call.info);
			if ((call.isOfOther && call.info.isKept) ||
			    ((call.isOfOther || call.made.length) && isMade))
				add({ line: call.line, why: why + ' makes both what is compared' });
		}
		calls = [];
		memory.forget();
	};
	return { begin, end, take, got };
};

// infoOf(v): of a handle, else undefined; lineOf(error) and textOf(line): of the tests.
// madeOf(name, line, names): sites.answers() of the tests.
const keep = (infoOf, lineOf, textOf, madeOf) => {
	const lineHere = () => lineOf(new Error('here'));
	let pending = [], listed = new Set(), origin = null, active;
	const asked = new Map(), constructed = new Set();	// by handle; classes
	const memory = remember(infoOf);
	const calls = follow(memory, infoOf, (doubt) => pending.push(doubt), textOf, madeOf);

	const add = (why, info, line = lineHere()) => pending.push({ line, why, info });
	const isMade = (info) => info.trusted || constructed.has(info.made);
	const isLike = (names) =>
		METHODS.some((known) => [...names].every((name) => known.has(name)));
	const isOther = (info) => info.origin && [...asked].some(([other, names]) =>
		other.origin === info.origin && !isLike(names));
	const STANDS = {
		method: (info) => isMade(info) || info.used || isOther(info),
		says: (info) => info.said.size > 1,
		helper: (info) => info.isFree,
	};
	const stands = ({ info, kind }) => kind ? STANDS[kind](info) : info && isMade(info);

	const within = (info, ask) => {
		const outer = origin;
		origin = info.self;
		try {
			return ask();
		} finally {
			origin = outer;
		}
	};
	const holdsHandle = (v, depth = 0) => {
		if (infoOf(v))
			return typeof v !== 'function';
		if (typeof v !== 'object' || v === null || depth > 20)
			return false;
		const isOf = v instanceof Map || v instanceof Set;
		const items = isOf ? [...v].flat() : Object.values(v);
		return items.some((item) => holdsHandle(item, depth + 1));
	};

	const watch = {
		stands: (info) => { info.origin = origin; },
		coerced: (info, hint) => {
			if (hint === 'string')
				add('an object of the program turned itself into text', info);
			else
				add('an object of the program turned itself into a value');
		},
		claimed: (info, what) => add(`${what} is the program's own word`, info),
		got: (info, key, v) => {
			const found = infoOf(v);
			memory.hear(v, info);
			if (typeof v !== 'function')
				calls.got(key);
			if (found && !found.origin)
				found.origin = 'get ' + key;
			if (found)
				found.name = key;
			if (typeof v !== 'function' || !found)
				return;
			asked.set(info, (asked.get(info) || new Set()).add(key));
			if (!info.trusted && !HARMLESS.has(key) && isMethod(key)) {
				const why = `an answer has a method of its own, ${key}`;
				pending.push({ line: lineHere(), info, kind: 'method', why });
			}
		},
		listed: (info) => listed.add(info),
		called: (info, self, args, ask) => {
			info.used = true;
			const call = calls.begin(info, self, args, lineHere()), outer = active;
			active = info;
			try {
				const v = within(info, ask);
				calls.end(call, v);
				return v;
			} finally {
				active = outer;
			}
		},
		made: (info, ask) => {
			const v = within(info, ask);
			info.used = true;
			constructed.add(info.self);
			if (!infoOf(v))
				memory.hear(v, info);
			if (infoOf(v))
				Object.assign(infoOf(v), { trusted: true, line: lineHere() });
			return v;
		},
	};
	const deep = ([a, b]) => {
		if (listed.size > 1 && holdsHandle(a) && holdsHandle(b))
			add('objects of the program are compared with each other');
	};
	// Whether any item of an answer was looked at, by line.
	const looked = new Map();
	const over = (items) => {
		const line = lineHere();
		if (items.length || memory.isAnswer(items))
			looked.set(line, looked.get(line) || items.length > 0);
	};
	// Those since the last assertion, which was done by this function of assert.
	const take = (name, args) => {
		const line = lineHere(), all = [...listed];
		if (/deep/i.test(name))
			deep(args);
		else if (all.some((v) => !v.trusted) && all.some((v) => v.line === line))
			add('objects of the program are compared with each other');
		calls.take(line, name, args);
		const taken = pending;
		pending = [];
		listed = new Set();
		return taken;
	};
	const lookBack = () => {
		for (const [line, is] of looked)
			if (!is)
				add('an answer without items has all of them right', null, line);
	};
	return { watch, take, add, deep, over, lookBack, hear: (list) => list.forEach((v) => memory.hear(v, active)),
		open: (list) => list.filter((doubt) => !stands(doubt)) };
};
return { keep, isMethod, isComparison: (name) => COMPARES.test(name) };
})();
