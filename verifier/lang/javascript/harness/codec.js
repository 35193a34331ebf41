// Plain data between a program and its judge, in one form for both directions.
//
// A value is a JSON word: null, true, false, a string or a number as they are,
// and else a pair: ["u"] undefined, ["n", "NaN"] a number that JSON has not,
// ["b", "12"] a bigint, ["v"] a hole of an array, ["g", name] something that the
// language or its library has on both sides, ["i", n] the sender's object n, and
// ["o", n] the receiver's own. Objects stand beside the words, flat and once:
// [pair, content], where the content is that of one of the kinds below or, for
// whatever is not plain data, what a handle needs to stand for it. So depth costs
// no stack, cycles and shared objects cross as they are, and an object that is
// changed later is sent again under its number.
//
// Here are the forms; side.js keeps the numbers.
//
// What is read is taken apart by its form alone, and nothing of it is ever run:
// all objects are made here, by this side's own constructors.
'use strict';
class Malformed extends Error {}

const codec = (() => {
const { types } = require('util');
const print = JSON.stringify, ownKeys = Reflect.ownKeys;
const describe = Object.getOwnPropertyDescriptor, protoOf = Object.getPrototypeOf;
const UNREADABLE = 'the program\'s answer cannot be read';
const RAW = 'raw';	// of the texts of a tagged template, and not enumerable
const ITEMS_MAX = 1 << 22;	// of an array with holes

const need = (ok) => {
	if (!ok)
		throw new Malformed(UNREADABLE);
};
const isText = (v) => typeof v === 'string';
const isWord = (v) => {
	const type = typeof v;
	return v === null || type === 'string' || type === 'boolean' || type === 'number';
};
const isIndex = (key) => isText(key) && /^(?:0|[1-9]\d{0,9})$/.test(key) && +key < 2 ** 32 - 1;

// --- what both sides have ---

const VIEWS = ['Int8Array', 'Uint8Array', 'Uint8ClampedArray', 'Int16Array', 'Uint16Array',
	'Int32Array', 'Uint32Array', 'Float32Array', 'Float64Array', 'BigInt64Array',
	'BigUint64Array', 'DataView', 'ArrayBuffer', 'Buffer'];
const ROOTS = [...VIEWS, 'Object', 'Array', 'String', 'Number', 'Boolean', 'Symbol', 'BigInt',
	'Map', 'Set', 'WeakMap', 'WeakSet', 'WeakRef', 'Date', 'RegExp', 'Promise', 'Error',
	'TypeError', 'RangeError', 'SyntaxError', 'ReferenceError', 'EvalError', 'URIError',
	'AggregateError', 'Math', 'JSON', 'Reflect', 'Intl', 'parseInt', 'parseFloat', 'isNaN',
	'isFinite',
	'encodeURIComponent', 'decodeURIComponent', 'encodeURI', 'decodeURI', 'URL',
	'URLSearchParams', 'AbortController', 'EventTarget', 'TextEncoder', 'TextDecoder'];
const LIBRARIES = ['assert', 'assert/strict', 'events', 'path', 'util'];
const roots = new Map(ROOTS.map((name) => [name, globalThis[name]]));
const named = new Map(), names = new Map();

const addMembers = (owner, path) => {
	for (const key of ownKeys(owner)) {
		const d = isText(key) && key !== 'constructor' && describe(owner, key);
		if (d && typeof d.value === 'function' && !names.has(d.value) && !roots.has(key)) {
			names.set(d.value, path + '.' + key);
			named.set(path + '.' + key, d.value);
		}
	}
};
// Taken before the program, or the tests, can change them.
const fillNames = () => {
	for (const [name, v] of roots) {
		if (v === undefined)
			continue;
		names.set(v, name);
		named.set(name, v);
	}
	for (const [name, v] of roots) {
		if (v === undefined)
			continue;
		addMembers(v, name);
		if (typeof v === 'function' && v.prototype)
			addMembers(v.prototype, name + '.prototype');
	}
	addMembers(Function.prototype, 'Function.prototype');
};

// --- the kinds ---

const isData = (v, key) => {
	const d = describe(v, key);
	return isText(key) && d.enumerable && 'value' in d && typeof d.value !== 'function';
};
const isFlat = (v) => ownKeys(v).every((key) => isData(v, key));
const isFlatArray = (v) => {
	const keys = ownKeys(v);
	if (v.length > ITEMS_MAX)
		return false;
	return keys[v.length] === 'length' && keys.length === v.length + 1 ||
		keys.every((key) =>
			['length', RAW].includes(key) || isIndex(key) || isData(v, key));
};
const viewName = (v, proto) => VIEWS.find((n) => roots.get(n).prototype === proto);

const EXACT = [['map', Map, types.isMap], ['set', Set, types.isSet], ['date', Date, types.isDate],
	['regexp', RegExp, types.isRegExp], ['box', Number, types.isNumberObject],
	['box', String, types.isStringObject], ['box', Boolean, types.isBooleanObject]];
const exactKind = (v) => {
	const proto = protoOf(v);
	if (Array.isArray(v))
		return proto === Array.prototype && isFlatArray(v) ? 'array' : 'handle';
	if (proto === null || proto === Object.prototype) {
		const is = !types.isArgumentsObject(v) && !types.isModuleNamespaceObject(v);
		return is && isFlat(v) ? 'object' : 'handle';
	}
	if (types.isAnyArrayBuffer(v) || ArrayBuffer.isView(v)) {
		const is = (types.isTypedArray(v) || ownKeys(v).length === 0) &&
			!types.isSharedArrayBuffer(v);
		return is && viewName(v, proto) ? 'view' : 'handle';
	}
	const [kind] = EXACT.find(([, type, test]) => proto === type.prototype && test(v)) || [];
	const isBare = ownKeys(v).every((key) =>
		['lastIndex', 'length'].includes(key) || isIndex(key));
	return kind && isBare ? kind : 'handle';
};
const kindOf = (v) => {
	if (typeof v === 'symbol')
		return 'symbol';
	if (typeof v === 'function')
		return 'function';
	if (types.isProxy(v))
		return 'handle';
	if (types.isPromise(v))
		return 'promise';
	return types.isNativeError(v) || v instanceof Error ? 'error' : exactKind(v);
};

const bytesOf = (v) => {
	const whole = types.isAnyArrayBuffer(v) ? Buffer.from(v) :
		Buffer.from(v.buffer, v.byteOffset, v.byteLength);
	return whole.toString('base64');
};
const levelOf = (v) => Object.isExtensible(v) ? 0 :
	Object.isFrozen(v) ? 3 : Object.isSealed(v) ? 2 : 1;
const LEVELS = [(v) => v, Object.preventExtensions, Object.seal, Object.freeze];
const harden = (v, level) => LEVELS[level](v);

// The constructor that a thing's prototype names, if it is really its own.
const classOf = (v) => {
	const proto = protoOf(v), d = proto && describe(proto, 'constructor');
	const made = d && d.value;
	const is = typeof made === 'function' && !types.isProxy(made) && made.prototype === proto;
	return is ? made : null;
};
const safely = (fn) => {
	try {
		return fn();
	} catch (e) {
		return undefined;
	}
};
const dataEntries = (v, skip, word) => ownKeys(v).flatMap((key) => {
	const d = describe(v, key);
	if (!isText(key) || skip(key) || !('value' in d) || typeof d.value === 'function')
		return [];
	return [key, word(d.value)];
});

// Each gives the content of a thing; word() makes a word of what it holds.
const contents = {
	array: (v, word) => {
		const items = [];
		for (let i = 0; i < v.length; i++)
			items.push(i in v ? word(v[i]) : ['v']);
		const isItem = (key) => key === 'length' || isIndex(key);
		return [items, dataEntries(v, isItem, word), levelOf(v)];
	},
	object: (v, word) =>
		[dataEntries(v, () => false, word), +(protoOf(v) === null), levelOf(v)],
	map: (v, word) => [[...Map.prototype.entries.call(v)].flat().map(word)],
	set: (v, word) => [[...Set.prototype.values.call(v)].map(word)],
	date: (v, word) => [word(Date.prototype.getTime.call(v))],
	regexp: (v) => [v.source, v.flags, v.lastIndex],
	box: (v, word) => [word(v.valueOf())],
	view: (v) => [viewName(v, protoOf(v)), bytesOf(v)],
	symbol: (v) => [Symbol.keyFor(v) === undefined ? 0 : 1, String(v.description)],
	promise: () => [],
	error: (v, word) => [word(classOf(v) || Error), String(safely(() => v.name)),
		String(safely(() => v.message)),
		dataEntries(v, (key) => ['name', 'message', 'stack'].includes(key), word)],
	function: (v, word) => {
		if (types.isProxy(v))
			return ['', null, 0];
		const base = protoOf(v), proto = describe(v, 'prototype');
		const isDerived = typeof base === 'function' && base !== Function.prototype;
		return [String(safely(() => v.name)), isDerived ? word(base) : null,
			+!!(proto && proto.value instanceof Error)];
	},
	handle: (v, word) => {
		const isBare = types.isProxy(v) || protoOf(v) === Object.prototype;
		const made = isBare ? null : classOf(v);
		return [+!!safely(() => Symbol.iterator in v),
			+!!safely(() => Symbol.asyncIterator in v), made && word(made)];
	},
};
const IMMUTABLE = ['symbol', 'promise', 'error', 'function', 'handle', 'box'];

// --- making what was read ---

const isOpaque = (v) => typeof v === 'function';
const define = (v, key, value, enumerable = true) => {
	if (Object.isExtensible(v))
		Object.defineProperty(v, key,
			{ value, enumerable, writable: true, configurable: true });
	else
		need(Object.hasOwn(v, key) && Reflect.set(v, key, value));
};
const fillEntries = (v, pairs, read, enumerable = () => true) => {
	need(Array.isArray(pairs) && pairs.length % 2 === 0);
	for (let i = 0; i < pairs.length; i += 2) {
		const value = read(pairs[i + 1]);
		need(isText(pairs[i]) && !isOpaque(value));
		define(v, pairs[i], value, enumerable(pairs[i]));
	}
};
const emptied = (v, skip) => {
	for (const key of Object.isExtensible(v) ? ownKeys(v) : [])
		if (!skip(key))
			need(Reflect.deleteProperty(v, key));
};
const viewOf = (name, text) => {
	need(VIEWS.includes(name) && isText(text));
	const bytes = Buffer.from(text, 'base64'), kind = roots.get(name);
	need(bytes.toString('base64') === text);
	if (name === 'Buffer')
		return bytes;
	const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
	need(name === 'ArrayBuffer' || name === 'DataView' ||
		buffer.byteLength % kind.BYTES_PER_ELEMENT === 0);
	return name === 'ArrayBuffer' ? buffer : new kind(buffer);
};
const regexpOf = (source, flags) => {
	need(isText(source) && isText(flags));
	try {
		return new RegExp(source, flags);
	} catch (e) {
		return need(false);
	}
};

// The empty thing, before what it holds is there to be read.
const shells = {
	array: () => [],
	object: (content) => content[1] === 1 ? Object.create(null) : {},
	map: () => new Map(),
	set: () => new Set(),
	date: () => new Date(NaN),
	regexp: ([source, flags]) => regexpOf(source, flags),
	view: ([name, text]) => viewOf(name, text),
	symbol: ([registered, text]) => {
		need(isText(text));
		return registered === 1 ? Symbol.for(text) : Symbol(text);
	},
	box: ([v]) => {
		const isNumber = Array.isArray(v) && v[0] === 'n' && isText(v[1]);
		need(isNumber || (v !== null && isWord(v)));
		return Object(isNumber ? +v[1] : v);
	},
	error: ([, , message]) => {
		need(isText(message));
		return new Error(message);
	},
};

const fills = {
	array: (v, [items, extras, level], read) => {
		need(Array.isArray(items) && [0, 1, 2, 3].includes(level));
		if (v.length)
			emptied(v, (key) => key === 'length');
		if (v.length !== items.length)
			v.length = items.length;
		items.forEach((item, i) => {
			if (isWord(item) || item[0] !== 'v')
				v[i] = read(item);
		});
		need(Array.isArray(extras) && extras.every((key, i) => i % 2 || !isIndex(key)));
		fillEntries(v, extras, read, (key) => key !== RAW);
		return level;
	},
	object: (v, [pairs, , level], read) => {
		need([0, 1, 2, 3].includes(level));
		emptied(v, () => false);
		fillEntries(v, pairs, read);
		return level;
	},
	map: (v, [items], read) => {
		need(Array.isArray(items) && items.length % 2 === 0);
		v.clear();
		for (let i = 0; i < items.length; i += 2)
			v.set(read(items[i]), read(items[i + 1]));
	},
	set: (v, [items], read) => {
		need(Array.isArray(items));
		v.clear();
		items.forEach((item) => v.add(read(item)));
	},
	date: (v, [time], read) => {
		need(typeof read(time) === 'number');
		v.setTime(read(time));
	},
	regexp: (v, [source, flags, at]) => {
		need(v.source === source && v.flags === flags && Number.isInteger(at));
		v.lastIndex = at;
	},
	view: (v, [name, text]) => {
		const now = viewOf(name, text), to = types.isAnyArrayBuffer(v) ? Buffer.from(v) :
			Buffer.from(v.buffer, v.byteOffset, v.byteLength);
		need(viewName(v, protoOf(v)) === name && now.byteLength === v.byteLength);
		Buffer.from(text, 'base64').copy(to);
	},
	error: (v, [made, name, message, pairs], read) => {
		const kind = read(made);
		need(typeof kind === 'function' && isText(name));
		const proto = kind.prototype;
		need(proto && (proto === Error.prototype || proto instanceof Error));
		Object.setPrototypeOf(v, proto);
		if (v.message !== message)
			define(v, 'message', message, false);
		if (v.name !== name)
			define(v, 'name', name);
		fillEntries(v, pairs, read, (key) => key !== 'cause' && key !== 'errors');
	},
	symbol: () => 0, box: () => 0,
};

fillNames();
return {
	need, isText, isWord, kindOf, contents, shells, fills, harden, named, names,
	IMMUTABLE, LIBRARIES, UNREADABLE,
};
})();
