// One side of what crosses between a program and its judge: the numbers of its own
// objects and of the other side's, and what the other side knows of them.
const crossing = (() => {
const { need, isText, isWord, kindOf, contents, shells, fills, IMMUTABLE, names, named } = codec;
const print = JSON.stringify;
const WATCHED_MAX = 1024;	// items of objects that are looked at again in every message

// hooks: handle(id, kind, content) makes what stands for something of the other
// side, bind(v, kind, content, read) tells it of its class; promise(id) makes a
// promise; sent(kind, id, v) is told of what went over not as data; library(name)
// gives a thing of a module, and loaded(v) its name.
const side = (hooks) => {
	const mine = new Map(), theirs = new Map();	// by number
	const kinds = new WeakMap(), pairs = new WeakMap(), symbols = new Map();
	const texts = new WeakMap();	// what the other side knows of what may change
	const watched = new Set();	// and of that, what is looked at every time
	let next = 0;

	const pairOf = (v) => typeof v === 'symbol' ? symbols.get(v) : pairs.get(v);
	const keep = (v, pair, kind) => {
		if (typeof v === 'symbol') {
			symbols.set(v, pair);
		} else {
			pairs.set(v, pair);
			kinds.set(v, kind);
		}
	};
	const forget = (fresh) => fresh.forEach((v) => {
		mine.delete(pairOf(v)[1]);
		watched.delete(v);
		symbols.delete(v);
		pairs.delete(v);
	});
	const watch = (v, text) => {
		texts.set(v, text);
		watched.add(v);
	};
	const wordOf = (v, queue, fresh) => {
		switch (typeof v) {
		case 'string': case 'boolean':
			return v;
		case 'number':
			return Number.isFinite(v) && !Object.is(v, -0) ? v :
				['n', Object.is(v, -0) ? '-0' : String(v)];
		case 'undefined':
			return ['u'];
		case 'bigint':
			return ['b', String(v)];
		}
		if (v === null)
			return null;
		const known = pairOf(v);
		if (known) {
			queue.add(v);
			return known;
		}
		const name = typeof v === 'function' ? names.get(v) || hooks.loaded(v) :
			v === Math ? 'Math' : v === JSON ? 'JSON' : undefined;
		if (name)
			return ['g', name];
		const pair = ['i', next++];
		mine.set(pair[1], v);
		keep(v, pair, kindOf(v));
		fresh.add(v);
		queue.add(v);
		return pair;
	};
	const trim = () => {
		let size = 0;
		for (const v of [...watched].reverse()) {
			size += 1 + texts.get(v).length / 4;
			if (size > WATCHED_MAX)
				watched.delete(v);
		}
	};

	// The text of a message: its words, and the objects that are new or changed.
	const encode = (type, values) => {
		const fresh = new Set(), out = [];
		trim();
		const queue = new Set(watched);
		const word = (v) => wordOf(v, queue, fresh);
		try {
			const words = print(values.map(word));
			for (const v of queue) {
				const pair = pairOf(v);
				const kind = typeof v === 'symbol' ? 'symbol' : kinds.get(v);
				const fixed = IMMUTABLE.includes(kind);
				if (fixed && !fresh.has(v))
					continue;
				const text = print([kind, ...contents[kind](v, word)]);
				if (fresh.has(v) || texts.get(v) !== text)
					out.push('[' + print(pair) + ',' + text + ']');
				if (!fixed)
					watch(v, text);
				if (fixed)
					hooks.sent(kind, pair[1], v);
			}
			return '[' + print(type) + ',' + words + ',[' + out + ']]';
		} catch (e) {
			forget(fresh);
			throw e;
		}
	};

	const read = (word) => {
		if (isWord(word))
			return word;
		need(Array.isArray(word) && word.length <= 2);
		const [tag, v] = word;
		switch (tag) {
		case 'u':
			return undefined;
		case 'n':
			need(['NaN', 'Infinity', '-Infinity', '-0'].includes(v));
			return Number(v);
		case 'b':
			need(isText(v) && /^-?(?:0|[1-9]\d*)$/.test(v));
			return BigInt(v);
		case 'g': {
			const found = isText(v) && (named.get(v) || hooks.library(v));
			need(found);
			return found;
		}
		}
		const table = tag === 'i' ? theirs : tag === 'o' ? mine : null;
		need(table && table.has(v));
		return table.get(v);
	};

	const shellOf = (id, kind, content) => {
		if (kind === 'function' || kind === 'handle')
			return hooks.handle(id, kind, content);
		return kind === 'promise' ? hooks.promise(id) : shells[kind](content);
	};
	// An entry's thing: a new one, or the known one that it changes.
	const thing = ([pair, content]) => {
		need(Array.isArray(pair) && pair.length === 2 && Number.isSafeInteger(pair[1]));
		need(Array.isArray(content) && isText(content[0]));
		need(Object.hasOwn(contents, content[0]));
		const [kind, ...rest] = content;
		if (pair[0] === 'i' && !theirs.has(pair[1])) {
			const v = shellOf(pair[1], kind, rest);
			theirs.set(pair[1], v);
			keep(v, ['o', pair[1]], kind);
			return [v, kind, rest, true];
		}
		const v = read(pair);
		need(typeof v === 'object' && v !== null && kinds.get(v) === kind &&
			!IMMUTABLE.includes(kind));
		return [v, kind, rest, false];
	};
	const ignored = { add() {} }, known = (v) => wordOf(v, ignored, ignored);
	const decodeAll = (message) => {
		need(Array.isArray(message) && message.length === 3 && isText(message[0]));
		const [type, words, entries] = message;
		need(Array.isArray(words) && Array.isArray(entries));
		const things = entries.map((entry) => {
			need(Array.isArray(entry) && entry.length === 2);
			return thing(entry);
		});
		// What classes there are is known before what is made of them.
		for (const [v, kind, rest] of things)
			if (kind === 'function' || kind === 'handle')
				hooks.bind(v, kind, rest, read);
		const levels = things.map(([v, kind, rest]) =>
			Object.hasOwn(fills, kind) ? fills[kind](v, rest, read) : 0);
		things.forEach(([v, kind], i) => {
			if (levels[i])
				codec.harden(v, levels[i]);
			if (!IMMUTABLE.includes(kind))
				watch(v, print([kind, ...contents[kind](v, known)]));
		});
		return [type, words.map(read)];
	};
	const decode = (message) => {
		try {
			return decodeAll(message);
		} catch (e) {
			throw e instanceof Malformed ? e : new Malformed(codec.UNREADABLE);
		}
	};
	return {
		encode, decode,
		isTheirs: (v) => (pairOf(v) || [])[0] === 'o',
		// What was given to the other side as more than data.
		isGiven: (v) => (pairOf(v) || [])[0] === 'i' &&
			['handle', 'function'].includes(kinds.get(v)),
	};
};
return { side };
})();
