#!/bin/sh
# A service that quotes what it was sent, or sends it elsewhere: no credential is in what is told or kept, and none
# goes to another place. The services are one server of ours, which knows none of their descriptions (full/remote.t).
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/server.sh"
command -v jq >/dev/null || skip_all 'no jq here'

cat >server.py <<'E2'
import sys
from json_server import Handler, serve
kind, elsewhere = sys.argv[1], sys.argv[2]
class H(Handler):
    def quote(self):
        self.body()
        with open(kind == "elsewhere" and "elsewhere.log" or "asked.log", "a") as f: print(self.path, file=f)
        said = " ".join(f"{k}={v}" for k, v in self.headers.items())
        if kind == "moved":
            return self.answer(307, {}, [("location", elsewhere + self.path + "?" + said.replace(" ", "+"))])
        if kind == "late":
            return self.answer(303, {}, [("location", elsewhere + "/?" + said.replace(" ", "+"))])
        if kind == "refuses": return self.answer(401, {"message": said})
        if kind == "fails": return self.answer(500, [said])
        self.answer(200, {"assay_job": 1, "error": {"kind": "sandbox", "message": said}})
    do_POST = do_GET = do_DELETE = quote
serve(H)
E2
export AZURE_SESSIONS_TOKEN=hush-azure-token AZURE_CONTAINER_KEY=hush-azure-key MODAL_KEY=hush-modal-key \
	MODAL_SECRET=hush-modal-secret ASSAY_SERVE_KEY=hush-serve-key E2B_API_KEY=hush-e2b-key AWS_REGION=eu-central-1 \
	AWS_ACCESS_KEY_ID=hush-aws-id AWS_SECRET_ACCESS_KEY=hush-aws-secret AWS_SESSION_TOKEN=hush-aws-token
echo 'print(1)' >p.py
start_server elsewhere none
elsewhere=$host other=$server server=
trap 'stop_server; kill $other; rm -rf "$work"' EXIT
for kind in refuses fails says moved late; do
	stop_server
	start_server "$kind" "$elsewhere"
	export AWS_ENDPOINT_URL_LAMBDA=$host E2B_API_URL=$host E2B_SANDBOX_URL=$host
	: >shown.txt
	codes=
	for box in azure:$host azure:pool:$host azure:$host/sessionPools/x modal:$host lambda:f e2b http:$host; do
		: >asked.log
		run exec --weaker --sandbox "$box" p.py
		codes="$codes $code$(sed 's,.*,/,' asked.log | head -n 1)"
		cat out.txt err.txt >>shown.txt
	done
	is "$codes" ' 6/ 6/ 6/ 6/ 6/ 6/ 6/' "a service that $kind: each was asked, and none ran anything"
	is "$(grep -c 'hush-[a-z0-9]*-[tks]' shown.txt)" 0 'no credential is told'
	[ "$kind" != refuses ] || like "$(cat shown.txt)" 'Modal-Key=\*\*\*\*' 'what it said is, without'
done
[ ! -e elsewhere.log ]
ok $? 'nothing is asked elsewhere'
"$ASSAY" log list --limit 99 --json >exported.txt
for id in $(jq -r '.[].run' exported.txt); do
	"$ASSAY" log export "$id" >>exported.txt
done
cat "$("$ASSAY" log path)"* >>exported.txt
[ "$(grep -c 'the service answers' exported.txt)" -ge 3 ]
ok $? 'the record has what was answered'
is "$(grep -ac 'hush-[a-z0-9]*-[tks]' exported.txt)" 0 'none is kept'
stop_server
done_testing
