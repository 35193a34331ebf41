#!/bin/sh
# The workers of a batch share one view of the server's limits.
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/server.sh"

cat >server.py <<'E2'
# Takes WIDTH requests at once and refuses the others with 429; keeps when each came.
import sys, threading, time
from json_server import Handler, serve
width, hold, retry_ms = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
lock, now = threading.Lock(), [0]
class H(Handler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        self.body()
        with lock:
            full = now[0] >= width
            now[0] += not full
            with open("seen.log", "a") as f: f.write(f"{time.monotonic():.3f} {429 if full else 200} {now[0]}\n")
        if full: return self.answer(429, {"error": {"message": "slow down"}}, [("retry-after-ms", retry_ms)])
        time.sleep(hold)  # what an answer of this server takes
        with lock: now[0] -= 1
        self.answer(200, {"choices": [{"message": {"content": "```python\nprint(1)\n```"}, "finish_reason": "stop"}],
                          "usage": {"prompt_tokens": 1000, "completion_tokens": 200}})
serve(H)
E2
serve() { # width hold_s retry_ms
	stop_server
	rm -f seen.log
	start_server "$@"
	base=$host/v1
}
tasks() { # count
	i=0
	while [ "$i" -lt "$1" ]; do
		i=$((i + 1))
		echo "{\"id\":\"t$i\",\"prompt\":\"one\",\"lang\":\"python\",\"expect\":{\"equals\":\"1\"}}"
	done >tasks.jsonl
}
batch() {
	rm -f results.jsonl
	run batch tasks.jsonl --out results.jsonl --provider openai --base-url "$base" -m m --json "$@"
}
# Whether they all came in less than half of the time that so many ms between two of them take: a
# machine that is slow makes it longer, and one request late by half of it all.
early() { # ms
	awk -v each="$1" 'NR == 1 { first = $1 } { last = $1 } END { print (last - first) * 1000 < (NR - 1) * each / 2 ? "early" : "kept" }' seen.log
}
between() { # value low high name
	ok "$([ "$1" -ge "$2" ] && [ "$1" -le "$3" ]; echo $?)" "$4 ($1, wanted $2 to $3)"
}

# --- a server that takes two at a time, and eight workers ---

serve 2 0.1 150
tasks 40
batch -j 8 --retries 8
is "$code $(field .success)" '0 40' 'every task succeeds on a server for two'
refused=$(grep -c ' 429 ' seen.log)
between "$refused" 1 80 'refused requests'
between "$(awk '$2 == 200 && $3 == 2' seen.log | wc -l)" 3 120 'the server was kept busy'
# The herd: how often more than half of the workers were refused one after the other, once they
# could have learned from it.
herd=$(awk '$2 == 200 { done++; refused = 0 } $2 == 429 && done > 8 && ++refused == 5 { n++ } END { print n + 0 }' seen.log)
between "$herd" 0 2 'workers do not come back together'
between "$(awk '$2 == 200 { done++ } $2 == 429 && done > 20 { n++ } END { print n + 0 }' seen.log)" 0 30 \
	'and fewer are refused than served when the limit is known'

# --- limits of one's own ---

serve 100 0 100
tasks 12
batch -j 4 --rpm 300
is "$code $(field .success)" '0 12' '--rpm 300: all done'
is "$(early 200)" kept 'twelve requests at five a second take their time'
rm -f seen.log
batch -j 4 --tpm 144000
is "$code $(field .success)" '0 12' '--tpm 144000: all done'
is "$(early 500)" kept 'and so do requests of 1200 tokens at 2400 a second'
batch -j 4 --rpm 0
is "$code" 2 '--rpm 0 is refused'
is "$(grep -vc ' 200 ' seen.log)" 0 'and nothing was refused by the server'
done_testing
