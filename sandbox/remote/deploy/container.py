# The container of --sandbox azure:https://ADDRESS: POST /execute with X-API-Key, a job in and its result out, one
# after another; what one leaves is removed, or the container ends. The key is read once and taken out of the
# environment before anything runs:
# In a pool of sessions (--sandbox azure:pool:https://...) each job has a container of its own.
#   docker build -f deploy/Dockerfile.container -t assay-run . , in sandbox/remote; AZURE_CONTAINER_KEY is its secret
import hmac
import json
import os
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

import runner

KEY = os.environ.pop("AZURE_CONTAINER_KEY", "")
BODY_MAX = 64 << 20


class Handler(BaseHTTPRequestHandler):
    timeout = 60

    def say(self, status, document):
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        length = int(self.headers.get("Content-Length") or 0)
        if self.path.partition("?")[0] != "/execute":  # a pool of sessions passes its own words on
            return self.say(404, {"message": "there is only /execute"})
        if not KEY or not hmac.compare_digest(self.headers.get("X-API-Key") or "", KEY):
            return self.say(401, {"message": "a key is needed"})
        if length > BODY_MAX:
            return self.say(413, {"message": "the body is too large"})
        try:
            request = json.loads(self.rfile.read(length))
        except ValueError as e:
            return self.say(400, {"message": str(e)})
        try:
            self.say(200, runner.answer(request))
        finally:  # whether or not anybody waits for it still
            if runner.spoiled:  # another container is started in its place
                self.wfile.flush()
                os._exit(1)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = HTTPServer(("", int(sys.argv[1]) if len(sys.argv) > 1 else 8080), Handler)
    print("listening on %d" % server.server_port, flush=True)
    server.serve_forever()
