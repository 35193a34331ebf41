#!/bin/sh
# log export --otel: traces that a collector takes, with the published names, and nothing that was said.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"

used='{"usage":{"input_tokens":1000,"cached_tokens":400,"output_tokens":100,"reasoning_tokens":7}}'
forget
say plan "$(plan)" "$used"
say code "$(program 'raise KeyError("amanita")')" "$used"
say repair "$(program 'print("amanita")')" "$used"
say judge "$(verdict pass)" "$used"
say answer 'Amanita.' "$used"
run ask --script s.jsonl -m gpt-x 'Which amanita?'
is "$code" 0 'a run with a repair'
run replay last
replay=$("$ASSAY" log list --json | jq -r '.[] | select(.replay_of).run')
run log export --otel last "$replay"
is "$code $(wc -l <out.txt)" '0 2' 'one request a line'

spans='.resourceSpans[0].scopeSpans[0].spans'
# Attributes as an object, so that they can be asked for.
flat='def flat: (.attributes | map({(.key): (.value | to_entries[0].value)}) | add);'
head -n 1 out.txt >trace.json
is "$(jq -c '[.resourceSpans[0].resource.attributes[].key]' trace.json)" '["service.name","service.version"]' 'of a service'
is "$(jq -r "[$spans[].name] | join(\",\")" trace.json)" \
	'invoke_agent assay,task,chat gpt-x,plan,chat gpt-x,extract,screen,execute_tool python,chat gpt-x,extract,screen,execute_tool python,chat gpt-x,chat gpt-x,verify' \
	'a span for the run, each call, execution and stage'
is "$(jq -c "[$spans[] | .traceId | test(\"^[0-9a-f]{32}\$\")] | unique" trace.json)" '[true]' 'ids of traces'
is "$(jq -c "[$spans[] | .spanId | test(\"^[0-9a-f]{16}\$\")] | unique" trace.json)" '[true]' 'ids of spans'
is "$(jq -c "[$spans[].spanId] | length == (unique | length)" trace.json)" true 'all different'
is "$(jq -c "$spans[0].spanId as \$root | [$spans[1:][] | .parentSpanId == \$root] | unique" trace.json)" '[true]' 'below the run'
is "$(jq -c "[$spans[] | (.startTimeUnixNano | test(\"^[0-9]{19}\$\")) and .startTimeUnixNano <= .endTimeUnixNano] | unique" trace.json)" '[true]' \
	'times are nanoseconds, as strings'
is "$(jq -c "$flat [$spans[] | select(.kind == 3) | flat] | .[0] | [.\"gen_ai.operation.name\", .\"gen_ai.provider.name\", .\"gen_ai.request.model\",
	.\"gen_ai.usage.input_tokens\", .\"gen_ai.usage.output_tokens\", .\"gen_ai.usage.cache_read.input_tokens\", .\"gen_ai.usage.reasoning.output_tokens\",
	.\"gen_ai.response.finish_reasons\".values[0].stringValue]" trace.json)" '["chat","script","gpt-x","1000","100","400","7","stop"]' 'a call'
is "$(jq -c "$flat [$spans[] | select(.name == \"execute_tool python\") | [.status.code, (flat | .\"error.type\", .\"assay.exit_code\")]]" trace.json)" \
	'[[2,"exception","1"],[null,null,"0"]]' 'an execution that failed, and one that did not'
is "$(jq -c "$flat $spans[0] | flat | [.\"assay.status\", .\"gen_ai.usage.input_tokens\"]" trace.json)" '["success","5000"]' 'the run'

# The names, as open-telemetry/semantic-conventions has them (docs/gen-ai, docs/registry/attributes).
cat >published.txt <<'P'
error.type
gen_ai.agent.name
gen_ai.conversation.id
gen_ai.operation.name
gen_ai.provider.name
gen_ai.request.max_tokens
gen_ai.request.model
gen_ai.response.finish_reasons
gen_ai.response.model
gen_ai.tool.name
gen_ai.tool.type
gen_ai.usage.cache_read.input_tokens
gen_ai.usage.input_tokens
gen_ai.usage.output_tokens
gen_ai.usage.reasoning.output_tokens
P
is "$(jq -r "$spans[].attributes[].key" out.txt | sort -u | grep -v '^assay\.' | grep -vxFf published.txt)" '' 'no name but published ones, and our own'
is "$(grep -c amanita out.txt)" 0 'nothing that was asked, written or printed'
is "$(jq -sc "(.[0] | [$spans[0] | .traceId, .spanId]) == (.[1] | [$spans[0].links[0] | .traceId, .spanId])" out.txt)" true 'a replay links to what it replays'
run log export --otel --html last
is "$code" 2 'one form at a time'
done_testing
