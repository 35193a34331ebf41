"""The little HTTP servers of the tests: a Handler that answers JSON, on a free port, which is printed."""
import http.server, json

class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *a): pass
    def body(self): return self.rfile.read(int(self.headers.get("content-length", 0))).decode()
    def answer(self, status, value, headers=()):
        b = json.dumps(value).encode()
        self.send_response(status); self.send_header("content-type", "application/json")
        for k, v in headers: self.send_header(k, v)
        self.send_header("content-length", str(len(b))); self.end_headers()
        try: self.wfile.write(b)
        except OSError: pass

def serve(handler):
    s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    print(s.server_address[1], flush=True)
    s.serve_forever()
