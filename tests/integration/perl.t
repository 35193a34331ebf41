#!/bin/sh
# Perl as a user has it: run, asked for, tested, repaired, screened, told of. What every language
# has of its two rows is seen here for the one that came last (verifier/lang/README.md).
. "$(dirname "$0")/lib.sh"
. "$top/tests/integration/model.sh"
[ -x /usr/bin/perl ] || skip_all "perl is not installed"

cat >x.pl <<'END'
use strict; use warnings;
my @n = map { $_ ** 2 } 1 .. 4;
print "sum ", eval { my $s = 0; $s += $_ for @n; $s }, "\n";
END
run exec x.pl
is "$code $out" "0 sum 30" 'a file that ends in .pl runs'
cp x.pl nameless
sed -i '1i #!/usr/bin/env perl' nameless
run exec nameless
is "$code $out" "0 sum 30" 'so does one whose first line says perl'
printf 'my %%h = map { $_ => 1 } "a" .. "j"; print join("", keys %%h), "\\n";' >order.pl
run exec order.pl
first=$out
run exec order.pl
is "$out" "$first" 'the order of keys is the same in every run'
printf 'use strict;\nuse JSON::PP; use List::Util "sum"; use POSIX "floor"; use Time::Local; use Digest::SHA "sha1_hex";\nprint encode_json([sum(1, 2), floor(2.5), length sha1_hex("")]), "\\n";' >core.pl
run exec core.pl
is "$code $out" '0 [3,2,40]' 'the modules that come with perl are there'
printf 'use strict;\nmy $x = 1;\nprint $y;\n' >bad.pl
run exec --json bad.pl
is "$code $(jq -c '.error | [.class, .line, .message[:20]]' out.txt)" '1 ["syntax",3,"Global symbol \"$y\" r"]' \
	'an error is told by class, line and message'
printf 'while (1) { }' >loop.pl
run exec --json --timeout 1 loop.pl
like "$(jq -r .outcome out.txt)" '^timeout' 'a limit is a limit'
printf 'open my $f, "<", "/etc/shadow" or print "no\\n"; print -e "/root" ? "there" : "gone", "\\n"; print socket(my $s, 2, 1, 0) ? "net" : "no net", "\\n";' >wall.pl
run exec wall.pl
is "$out" 'no
gone
no net' 'the walls are those of every program'

forget; say plan "$(plan "[]" perl)"
say code "$(program 'print 6 * 7, "\n";' perl)"
say judge "$(verdict pass)"
ask --lang perl --role-model answer=off --max-attempts 1 'How much is six times seven?'
is "$code $(shape '.status, .level, .answer')" '0 ["success","judged","42\n"]' 'a question is answered with it'

forget; say plan "$(plan "[]" perl)"
say code "$(program 'sub fact { my $n = shift; return $n < 2 ? 1 : $n * fact($n - 1) } print fact(5), "\n";' perl)"
say tests "$(program 'use Test::More;
is(fact(0), 1);
is(fact(5), 120);
done_testing();' 'perl tests')"
ask --lang perl --role-model answer=off --tests --no-judge --max-attempts 1 'What is 5!?'
is "$code $(shape '.status, .level')" '0 ["success","checked"]' 'tests that the model writes decide'
like "$(jq -r '.checks[] | select(.kind == "tests") | "\(.verdict) \(.detail)"' out.txt)" '^pass 2 assertions passed' \
	'and say what they saw'

forget; say plan "$(plan "[]" perl)"
say code "$(program 'package All; use overload "==" => sub { 1 }, "eq" => sub { 1 }, q("") => sub { 0 };
package main; sub fact { return bless {}, "All" } print "120\n";' perl)"
say tests "$(program 'ok(fact(5) == 120);
ok(fact(3) == 6);' 'perl tests')"
ask --lang perl --role-model answer=off --tests --no-judge --max-attempts 1 'What is 5!?'
is "$(jq -r '.checks[] | select(.kind == "tests") | .verdict' out.txt)" skipped \
	'an answer that equals everything proves nothing'

forget; say plan "$(plan "[]" perl)"
say code "$(program 'use strict; my @n = (1, 2); print "sum: ", $total, "\n";' perl)"
say repair "$(program 'use strict; my @n = (1, 2); my $total = 0; $total += $_ for @n; print "sum: $total\n";' perl)"
ask --lang perl --role-model answer=off --no-judge --max-attempts 2 'What is the sum?'
is "$code $(shape '.status, .answer, .attempts')" '1 ["unverified","sum: 3\n",2]' 'an error is repaired'
run log show --json last
like "$out" 'Global symbol' 'with the message of the interpreter'
run replay --json last
is "$code $(jq -r .same out.txt)" '0 true' 'and is replayed as it was'

printf 'my $c = "id"; print `$c`;' >shell.pl
run screen shell.pl
is "$code" 7 'commands of the shell are refused by the rules'
run screen --profile strict x.pl
is "$code" 0 'and strict lets a program run of which every operation is known'
printf 'use strict; my $f = "/in/a"; $f = reverse "dwssap/cte/"; open my $h, "<", $f; print <$h>;' >path.pl
run screen --profile strict path.pl
is "$code" 7 'but not one whose files are not known'
like "$out$err" 'pl.strict.file' 'and says why'
printf 'BEGIN { print "done\\n"; exit } print 1;' >early.pl
run screen --profile strict early.pl
is "$code" 7 'code that would run while it is read is not read'
run screen x.pl
is "$code" 0 'while standard has nothing against an ordinary program'

forget; say plan "$(plan "[]" perl)"
say code "$(program 'my $n = 6; $n * 7;' perl)"
say judge "$(verdict pass)"
ask --lang perl --role-model answer=off --max-attempts 1 'What?'
is "$code $(shape '.answer, .attempts')" '0 ["42\n",1]' 'the value of the last expression counts as output'
forget; say plan "$(plan "[]" perl)"
say code "$(program 'sub twice { return 2 * shift }
1;' perl)"
say judge "$(verdict pass)"
ask --lang perl --role-model answer=off --max-attempts 1 'What?'
like "$(jq -r .error out.txt)" 'printed nothing' 'but not what ends a module'

run doctor
like "$out$err" 'perl +/usr/bin/perl 5\.' 'doctor tells of it'
run completion bash
like "$out" 'python javascript bash perl' 'completions know it'
run ask --help
like "$out" 'python, javascript, bash or perl' 'and so does the help'
done_testing
