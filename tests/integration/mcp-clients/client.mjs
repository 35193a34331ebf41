// The client of @modelcontextprotocol/client, which asks the server which era it speaks.
import { createRequire } from "node:module";
import path from "node:path";
const from = createRequire(path.join(process.cwd(), "node_modules/"));
const at = (name) => import(from.resolve(name));
const { Client } = await at("@modelcontextprotocol/client");
const { StdioClientTransport } = await at("@modelcontextprotocol/client/stdio");

const client = new Client({ name: "test", version: "1" },
	{ capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: "auto" } });
let asked = 0;
client.setRequestHandler("elicitation/create", (request) => {
	asked += /os\.environ/.test(request.params.message);
	return { action: "accept", content: { approve: true } };
});
await client.connect(new StdioClientTransport({ command: process.argv[2], args: ["mcp"], env: process.env }));
const call = (name, args, options) => client.callTool({ name, arguments: args }, options);
const out = { era: client.getProtocolEra?.(), version: client.getNegotiatedProtocolVersion?.(),
	tools: (await client.listTools()).tools.map((t) => t.name) };
out.hello = await call("execute_python", { code: "print('hello')" });
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
out.after = await call("execute_python", { code: "print('after')" });
await client.close();
console.log(JSON.stringify(out));
