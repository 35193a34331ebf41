// Requests and answers over the two pipes, the same for both sides: descriptor 3
// reads what the other side writes to its 4. One side runs at a time. It asks,
// and waits for "return" or "throw"; what comes in between are requests in the
// other direction, answered before the own answer is there.
//
// What is not plain data stays where it is and is stood for by a handle, a Proxy
// whose every operation is a request.
class Ended extends Error {}

const pipe = (() => {
const { readSync, writeSync } = require('fs');
const { need, isText } = codec;
const isThing = (v) => v !== null && (typeof v === 'object' || typeof v === 'function');
const IN = 3, OUT = 4, LINE_MAX = 4 << 20, RUN_MAX = 64 << 20;
const { apply, construct, get: reflectGet } = Reflect;

const pause = new Int32Array(new SharedArrayBuffer(4));
const patiently = (fn) => {
	for (;;) {
		try {
			return fn();
		} catch (e) {
			if (e.code === 'EPIPE' || e.code === 'EBADF')
				throw new Ended(e.code);
			if (e.code !== 'EAGAIN')
				throw e;
			Atomics.wait(pause, 0, 0, 1);
		}
	}
};
const writeLine = (text) => {
	const bytes = Buffer.from(text + '\n');
	for (let at = 0; at < bytes.length;)
		at += patiently(() => writeSync(OUT, bytes, at));
};
// Gives a line at a time; null at the end.
const lineReader = (bounded) => {
	const chunk = Buffer.allocUnsafe(1 << 16);
	let at = 0, end = 0, total = 0;
	return () => {
		const parts = [];
		for (let size = 0;;) {
			const stop = chunk.subarray(at, end).indexOf(10);
			const part = chunk.subarray(at, stop < 0 ? end : at + stop);
			size += part.length;
			total += part.length;
			need(!bounded || (size <= LINE_MAX && total <= RUN_MAX));
			parts.push(Buffer.from(part));
			if (stop >= 0) {
				at += stop + 1;
				return Buffer.concat(parts).toString();
			}
			at = 0;
			end = patiently(() => readSync(IN, chunk));
			if (!end)
				return null;
		}
	};
};

// --- what stands for the other side's things ---

const LOCAL = ['call', 'apply', 'bind', 'toString', 'constructor'];	// of a function
const COERCIONS = ['default', 'string', 'number'];

const makeHandles = (ask, watch) => {
	const infos = new WeakMap(), one = (...values) => ask(...values)[0];
	const iterator = (self, async) => {
		const it = one('iterate', self, async);
		const own = {
			next: (...v) => one('method', it, 'next', ...v),
			return: (...v) => one('close', it, ...v),
		};
		own[async ? Symbol.asyncIterator : Symbol.iterator] = () => own;
		return own;
	};
	const bySymbol = (info, key) => {
		switch (key) {
		case Symbol.iterator:
			return info.iterable ? () => iterator(info.self, false) : undefined;
		case Symbol.asyncIterator:
			return info.asynchronous ? () => iterator(info.self, true) : undefined;
		case Symbol.toPrimitive:
			return (hint) => {
				const v = one('primitive', info.self, hint);
				need(!isThing(v));
				watch.coerced(info, hint);
				return v;
			};
		}
		return watch.isTheirs(key) ? one('get', info.self, key) : undefined;
	};
	const protoOf = (info) => info.made ? info.made.prototype : Object.prototype;

	const objectTraps = (info) => ({
		get: (t, key) => {
			if (typeof key === 'symbol')
				return bySymbol(info, key);
			if (key === 'constructor' || key === '__proto__') {
				watch.claimed(info, 'the class');
				return key === '__proto__' ? protoOf(info) : info.made || Object;
			}
			const v = one('get', info.self, key);
			watch.got(info, key, v);
			const isLocal = v === undefined && key in Object.prototype;
			return isLocal ? Object.prototype[key] : v;
		},
		set: (t, key, value) => (ask('set', info.self, key, value), true),
		has: (t, key) => {
			if (key === Symbol.iterator || key === Symbol.asyncIterator)
				return key === Symbol.iterator ? info.iterable : info.asynchronous;
			watch.claimed(info, 'what is in it');
			const found = one('has', info.self, key);
			need(typeof found === 'boolean');
			return found;
		},
		deleteProperty: (t, key) => (ask('delete', info.self, key), true),
		ownKeys: () => {
			const keys = ask('keys', info.self);
			need(keys.every(isText));
			watch.listed(info);
			return keys;
		},
		getOwnPropertyDescriptor: (t, key) => {
			if (typeof key === 'symbol')
				return undefined;
			const [found, is, value] = ask('describe', info.self, key);
			need(typeof found === 'boolean');
			const open = { writable: true, configurable: true };
			return found ? { ...open, value, enumerable: !!is } : undefined;
		},
		getPrototypeOf: () => {
			watch.claimed(info, 'the class');
			return protoOf(info);
		},
		defineProperty: () => watch.refused('an object of the program is given a property'),
		setPrototypeOf: () => watch.refused('an object of the program is given a class'),
		preventExtensions: () => watch.refused('an object of the program is closed'),
	});
	const functionTraps = (info) => ({
		get: (t, key) => {
			if (key === 'prototype' || typeof key === 'symbol' || LOCAL.includes(key))
				return reflectGet(t, key);
			const v = one('get', info.self, key);
			watch.got(info, key, v);
			return v;
		},
		set: (t, key, value) => (ask('set', info.self, key, value), true),
		has: (t, key) => typeof key === 'string' && one('has', info.self, key) === true,
		apply: (t, self, args) => watch.called(info, self, args,
			() => one('call', info.self, self, ...args)),
		construct: (t, args, made) => {
			if (made !== info.self)
				watch.refused('a class of the program is extended');
			const v = watch.made(info, () => one('new', info.self, ...args));
			need(isThing(v));
			return v;
		},
	});

	const handle = (id, kind, content) => {
		need(content.length === 3);
		const info = { id, kind, made: null };
		if (kind === 'function') {
			need(isText(content[0]));
			info.target = function () {};
			Object.defineProperty(info.target, 'name', { value: content[0] });
			info.self = new Proxy(info.target, functionTraps(info));
			Object.defineProperty(info.target.prototype, 'constructor',
				{ value: info.self });
		} else {
			info.iterable = content[0] === 1;
			info.asynchronous = content[1] === 1;
			info.self = new Proxy({}, objectTraps(info));
		}
		infos.set(info.self, info);
		watch.stands(info);
		return info.self;
	};
	const isClass = (v) => typeof v === 'function' && v.prototype instanceof Object;
	const bind = (v, kind, content, read) => {
		const info = infos.get(v);
		const base = kind === 'function' ? content[2] === 1 && content[1] === null ? Error :
			read(content[1]) : read(content[2]);
		need(base === null || base === Object || isClass(base));
		if (kind === 'handle')
			info.made = base;
		else if (base)
			Object.setPrototypeOf(info.target.prototype, base.prototype);
	};
	return { handle, bind, infoOf: (v) => infos.get(v) };
};

// --- the operations on what is here ---

const operations = {
	call: (fn, self, ...args) => [apply(fn, self, args)],
	new: (fn, ...args) => [construct(fn, args)],
	method: (self, key, ...args) => [apply(self[key], self, args)],
	close: (it, ...v) => [typeof it.return === 'function' ? it.return(...v) :
		{ value: v[0], done: true }],
	iterate: (self, async) => [self[async ? Symbol.asyncIterator : Symbol.iterator]()],
	get: (self, key) => [self[key]],
	set: (self, key, value) => {
		self[key] = value;
		return [];
	},
	has: (self, key) => [key in self],
	delete: (self, key) => [delete self[key]],
	keys: (self) => Reflect.ownKeys(self).filter(isText),
	describe: (self, key) => {
		const d = Object.getOwnPropertyDescriptor(self, key);
		return d ? [true, d.enumerable, self[key]] : [false];
	},
	primitive: (self, hint) => {
		const to = self[Symbol.toPrimitive];
		need(COERCIONS.includes(hint));
		if (to !== undefined && to !== null)
			return [apply(to, self, [hint])];
		return [hint === 'string' ? String(self) : hint === 'number' ? +self : self + ''];
	},
};

// hooks: operations by name; printed(...), which nobody answers; thrown(error);
// asked(answers or null), when they are there; fatal(error), which does not return; watch, told
// of what handles are used for; and those of one side.
const ANSWERS = ['name', 'exports', 'member', 'method', 'get', 'primitive', 'describe'];
const connect = (hooks) => {
	const readLine = lineReader(hooks.bounded);
	const ask = (type, ...values) => {
		send(type, values);
		const told = wait();
		hooks.asked(ANSWERS.includes(type) ? told : null);
		return told;
	};
	const handles = makeHandles(ask, hooks.watch);
	const side = crossing.side({ ...hooks, handle: handles.handle, bind: handles.bind });

	const write = (text) => {
		try {
			writeLine(text);
		} catch (e) {
			hooks.fatal(e);
		}
	};
	const send = (type, values) => write(side.encode(type, values));
	const receive = () => {
		try {
			const line = readLine();
			if (line === null)
				throw new Ended('end of file');
			let message;
			try {
				message = JSON.parse(line);
			} catch (e) {
				need(false);
			}
			return side.decode(message);
		} catch (e) {
			return hooks.fatal(e);
		}
	};
	const answer = (type, values) => {
		let text;
		if (!Object.hasOwn(hooks.operations, type))
			hooks.fatal(new Malformed('no such request'));
		try {
			text = side.encode('return', hooks.operations[type](...values));
		} catch (e) {
			text = side.encode('throw', [e]);
		}
		write(text);
	};
	const wait = () => {
		for (;;) {
			const [type, values] = receive();
			if (type === 'return')
				return values;
			if (type === 'throw')
				throw hooks.thrown(values[0]);
			if (type === 'print')
				hooks.printed(...values);
			else
				answer(type, values);
		}
	};
	return { ask, send, receive, answer, side, infoOf: handles.infoOf };
};
return { connect, operations };
})();
