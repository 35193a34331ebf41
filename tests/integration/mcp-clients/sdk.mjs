// The client of @modelcontextprotocol/sdk (with initialize): node sdk.mjs ASSAY, from where it is
// installed. Prints one JSON document of what it got.
import { createRequire } from "node:module";
import path from "node:path";
const from = createRequire(path.join(process.cwd(), "node_modules/"));
const { Client } = await import(from.resolve("@modelcontextprotocol/sdk/client/index.js"));
const { StdioClientTransport } = await import(from.resolve("@modelcontextprotocol/sdk/client/stdio.js"));
const { ElicitRequestSchema } = await import(from.resolve("@modelcontextprotocol/sdk/types.js"));

const client = new Client({ name: "test", version: "1" }, { capabilities: { elicitation: {} } });
let asked = 0;
client.setRequestHandler(ElicitRequestSchema, (request) => {
	asked += /os\.environ/.test(request.params.message);
	return { action: "accept", content: { approve: true } };
});
const transport = new StdioClientTransport({ command: process.argv[2], args: ["mcp"], env: process.env });
await client.connect(transport);
const call = (name, args, options) => client.callTool({ name, arguments: args }, undefined, options);
const out = { server: client.getServerVersion(), tools: (await client.listTools()).tools.map((t) => t.name) };
out.ping = await client.ping();
out.hello = await call("execute_python", { code: "print('hello')" });
out.failed = await call("execute_python", { code: "1/0" });
out.refused = await call("execute_python", { code: "import socket" });
out.approved = await call("execute_python", { code: "import os\nprint('probed' if len(os.environ) else '')" });
out.asked = asked;
const progress = [];
out.long = await call("execute_python", { code: "import time\nfor i in range(4):\n  print(i, flush=True)\n  time.sleep(0.3)" },
	{ onprogress: (p) => progress.push(p.progress) });
out.progress = progress;
const abort = new AbortController();
const slow = call("execute_python", { code: "import time\ntime.sleep(60)" },
	{ signal: abort.signal, onprogress: (p) => p.message === "execute" && abort.abort("enough") });
out.cancelled = await slow.then(() => "answered", (e) => String(e));
out.after = await Promise.all([1, 2, 3, 4].map((n) => call("execute_python", { code: `print(${n})` })));
out.unknown = await call("nothing", {}).then((r) => r, (e) => ({ thrown: e.code }));
await client.close();
console.log(JSON.stringify(out));
