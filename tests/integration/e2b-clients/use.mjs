// What programs do with E2B's clients, one after the other; what came of each goes out as JSON.
// node use.mjs, with E2B_API_URL, E2B_SANDBOX_URL and E2B_API_KEY set.
import { Sandbox } from '@e2b/code-interpreter';
import { Sandbox as Plain } from 'e2b';

const got = {};
const step = async (name, f) => {
	try {
		got[name] = await f() ?? null;
	} catch (e) {
		got[name] = { thrown: e.constructor.name, message: e.message, result: e.result };
	}
};
const s = await Sandbox.create({ metadata: { who: 'a test & more' }, envs: { FOO: 'bar' }, timeoutMs: 1200000 });
const run = (name, code, options) => step(name, async () => {
	const e = await s.runCode(code, options);
	return { ...e.toJSON(), text: e.text, count: e.executionCount };
});

// contexts that keep variables
await run('value', 'x = 20\nx + 1');
await run('kept', 'print(x * 2 + 2)');
const context = await s.createCodeContext({ language: 'python', cwd: '/home/user/apart' });
await run('apart', 'import os\ny = 7\nopen("here", "w").close()\ny', { context });
await run('apart kept', 'y * 6', { context });
await run('not shared', 'y');
await step('contexts', async () => (await s.listCodeContexts()).length);
await step('restart', () => s.restartCodeContext(context));
await run('restarted', 'y', { context });
await step('remove', () => s.removeCodeContext(context));
await run('removed', '1', { context });
// live output
const lines = [], moments = [];
await step('live', async () => {
	await s.runCode('import sys, time\nfor i in range(3):\n    print(i, flush=True)\n    time.sleep(0.5)\nprint("e", file=sys.stderr)', {
		onStdout: (m) => { lines.push(m.line); moments.push(Date.now()); }, onStderr: (m) => lines.push(m.line) });
	return { lines, apart: moments.at(-1) - moments[0] };
});
await run('characters', 'import os\nfor b in "\u00e4\u20ac\u{1f600}".encode():\n    os.write(1, bytes([b]))\n');
await run('indented', '    import os\n    if os:\n        print("in")\n    os.sep');
await run('timed', '%%time\nprint(1)');
await run('timed refused', '%time import socket');
await run('file cell', '%%writefile cell.txt\none\ntwo');
await step('file written', () => s.files.read('cell.txt'));
// results
const pictures = { context: await s.createCodeContext() };
await run('figure', 'import matplotlib.pyplot as plt\nplt.plot([1, 2, 3])\nplt.show()', pictures);
await run('two figures', 'plt.plot([1]); plt.show()\nplt.plot([2]); plt.show()\nfig = plt.figure(); plt.plot([3]);', pictures);
await step('charts', async () => (await s.runCode('import matplotlib.pyplot as plt\nplt.plot([1, 2], [3, 4], label="l"); plt.title("T"); plt.xlabel("Time (s)"); plt.show()\n' +
	'plt.bar(["a", "b"], [1, 2]); plt.show()\nplt.barh(["a", "b"], [1, 2]); plt.ylabel("y [m]"); plt.show()\nplt.pie([9, 1], labels=["x", "y"]); plt.show()\n' +
	'plt.boxplot([[1, 2, 3, 9]], labels=["A"], patch_artist=True); plt.show()\nplt.scatter([1], [2], label="s"); plt.show()\n' +
	'plt.plot(["u", "v"], [1, 10]); plt.yscale("log"); plt.show()\nimport datetime\nplt.plot([datetime.date(2023, 9, 1)], [1]); plt.show()\n' +
	'_, two = plt.subplots(1, 2); two[0].plot([1]); two[1].scatter([1], [1]); plt.suptitle("S"); plt.show()\nplt.imshow([[1]]); plt.show()',
	pictures)).results.map((r) => r.chart));
