#!/bin/sh
# What assay exec does of what is dear, counted: processes, namespaces, programs started.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip_all 'only root can trace a process that cannot be dumped'
strace -f -o /dev/null true 2>/dev/null || skip_all 'no strace here, or it may not trace'
export ASAN_OPTIONS=detect_leaks=0 # it traces, too

echo 'echo 42' >program.sh
run exec program.sh --db log.db # what is found out of bash is kept
calls() { # of that trace, how many
	grep -cE "$1" trace.txt
}
strace -f -o trace.txt -e trace=clone,clone3,unshare,execve,pivot_root,umount2 "$ASSAY" exec program.sh --db log.db >out.txt 2>err.txt
is "$? $(cat out.txt)" '0 42' 'a program runs'
is "$(calls 'execve\("')" 3 'programs: assay, its keeper, bash'
is "$(calls 'CLONE_NEWPID')" 1 'one sandbox, and none for a run that does not follow'
is "$(calls 'unshare\(CLONE_NEWNET')" 1 'and one network'
# Who makes the network begins before the root is built, and the host's is gone before there is a sandbox.
order() { # of that trace
	sed -n 's/.*clone(.*CLONE_FS|.*/launcher/p; s/.* pivot_root(.*/root/p; s/.*umount2("\/\.\.".*/alone/p
		s/.*CLONE_NEWPID.*/sandbox/p' trace.txt
}
is "$(order | tr '\n' ' ')" 'launcher root alone sandbox ' 'it is made while the root is'
run exec program.sh --profile standard --db log.db
is "$code $(cat out.txt)" '0 42' 'where a reader runs first, the program has a sandbox, too'
done_testing
