// The protocol's SDKs of both eras over HTTP, and Piston's client: node http.mjs URL KEY
import { createRequire } from "node:module";
import path from "node:path";
const from = createRequire(path.join(process.cwd(), "node_modules/"));
const at = (name) => import(from.resolve(name));
const [url, key] = process.argv.slice(2);
const code = { name: "execute_python", arguments: { code: "print('hello')" } };
const probe = { name: "execute_python", arguments: { code: "import os\nprint('probed' if len(os.environ) else '')" } };
const out = {};
// Hears of its progress until it runs, and then takes it back.
async function takenBack(client, ...between) {
	const abort = new AbortController();
	const heard = [];
	const forever = { name: "execute_python", arguments: { code: "import time\ntime.sleep(100)" } };
	const onprogress = (p) => heard.push(p.message) && p.message === "execute" && abort.abort("enough");
	const how = await client.callTool(forever, ...between, { signal: abort.signal, onprogress }).catch((e) => String(e));
	return { heard, how };
}
{
	const { Client } = await at("@modelcontextprotocol/sdk/client/index.js");
	const { StreamableHTTPClientTransport } = await at("@modelcontextprotocol/sdk/client/streamableHttp.js");
	const client = new Client({ name: "test", version: "1" });
	await client.connect(new StreamableHTTPClientTransport(new URL(url + "/mcp"), { requestInit: { headers: { "X-API-Key": key } } }));
	out.old = { tools: (await client.listTools()).tools.length, hello: await client.callTool(code), ping: await client.ping() };
	out.old.back = await takenBack(client, undefined);
	out.old.denied = await client.callTool(probe);
	await client.close();
}
{
	const { Client, StreamableHTTPClientTransport } = await at("@modelcontextprotocol/client");
	const client = new Client({ name: "test", version: "1" }, { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: "auto" } });
	client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { approve: true } }));
	await client.connect(new StreamableHTTPClientTransport(new URL(url + "/mcp"), { requestInit: { headers: { Authorization: "Bearer " + key } } }));
	out.new = { era: client.getProtocolEra(), tools: (await client.listTools()).tools.length, hello: await client.callTool(code) };
	out.new.back = await takenBack(client);
	out.new.denied = await client.callTool(probe);
	await client.close();
}
{
	const { piston } = await import(path.join(process.cwd(), "node_modules/piston-client/index.js"));
	const client = piston({ server: url + "/key/" + key });
	out.piston = { runtimes: await client.runtimes(), ran: await client.execute("python", "import sys\nprint(sys.argv[1:], input())", { stdin: "in" }) };
}
console.log(JSON.stringify(out));
