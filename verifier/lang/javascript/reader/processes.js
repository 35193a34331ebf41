// What commands a program's calls of child_process may run, written as its words
// with a space between: facts.js tells them after "run" or, where a shell takes
// them, "line". What is not known is ?, a file known to be below /in, /out, /work
// or /tmp @; a space in a word is ~, and ` stands for a letter that has a meaning
// here. " <" follows a command with input, " <." one where the program has a text
// with a line that a tool may take for a command. Code for node that is written out
// is looked at as the program is, and is =. Follows values.js.
const RUNNERS = /^child_process\.(exec|execFile|spawn)(Sync)?$/;
const COMMANDS_MAX = 64;
const PLAIN_OPTIONS = new Set(["encoding", "stdio", "timeout", "input", "maxBuffer", "windowsHide",
	"killSignal", "signal"]);
const HARMLESS_VARIABLES = /^(?:LC_\w+|LANG|TZ|COLUMNS|NO_COLOR)$/;
const SHELL_MARKS = /[&;<>$`\\(){}*?!#~[\]\n\r]/;

function written(text) {
	return [...String(text)].map((c) => c > " " && c < "\x7f" && !"~?@`".includes(c) ? c
		: " \t\n".includes(c) ? "~" : "`").join("") || "~";
}

// The words of a line, with its quotes; null where it is more than words.
function splitWords(line) {
	if (SHELL_MARKS.test(line) || /^[^'"]*=/.test(line.trim().split(" ")[0]))
		return null;
	const words = line.match(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g) || [];
	if (words.join("").replace(/'[^']*'|"[^"]*"/g, "").match(/['"]/))
		return null;
	return words.map((w) => w.replace(/'([^']*)'|"([^"]*)"/g, (_, a, b) => a ?? b));
}

class Commands {
	constructor(program) {
		this.program = program;
	}

	// { shell, texts } of a call of what RUNNERS matches
	of(node, host) {
		const [, kind, sync] = RUNNERS.exec(host), args = [...node.arguments];
		if (args.length > 1 && this.isFunctionLike(args.at(-1)))
			args.pop();
		const listed = kind !== "exec" && args.length > 1 && !this.record(args[1]);
		const options = args[listed ? 2 : 1];
		const fault = options ? this.fault(options) : "";
		if (fault || !args.length || args.some((a) => a.type === "SpreadElement")
		    || args.length > (listed ? 3 : 2))
			return { shell: kind === "exec", texts: ["? " + fault] };
		const fed = !sync || options && this.record(options).properties.some((p) => this.nameOf(p) === "input");
		const lists = kind === "exec" ? this.lines(args[0])
			: this.pairs(args[0], listed ? args[1] : null, 0);
		return { shell: kind === "exec", texts: lists ? lists.map((words) => this.command(words)
			+ (fed ? this.input() : "")) : ["?"] };
	}

	isFunctionLike(node) {
		return isFunction(node) || this.program.value(node).fn.size > 0;
	}

	// An object that is written out, here or as the only value of a name.
	record(node) {
		const init = node.type === "Identifier" ? this.isKept(node.$var) && node.$var.only() : node;
		return init && init.type === "ObjectExpression" ? init : null;
	}

	// Nobody changes what is in it: it is given to such calls, and to functions that do the same.
	isKept(v, depth = 0) {
		return Boolean(v) && depth < 5 && v.refs.every((n) => {
			const call = n.$up, at = (call.arguments || []).indexOf(n);
			if (call.type === "VariableDeclarator" || isFunction(call) || call.type === "RestElement"
			    || call.type === "ArrayPattern" || call.type === "AssignmentPattern")
				return call.init !== n;
			if (call.type === "SpreadElement")
				return true;
			if (call.type === "ForOfStatement" && call.right === n)
				return this.isLoopKept(call, depth);
			if (call.type === "MemberExpression" && call.object === n)
				return !call.computed && /^(?:join|map|length|slice)$/.test(call.property.name)
					&& !/^(?:Assignment|Update)Expression$/.test(call.$up.type);
			if (call.type !== "CallExpression" || at < 0)
				return false;
			const callee = this.program.value(call.callee);
			return [...callee.h].every((h) => RUNNERS.test(h) || /^console\./.test(h)) && [...callee.fn].every(
				(fn) => fn.params[at]?.type === "Identifier"
					&& this.isKept(fn.$scope.vars.get(fn.params[at].name), depth + 1));
		});
	}

	// Nobody changes what a loop finds in it; a text cannot be changed.
	isLoopKept(loop, depth) {
		const p = loop.left.type === "VariableDeclaration" && loop.left.declarations[0].id;
		const parts = p && p.type === "ArrayPattern" ? p.elements : [p];
		return parts.every((n) => n && (n.type === "RestElement" || n.type === "Identifier"
			&& (!(this.program.value(n).f & F.OBJ) || this.isKept(loop.$scope.find(n.name), depth + 1))));
	}

	nameOf(property) {
		return property.type === "Property" && !property.computed
			? String(property.key.name ?? property.key.value) : "...";
	}

	// What of the options has the command be another; "" when nothing does.
	fault(node) {
		const record = this.record(node);
		if (!record)
			return "options";
		for (const p of record.properties) {
			const name = this.nameOf(p);
			if (!PLAIN_OPTIONS.has(name) && !(name === "cwd" && this.isBelow(p.value))
			    && !(name === "env" && this.isPlainEnvironment(p.value))
			    && !(name === "shell" && p.value.type === "Literal" && p.value.value === false))
				return name;
		}
		return "";
	}

	isPlainEnvironment(node) {
		if (this.program.hostName(node) === "process.env")
			return true;
		return node.type === "ObjectExpression" && node.properties.every((p) => p.type === "SpreadElement"
			? this.program.hostName(p.argument) === "process.env" : HARMLESS_VARIABLES.test(this.nameOf(p)));
	}

	// --- lists of words; null where they are not known ---

	lines(node) {
		const c = this.program.folder.constant(node);
		if (!c || typeof c.v !== "string")
			return null;
		const lists = c.v.split("|").map(splitWords);
		return lists.every((l) => l && l.length) ? lists.map((l) => l.map(written)) : null;
	}

	// A command and its list, for all calls of the function they are given to.
	pairs(command, list, depth) {
		const given = this.given(command, list) || this.looped(command, list);
		if (given) {
			const found = given.map(([c, l]) => !c || l === undefined || depth > 4 ? null : Array.isArray(l)
				? this.product([this.words(c), ...l.map((w) => this.words(w))])
				: this.pairs(c, l, depth + 1));
			return found.every(Boolean) ? found.flat() : null;
		}
		const first = this.words(command), rest = list ? this.list(list) : [];
		return rest && this.product([first, ...rest]);
	}

	product(parts) {
		let found = [[]];
		for (const p of parts) {
			if (found.length * p.length > COMMANDS_MAX)
				return null;
			found = found.flatMap((f) => p.map((w) => [...f, w]));
		}
		return found;
	}

	// The alternatives for each word of an array that is written out.
	list(node) {
		const init = node.type === "Identifier" ? this.isKept(node.$var) && node.$var.only() : node;
		const c = this.program.folder.constant(node);
		if (!init || init.type !== "ArrayExpression" || init.elements.some((e) => !e))
			return c && Array.isArray(c.v) ? c.v.map((w) => [written(w)]) : null;
		const parts = init.elements.map((e) => e.type === "SpreadElement" ? this.list(e.argument)
			: [this.words(e)]);
		return parts.every(Boolean) ? parts.flat() : null;
	}

	isBelow(node) {
		const v = this.program.value(node);
		return v.s.size > 0 && !v.f && !v.h.size && !v.fn.size && [...v.s].every((s) => {
			const name = posix.resolve("/work", s.slice(1));
			return (s[1] === "/" || s[0] === "=") && /^\/(?:in|out|work|tmp)(?:\/|$)/.test(name);
		});
	}

	words(node) {
		if (this.program.hostName(node) === "process.execPath")
			return ["node"];
		const c = this.program.folder.constant(node);
		if (c && (typeof c.v === "string" || typeof c.v === "number"))
			return [this.code(node, written(c.v), c.v)];
		const v = this.program.value(node);
		const known = v.s.size > 0 && !v.f && !v.h.size && !v.fn.size;
		if (known && [...v.s].every((s) => s[0] === "="))
			return [...v.s].map((s) => written(s.slice(1)));
		return [known && this.isBelow(node) ? "@" : "?"];
	}

	// The text after node -e, to be looked at, and what stands for it.
	code(node, text, code) {
		const list = node.$up.type === "ArrayExpression" ? node.$up.elements : [];
		const before = list[list.indexOf(node) - 1];
		const flag = before && this.program.folder.constant(before);
		if (!flag || !/^(?:-e|-p|-pe|--eval|--print)$/.test(flag.v))
			return text;
		this.codes = (this.codes || []).concat(String(code));
		return "=";
	}

	// Of names that are parameters of one function: what its calls give.
	given(command, list) {
		const nodes = [command, list].filter(Boolean);
		const fn = this.functionOf(nodes.find((n) => this.functionOf(n)));
		if (!fn || nodes.some((n) => this.functionOf(n) && this.functionOf(n) !== fn))
			return null;
		if (list && this.functionOf(list) && !this.isKept(list.$var))
			return [[null]];
		const calls = [...(fn.$given || [])];
		if (!calls.length || calls.some((c) => !this.program.value(c.callee || c).fn.has(fn)
			|| c.type !== "CallExpression" || c.callee.type !== "Identifier"
			|| c.arguments.some((a) => a.type === "SpreadElement")) || this.isHandedOn(fn)
		    || this.program.nodes.some((n) => n.type === "Identifier" && n.name === "arguments"))
			return [[null]];
		const of = (n, call) => !n || this.functionOf(n) !== fn ? n
			: call.arguments[fn.params.findIndex((p) => p.name === n.name)];
		return calls.map((call) => [of(command, call), list ? of(list, call) : null]);
	}

	functionOf(node) {
		if (!node || node.type !== "Identifier" || !node.$var || node.$var.writes !== 1)
			return null;
		for (let n = node.$up; n; n = n.$up)
			if (isFunction(n) && n.params.some((p) => p.type === "Identifier" && p.name === node.name)
			    && n.$scope.vars.get(node.name) === node.$var)
				return n;
		return null;
	}

	// Whether somebody else may call it.
	isHandedOn(fn) {
		const id = fn.id || fn.$up.type === "VariableDeclarator" && fn.$up.id;
		const v = id && id.name && fn.$up.$scope.find(id.name);
		return !v || v.refs.some((r) => r !== id && !(r.$up.type === "CallExpression" && r.$up.callee === r));
	}

	// for (const [command, ...list] of [["sort"], ["uniq", "-c"]])
	looped(command, list) {
		for (let n = command.$up; n && command.type === "Identifier"; n = n.$up) {
			const pattern = n.type === "ForOfStatement" && n.left.type === "VariableDeclaration"
				&& n.left.declarations[0].id;
			if (!pattern || pattern.type !== "ArrayPattern" || pattern.elements[0]?.name !== command.name
			    || n.$scope.vars.get(command.name) !== command.$var || command.$var.writes !== 1)
				continue;
			const rest = pattern.elements[1], name = rest && (rest.argument || rest).name;
			if (pattern.elements.length > 2 || list && list.name !== name || list && (list.$var.writes !== 1 || !this.isKept(list.$var)))
				return null;
			const right = n.right.type === "Identifier" ? this.isKept(n.right.$var) && n.right.$var.only()
				: n.right;
			if (!right || right.type !== "ArrayExpression" || right.elements.some(
				(e) => !e || e.type !== "ArrayExpression" || e.elements.some((x) => !x || x.type === "SpreadElement")))
				return null;
			return right.elements.map((e) => [e.elements[0], !list ? null
				: rest.type === "RestElement" ? e.elements.slice(1) : e.elements[1]]);
		}
		return null;
	}

	// --- one command ---

	input() {
		const dotted = this.program.nodes.some((n) => {
			const texts = n.type === "Literal" ? [n.value] : n.type === "TemplateLiteral"
				? n.quasis.map((q) => q.value.cooked) : [];
			return texts.some((t) => typeof t === "string" && /^\s*\.[A-Za-z]/m.test(t));
		});
		return dotted ? " <." : " <";
	}

	command(words) {
		return words.length ? words.join(" ") : "?";
	}
}
