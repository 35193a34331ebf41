# What the shell says of a program that is none, which stands in /in/program: it is read under its
# own name, and nothing of it runs. All of this is read before its file is another's.
{
	cat /in/program >/work/main.sh
	exec "$BASH" --norc -n /work/main.sh
}