await run('table', 'import pandas as pd\npd.DataFrame({"a": [1, 2], "b": ["x", "y"]})', { context: await s.createCodeContext() });
await run('forms', 'from IPython.display import HTML, Markdown, display\ndisplay(HTML("<b>1</b>"), Markdown("*2*"))\n"last"');
await run('none', 'None');
// errors
await run('error', 'def f(a):\n    return 1 / a\nf(0)');
await run('after error', 'x');
await run('own error', 'class FinalAnswer(Exception):\n    pass\nraise FinalAnswer("gASVAgAAAAAAAABLAS4=")');
await run('syntax', 'a = 1\nb = (');
await run('exit', 'import sys\nsys.exit(3)');
await run('both', 'import sys\nprint("said", file=sys.stderr)\nraise KeyError("k")');
await run('refused', 'import socket');
await step('gaps', async () => (await s.runCode('import pandas as pd\npd.DataFrame({"a": [1.0, None]})', { context: await s.createCodeContext() })).results[0].data);
await run('refused line', '!curl http://example.org');
// lines of a shell
await run('shell', '!echo hi; echo no >&2\nnames = !echo a; echo b\nnames');
await run('shell text', 's = """\n!echo no\n"""\nprint(s)');
await run('magic', '%matplotlib inline\n%cd /tmp\nimport os\nos.getcwd()');
await run('cell', '%%bash\necho $((6 * 7))');
await run('env', 'import os\nos.environ["FOO"], os.environ["ONCE"]', { envs: { ONCE: 'now' } });
await run('env gone', 'os.environ.get("ONCE")');
await run('javascript', 'const z = 5; console.log(z + 1)', { language: 'js' });
await run('javascript kept', 'console.log(z * 2)', { language: 'js' });
await run('javascript value', '[z, process.env.FOO, process.env.ONCE]', { language: 'js', envs: { ONCE: 'now' } });
await run('javascript none', 'console.log(1); "last"; undefined', { language: 'js' });
await run('here', 'import os\nfrom pathlib import Path\nprint(Path.cwd(), os.getcwd(), flush=True)\n!pwd', { context: await s.createCodeContext() });
await run('javascript here', 'process.cwd()', { language: 'js' });
await run('javascript elsewhere', 'process.cwd()', { context: await s.createCodeContext({ language: 'javascript', cwd: '/tmp/else where' }) });
await run('bash', 'echo $((1 + 1))', { language: 'bash' });
await run('bash env', 'echo "$FOO $ONCE"; pwd', { language: 'bash', envs: { ONCE: 'now' } });
await run('cobol', 'DISPLAY 1.', { language: 'cobol' });
// files
await step('write', () => s.files.write('/home/user/data/a.csv', 'n\n1\n2\n'));
await run('program reads', 'import os\nopen("/home/user/data/a.csv").read()');
await run('program writes', 'open("/home/user/made.txt", "w").write("made")\nos.makedirs("/home/user/empty")\nos.remove("/home/user/data/a.csv")');
await step('read', () => s.files.read('made.txt'));
await step('list', async () => (await s.files.list('/home/user', { depth: 3 })).map((e) => [e.path, e.type, e.size]));
await step('many', () => s.files.write([{ path: 'm/1', data: 'one' }, { path: 'm/2', data: 'two' }]));
await step('bytes', async () => {
	await s.files.write('b', new Uint8Array([0, 255, 13, 10, 45, 45]).buffer);
	return [...await s.files.read('b', { format: 'bytes' })];
});
await step('octets', async () => {
	await s.files.write('o', 'octets', { useOctetStream: true });
	return s.files.read('o');
});
await step('packed', async () => {
	await s.files.write('packed', 'text '.repeat(1000), { gzip: true });
	return (await s.files.read('packed')).length;
});
await step('said of it', async () => [(await s.files.write('p', '1', { metadata: { author: 'me' } })).metadata, (await s.files.getInfo('p')).metadata,
	(await s.files.rename('p', 'p2')).metadata, (await s.files.write('p2', '2')).metadata ?? null]);
