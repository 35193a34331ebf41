# A server for the tests, beside lib.sh: the test's own server.py, written over json_server.py.
python=$(command -v /usr/bin/python3 || command -v python3)
server=
trap 'stop_server; rm -rf "$work"' EXIT
start_server() { # arguments of server.py; $host is where it listens
	rm -f port.txt
	PYTHONPATH=$top/tests/integration "$python" -B server.py "$@" >port.txt 2>server.err &
	server=$!
	until_true [ -s port.txt ]
	host=http://127.0.0.1:$(cat port.txt)
}
stop_server() {
	[ -n "$server" ] || return 0
	kill "$server" 2>/dev/null
	wait "$server" 2>/dev/null
	server=
}
