#!/usr/bin/python3
# An interpreter of another language that was started ahead does what a cold one does: bash, Perl and
# JavaScript, with programs that print what they can see of it, those of the corpora, hostile ones and those of
# tests/escape.
import os
import sys
sys.dont_write_bytecode = True
import corpus
import starts
import tap
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "warm"))
import attempts

WAYS = ("cold", "waiting")
SEEN = {
    "bash": [
        'set -o; shopt', 'echo "$-" "$0" "$#" "$@" "$?" "$$" "$PPID" "$BASHPID"', 'env | sort; export -p',
        'trap; jobs; alias', 'pwd; echo "$OLDPWD" ~', 'ls -l /proc/self/fd | cut -c1-11,40- | wc -l', 'ulimit -a',
        'umask; id; tty', 'cat; echo read', 'echo "${BASH_SOURCE[@]}" "$LINENO" "${FUNCNAME[@]}"', 'type cd; hash',
        'sort <<<b; cat <(echo c)', 'f() { return 3; }; f; echo $?; exit 7', 'echo to stderr >&2; false', 'kill -9 $$',
        'no-such-command', 'if then', 'exec 5<&0; echo ${PIPESTATUS[@]}', 'set -e; false; echo not here',
        'sleep 0.1 & wait; echo $?', 'ls /work /tmp /out', 'cat "$0"', 'grep "Sig[BIC]" /proc/$$/status', 'cat /proc/$$/cmdline',
    ],
    "perl": [
        'print join(",", map { "$_=$ENV{$_}" } sort keys %ENV)', 'print "$0 @ARGV $] $^X $^O $$ ", getppid',
        'print join(",", sort keys %INC), "@INC"', 'print join(",", map { "$_=" . ($SIG{$_} // "") } sort keys %SIG)',
        'print <STDIN>; print "read\\n"', 'warn "here"; die "there"', 'exit 7', 'kill 9, $$', 'use strict; $x = 1;',
        'print (((', 'use POSIX; print join(",", POSIX::uname(), getcwd())', 'print sprintf("%vd", $^V), umask, "$<$>$(",',
        'use Data::Dumper; $Data::Dumper::Sortkeys = 1; print Dumper({a => [1, 2]})', 'print -t STDIN ? 1 : 0, fileno(STDOUT)',
        'open F, "<", $0; print <F>', 'open F, "<", "/proc/self/cmdline"; print <F>', 'print __FILE__, __LINE__, (caller)[0]',
        'opendir D, "/proc/self/fd"; print scalar(grep { !/^\\./ } readdir D)', 'print sort { $a <=> $b } 3, 1, 2; print $a',
        'print <DATA>;\n__DATA__\nbelow\n', 'open F, "<", "/proc/self/status"; print grep { /^Sig/ } <F>',
    ],
    "javascript": [
        'console.log(process.argv, process.execArgv, process.cwd(), process.title)', 'console.log(process.env)',
        'console.log(__filename, __dirname, module.id, require.main === module)', 'console.log(Object.keys(globalThis))',
        'console.log(process.version, process.versions.v8, process.platform, process.pid, process.ppid)',
        'process.stdin.on("data", d => console.log(String(d))).on("end", () => console.log("end"))',
        'console.error("e"); throw new Error("there")', 'process.exit(7)', 'process.kill(process.pid, 9)', 'let let = 1',
        'Promise.reject(new Error("lost"))', 'console.log(new Error("x").stack)', 'console.log(Object.keys(require.cache))',
        'console.log(process.listenerCount("exit"), process.eventNames())', 'console.log(require("fs").readdirSync("/work"))',
        'setTimeout(() => console.log("late"), 20); console.log("soon")', 'console.log(process.umask(), process.getuid())',
        'console.log(require("fs").readFileSync("/proc/self/cmdline", "utf8"))', 'console.log(module.paths, process.features)',
        'console.log(require("fs").readFileSync(__filename, "utf8"))', 'require("no-such")', 'console.log(process.config)',
    ],
}


def rows_of(name, language):
    return [(r["id"], r["code"]) for r in corpus.load(name) if r["lang"] == language]


def javascript():
    return [(r["task_id"], "%s%s\n%s" % (r["prompt"], r["canonical_solution"], r["test"]))
            for r in corpus.load("humaneval-js.jsonl")]


def body():
    starts.available()
    for name in ("humaneval-js.jsonl", "benign.jsonl", "hostile.jsonl"):
        corpus.load(name)  # before anything is tested: without it all is skipped
    for language, programs in SEEN.items():
        starts.same("what %s sees" % language, [(p, p) for p in programs], (), WAYS, 0.8, language=language)
    starts.same("humaneval-js", javascript(), (), WAYS, language="javascript")
    for language in ("bash", "javascript"):
        starts.same("benign " + language, rows_of("benign.jsonl", language), (), WAYS, 0.5, language=language)
        starts.same("hostile " + language, rows_of("hostile.jsonl", language), (), WAYS, 0.5, wall_ms=1000,
                    language=language)
    with attempts.alone():
        for language, ending in (("bash", ".sh"), ("javascript", ".js")):
            starts.same("tests/escape " + language, attempts.programs(ending), attempts.VARIES, WAYS, 0.5,
                        language=language)


tap.main(body)