await step('empty', async () => { await s.files.write('e', ''); return s.files.read('e'); });
await step('make', () => s.files.makeDir('f/g'));
await step('make again', () => s.files.makeDir('f/g'));
await step('rename', async () => (await s.files.rename('m/1', 'f/g/1')).path);
await step('exists', async () => [await s.files.exists('m/1'), await s.files.exists('f/g/1')]);
await step('info', async () => { const e = await s.files.getInfo('f/g/1'); return [e.name, e.size, e.permissions, e.type]; });
await step('remove file', () => s.files.remove('f'));
await step('read removed', () => s.files.read('f/g/1'));
await step('outside', () => s.files.write('/etc/passwd', 'x'));
await step('above', () => s.files.read('../../etc/passwd'));
// commands
await step('command', () => s.commands.run('cat made.txt; echo err >&2; echo "$FOO $BAR"; pwd; chmod 755 b; mv o o2; rm made.txt', { envs: { BAR: 'baz' } }));
await step('after command', async () => [await s.files.exists('made.txt'), await s.files.read('o2'), (await s.files.getInfo('b')).permissions]);
await run('program sees', 'sorted(os.listdir("/home/user"))');
await step('exit code', () => s.commands.run('echo out; echo more > left; exit 3'));
await step('left', () => s.files.read('left'));
await step('cwd', () => s.commands.run('pwd', { cwd: '/home/user/m' }));
const chunks = [];
await step('background', async () => {
	const c = await s.commands.run('echo one; sleep 0.3; echo two', { background: true, onStdout: (t) => chunks.push(t) });
	return { ...await c.wait(), chunks };
});
await step('killed', async () => {
	const c = await s.commands.run('echo up; sleep 100', { background: true });
	const listed = (await s.commands.list()).map((p) => p.args.at(-1));
	const was = await c.kill();
	try {
		await c.wait();
	} catch (e) {
		return { listed, was, code: e.exitCode, again: await s.commands.kill(c.pid) };
	}
});
await step('at once', async () => {
	const ends = await Promise.all([1, 2, 3].map((n) => s.commands.run(`sleep 0.${n}; echo ${n} > at-once-${n}`)));
	return [ends.map((e) => e.exitCode), await Promise.all([1, 2, 3].map((n) => s.files.read(`at-once-${n}`)))];
});
await step('written meanwhile', async () => {
	const c = await s.commands.run('read x; echo mine > by-command', { background: true, stdin: true });
	await s.files.write('theirs', 'theirs');
	await s.commands.sendStdin(c.pid, 'go\n');
	await c.wait();
	return [await s.files.read('by-command'), await s.files.read('theirs')];
});
await step('its own time', () => s.commands.run('echo kept > kept; sleep 100', { timeoutMs: 1000 }));
await step('input', async () => {
	const c = await s.commands.run('cat; echo end', { background: true, stdin: true });
	await s.commands.sendStdin(c.pid, 'ab');
	await s.commands.sendStdin(c.pid, 'c\n');
	await s.commands.closeStdin(c.pid);
	return c.wait();
});
await step('live input', async () => {
	const c = await s.commands.run('read a; echo got $a; read b; echo got $b', { background: true, stdin: true });
	await s.commands.sendStdin(c.pid, 'one\n');
	while (!c.stdout)
		await new Promise((r) => setTimeout(r, 20));
	await s.commands.sendStdin(c.pid, 'two\n');
	return c.wait();
});
const encode = (t) => new TextEncoder().encode(t), decode = (d) => new TextDecoder().decode(d);
await step('terminal', async () => {
	let first = '', second = '';
	const t = await s.pty.create({ cols: 80, rows: 24, envs: { ABC: '123' }, onData: (d) => { first += decode(d); } });
	await s.pty.resize(t.pid, { cols: 100, rows: 24 });
	await s.pty.sendInput(t.pid, encode('echo $ABC; tput cols\n'));
	while (!/^100\r$/m.test(first))
		await new Promise((r) => setTimeout(r, 20));
	await t.disconnect();
	const again = await s.pty.connect(t.pid, { onData: (d) => { second += decode(d); } });
	await s.pty.sendInput(again.pid, encode('echo up; sleep 1000\n'));
	while (!/^up\r$/m.test(second))
		await new Promise((r) => setTimeout(r, 20));
	await s.pty.sendInput(again.pid, encode('\x03'));
	await s.pty.sendInput(again.pid, encode('ech\x7fho 7 >typed\nexit 3\n'));
	const end = await again.wait().catch((e) => e.exitCode);
	return { first, second, end, typed: await s.files.read('typed'), killed: await s.pty.kill(t.pid) };
});
await step('terminal killed', async () => {
	const t = await s.pty.create({ cols: 80, rows: 24, onData: () => {} });
	return [await s.pty.kill(t.pid), await t.wait().catch((e) => e.exitCode)];
});
await step('port', async () => (await (await fetch(process.env.E2B_API_URL + '/x', { headers: { Host: s.getHost(3000),
	'E2b-Sandbox-Id': s.sandboxId, 'E2b-Sandbox-Port': '3000', 'X-Access-Token': s.envdAccessToken } })).json()));
