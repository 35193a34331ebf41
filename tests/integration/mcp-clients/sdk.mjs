// The client of @modelcontextprotocol/sdk (with initialize): node sdk.mjs ASSAY, from where it is
// installed. Prints one JSON document of what it got.
import { createRequire } from "node:module";
import path from "node:path";
import { answering, probe } from "./probe.mjs";
const from = createRequire(path.join(process.cwd(), "node_modules/"));
const { Client } = await import(from.resolve("@modelcontextprotocol/sdk/client/index.js"));
const { StdioClientTransport } = await import(from.resolve("@modelcontextprotocol/sdk/client/stdio.js"));
const { ElicitRequestSchema } = await import(from.resolve("@modelcontextprotocol/sdk/types.js"));

const client = new Client({ name: "test", version: "1" }, { capabilities: { elicitation: {} } });
const person = answering();
client.setRequestHandler(ElicitRequestSchema, person.answer);
const transport = new StdioClientTransport({ command: process.argv[2], args: ["mcp"], env: process.env });
await client.connect(transport);
const call = (name, args, options) => client.callTool({ name, arguments: args }, undefined, options);
const out = { server: client.getServerVersion(), tools: (await client.listTools()).tools.map((t) => t.name) };
out.ping = await client.ping();
out.failed = await call("execute_python", { code: "1/0" });
out.refused = await call("execute_python", { code: "import socket" });
await probe(call, person.count, out);
out.after = await Promise.all([1, 2, 3, 4].map((n) => call("execute_python", { code: `print(${n})` })));
out.unknown = await call("nothing", {}).then((r) => r, (e) => ({ thrown: e.code }));
// Each result is checked against its schema, that of each tool once.
out.each = {};
const each = async (name, args) => {
	const result = await call(name, args);
	out.each[name] = result.isError;
	return result.structuredContent;
};
const { context } = await each("context_open", { language: "python" });
const { run } = await each("execute_code", { language: "python", code: "open('/out/f', 'w').write('1')", context });
await each("screen_code", { language: "python", code: "1" });
for (const name of ["execute_python", "run_python"])
	await each(name, { code: "1" });
for (const name of ["context_list", "list_runs"])
	await each(name, {});
await each("read_file", { run, path: "f" });
for (const name of ["show_run", "replay_run"])
	await each(name, { run });
for (const name of ["context_interrupt", "context_close"])
	await each(name, { context });
await client.close();
console.log(JSON.stringify(out));
