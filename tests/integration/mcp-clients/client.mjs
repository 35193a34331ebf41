// The client of @modelcontextprotocol/client, which asks the server which era it speaks.
import { createRequire } from "node:module";
import path from "node:path";
import { answering, probe } from "./probe.mjs";
const from = createRequire(path.join(process.cwd(), "node_modules/"));
const at = (name) => import(from.resolve(name));
const { Client } = await at("@modelcontextprotocol/client");
const { StdioClientTransport } = await at("@modelcontextprotocol/client/stdio");

const client = new Client({ name: "test", version: "1" },
	{ capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: "auto" } });
const person = answering();
client.setRequestHandler("elicitation/create", person.answer);
await client.connect(new StdioClientTransport({ command: process.argv[2], args: ["mcp"], env: process.env }));
const call = (name, args, options) => client.callTool({ name, arguments: args }, options);
const out = { era: client.getProtocolEra?.(), version: client.getNegotiatedProtocolVersion?.(),
	tools: (await client.listTools()).tools.map((t) => t.name) };
await probe(call, person.count, out);
out.after = await call("execute_python", { code: "print('after')" });
await client.close();
console.log(JSON.stringify(out));
