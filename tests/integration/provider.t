#!/bin/sh
# Providers are rows: each speaks its wire to its URL with its header; users add their own.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/server.sh"

cat >server.py <<'E2'
# Keeps what it was asked; answers in the wire of the path.
import json
from json_server import Handler, serve
class H(Handler):
    def keep(self, body):
        json.dump({"path": self.path, "headers": {k.lower(): v for k, v in self.headers.items()}, "body": body}, open("asked.json", "w"))
    def do_GET(self):
        self.keep(None)
        self.answer(200, {"data": [{"id": "first"}, {"id": "second"}]} if "tags" not in self.path else {"models": [{"name": "first"}]})
    def do_POST(self):
        self.keep(json.loads(self.body()))
        if "messages" in self.path: v = {"content": [{"type": "text", "text": "hello"}], "stop_reason": "end_turn", "usage": {"input_tokens": 1, "output_tokens": 1}}
        elif "responses" in self.path: v = {"status": "completed", "output": [{"type": "message", "content": [{"type": "output_text", "text": "hello"}]}], "usage": {"input_tokens": 1, "output_tokens": 1}}
        elif "/api/chat" in self.path: v = {"message": {"content": "hello"}, "done": True, "done_reason": "stop", "prompt_eval_count": 1, "eval_count": 1}
        else: v = {"choices": [{"message": {"content": "hello"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}
        self.answer(200, v)
serve(H)
E2
start_server
config=$XDG_CONFIG_HOME/assay/config.ini
mkdir -p "$(dirname "$config")"
asked() {
	jq -rc "$1" asked.json
}
complete() {
	rm -f asked.json
	run complete "$@" 'q'
}

# --- nothing is set up ---

if curl -s -m 2 http://127.0.0.1:11434/ http://127.0.0.1:8080/ >/dev/null; then
	skip 'no key, no flag' 'a server answers where a local model would'
else
	run ask x
	is "$code $(wc -l <err.txt)" '5 3' 'no key, no flag, no local server: three lines'
	like "$err" 'OPENAI_API_KEY or ANTHROPIC_API_KEY' 'say what to set'
	is "$(awk 'length > 80' err.txt)" '' 'and fit a terminal'
fi

# --- the user's own row ---

cat >"$config" <<E3
[provider lab]
url = $host/lab/v1
key = LAB_KEY
header = X-Lab: Token
quirks = no-stream-options max-completion-tokens
[provider claudish]
url = $host
wire = anthropic
model = c-1
[provider native]
url = $host
wire = ollama
[provider new]
url = $host/v1
wire = openai-responses
model = r-1
E3
LAB_KEY=k-1234567 complete --provider lab --max-tokens 50
is "$code $out" '0 hello' 'a row of the user: its first model is asked when none is named'
is "$(asked '[.path, .headers["x-lab"], .headers.authorization, .body.model]')" \
	'["/lab/v1/chat/completions","Token k-1234567",null,"first"]' 'URL, header and model'
is "$(asked '[.body.stream, .body.stream_options, .body.max_tokens, .body.max_completion_tokens]')" \
	'[true,null,null,50]' 'and quirks'
complete --provider lab
is "$code" 5 'without the key it names'
like "$err" 'LAB_KEY is not set' 'it says so'
complete --provider claudish
is "$code $(asked '[.path, .body.model, .headers["anthropic-version"]]')" '0 ["/v1/messages","c-1","2023-06-01"]' \
	"a row on Anthropic's wire, without a key"
complete --provider native
is "$code $(asked '[.path, .body.model]')" '0 ["/api/chat","first"]' "a row on Ollama's wire"
complete --provider new
is "$code $(asked '[.path, .body.store]')" '0 ["/v1/responses",false]' 'a row on the Responses wire'
LAB_KEY=k-1234567 run models --provider lab
is "$code $(echo $out)" '0 first second' 'the models of a row'
run complete --provider labb q
is "$code" 2 'an unknown name'
like "$err" 'did you mean "lab"' 'the nearest is suggested'

# --- built-in rows, at another address ---

for row in openrouter:OPENROUTER_API_KEY gemini:GEMINI_API_KEY deepseek:DEEPSEEK_API_KEY \
	mistral:MISTRAL_API_KEY groq:GROQ_API_KEY openai:OPENAI_API_KEY; do
	(export "${row#*:}=k-7654321" && complete --provider "${row%:*}" --base-url "$host/x" &&
		echo "$code $out $(asked '[.path, .headers.authorization]')" >result.txt)
	is "$(cat result.txt)" '0 hello ["/x/chat/completions","Bearer k-7654321"]' "${row%:*}"
done
export AZURE_OPENAI_ENDPOINT="$host/" AZURE_OPENAI_API_KEY=k-azure-1
complete --provider azure -m deployed
is "$code $(asked '[.path, .headers["api-key"], .headers.authorization, .body.model]')" \
	'0 ["/openai/v1/chat/completions","k-azure-1",null,"deployed"]' 'Azure, v1'
export OPENAI_API_VERSION=2024-10-21
complete --provider azure-dated -m deployed
is "$code $(asked '[.path, .headers["api-key"]]')" \
	'0 ["/openai/deployments/deployed/chat/completions?api-version=2024-10-21","k-azure-1"]' 'Azure, dated'
complete --provider azure
is "$code" 2 'Azure needs the name of a deployment'
unset AZURE_OPENAI_ENDPOINT
complete --provider azure -m deployed
is "$code" 5 'and an endpoint'
like "$err" 'AZURE_OPENAI_ENDPOINT is not set' 'which it names'
unset AZURE_OPENAI_API_KEY

# --- a key goes to nobody but its owner ---

GROQ_API_KEY=k-7654321 complete --base-url "$host/v1" -m m
is "$code $(asked .headers.authorization)" '0 null' 'a base URL alone gets no key of another provider'
GROQ_API_KEY=k-7654321 OPENAI_API_KEY=k-openai-1 complete --base-url "$host/v1" -m m
is "$code $(asked .headers.authorization)" '0 Bearer k-openai-1' "but OpenAI's, whose language it speaks"

# --- a server of one's own has models of its own ---

rm -f "$config"
for how in OPENAI_BASE_URL flag; do
	if [ $how = flag ]; then
		complete --base-url "$host/v1"
	else
		(export OPENAI_BASE_URL="$host/v1"; complete; echo "$code" >code.txt)
		code=$(cat code.txt) err=$(cat err.txt)
	fi
	is "$code $(asked .body.model)" '0 first' "$how of a local server: the first model that it lists"
	like "$err" 'model first: the first of 2 that 127\.0\.0\.1:[0-9]+ lists; -m NAME takes another' \
		'which is said'
done
complete --base-url "$host/v1" --quiet
is "$code$err" 0 'but not with --quiet'
complete --base-url "$host/v1" -m m
is "$code $(asked .body.model)$err" '0 m' 'one that is named is taken, and nothing said'
printf '[provider openai]\nmodel = mine\n' >"$config"
complete --base-url "$host/v1"
is "$code $(asked .body.model)$err" '0 mine' 'so is one that the configuration names'
rm -f "$config"
OPENAI_API_KEY=k-openai-1 complete --provider openai --base-url "$host/v1"
is "$code $(asked .body.model)" '0 first' 'a named provider at a local address, too'

# --- who would be asked ---

# In a sandbox that is none: to try the walls of one takes a second of the processor.

OPENAI_BASE_URL="http://me:secret@${host#http://}/v1" run doctor --sandbox oci:none --json
is "$(field '.provider | [.name, .model, (.url | endswith("/v1"))] | join(" ")')" 'openai first true' \
	'doctor says provider, model and address'
unlike "$out$err" secret 'without the password in it'
OPENAI_BASE_URL="$host/v1" run doctor --sandbox oci:none
like "$out" '^ok +openai +first at http://127' 'and so for people'
ANTHROPIC_API_KEY=k-anthropic-1 run doctor --sandbox oci:none --json
is "$(field '.provider | [.name, .model] | join(" ")')" 'anthropic claude-sonnet-4-5' 'the one of the key that is set'
done_testing
