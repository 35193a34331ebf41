// What each client is put through once it is connected: call(name, arguments, options) calls a
// tool; asked() is how often a person was asked. Into out goes what came of it.
export async function probe(call, asked, out) {
	out.hello = await call("execute_python", { code: "print('hello')" });
	out.approved = await call("execute_python", { code: "import os\nprint('probed' if len(os.environ) else '')" });
	out.asked = asked();
	const progress = [];
	out.long = await call("execute_python", { code: "import time\nfor i in range(4):\n  print(i, flush=True)\n  time.sleep(0.3)" },
		{ onprogress: (p) => progress.push(p.progress) });
	out.progress = progress;
	const abort = new AbortController();
	const slow = call("execute_python", { code: "import time\ntime.sleep(60)" },
		{ signal: abort.signal, onprogress: (p) => p.message === "execute" && abort.abort("enough") });
	out.cancelled = await slow.then(() => "answered", (e) => String(e));
}

// The answer to a question of assay's, which counts itself.
export function answering() {
	let asked = 0;
	return {
		count: () => asked,
		answer: (request) => {
			asked += /os\.environ/.test(request.params.message);
			return { action: "accept", content: { approve: true } };
		},
	};
}