await step('refused command', () => s.commands.run('curl http://example.org'));
// a client that does not wait
await run('left alone', 'import time\nq = 1\ntime.sleep(100)', { timeoutMs: 700 });
await run('goes on', 'x');
// sandboxes
await step('running', () => s.isRunning());
await step('listed', async () => (await Sandbox.list({ query: { metadata: { who: 'a test & more' } } }).nextItems()).map((i) => i.sandboxId === s.sandboxId));
await step('not listed', async () => (await Sandbox.list({ query: { metadata: { who: 'else' } } }).nextItems()).length);
await step('pages', async () => {
	const made = [];
	for (let i = 0; i < 3; i++)
		made.push((await Sandbox.create({ metadata: { page: 'yes' } })).sandboxId);
	const all = { query: { metadata: { page: 'yes' } } }, seen = [];
	for (const order of [undefined, 'asc']) {
		const pages = Sandbox.list({ ...all, limit: 2, order });
		while (pages.hasNext)
			seen.push((await pages.nextItems()).map((i) => made.indexOf(i.sandboxId)));
	}
	for (const id of made)
		await Sandbox.kill(id);
	return seen;
});
await step('lifecycle', async () => {
	const p = await Sandbox.create({ lifecycle: { onTimeout: 'pause', autoResume: true } });
	const { lifecycle, allowInternetAccess } = await p.getInfo();
	await p.kill();
	return [lifecycle, allowInternetAccess];
});
await step('metrics', async () => (await s.getMetrics()).map((m) => [m.timestamp instanceof Date, m.cpuCount, m.diskUsed > 0, m.diskTotal]));
await step('connected', async () => (await Sandbox.connect(s.sandboxId)).files.read('left'));
await step('end moved', async () => {
	const before = (await s.getInfo()).endAt;
	await s.setTimeout(600000);
	return before - (await s.getInfo()).endAt > 1000;
});
await step('plain client', async () => {
	const p = await Plain.create();
	await p.files.write('mine', '1');
	const there = await s.files.exists('mine');
	const { stdout } = await p.commands.run('cat mine');
	return { there, stdout, killed: await p.kill() };
});
await step('forks', async () => {
	await s.files.write('state', 'before');
	const [one, two] = await s.fork({ count: 2, timeoutMs: 60000 });
	await one.files.write('state', 'after');
	const read = await Promise.all([s, one, two].map((b) => b.files.read('state')));
	return [read, await one.kill(), await two.kill(), await s.isRunning()];
});
await step('other id', () => Sandbox.connect('0'.repeat(20)));
await step('killed while it runs', async () => {
	const p = await Sandbox.create();
	const command = await p.commands.run('sleep 100', { background: true });
	const ended = [command.wait(), p.runCode('import time\nprint(1, flush=True)\ntime.sleep(100)', { onStdout: () => p.kill() })];
	return (await Promise.allSettled(ended)).map((e) => [e.reason?.constructor.name, /sandbox was killed/.test(e.reason?.message)]);
});
await step('kill', () => s.kill());
await step('gone', () => s.isRunning());
await run('run gone', '1');
await step('kill gone', () => Sandbox.kill(s.sandboxId));
console.log(JSON.stringify(got));
