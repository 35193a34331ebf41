/*
 * The table of commands, a row each: help, man page, completions and the words of the program
 * follow from it. No function stands here.
 */
#include "agent/cli/command.h"

#include <stddef.h>

const struct command command_table[] = {
	{ CMD_REPL, "", "", "a conversation: questions, programs, answers, in the terminal",
	  "Without a command and with a terminal, assay holds a conversation. Each program starts "
	  "with the variables and files of the last one. /help there lists what can be typed "
	  "besides questions.",
	  "assay -f sales.csv", cmd_repl },
	{ CMD_ASK, "ask", "[PROMPT...|-]", "answer one question by writing and running code",
	  "The model writes a program, the sandbox runs it, the output is checked, and the answer "
	  "goes to standard output. All else goes to standard error. PROMPT is the arguments "
	  "joined by blanks, or standard input "
	  "(\"-\", or no argument and no terminal).\n"
	  "An answer carries its level, which says what was shown of it: none (no code ran), ran "
	  "(a "
	  "program ended well), judged (a model found no fault), checked (checks or tests agreed), "
	  "expected (your own expectation was met). Below --require the exit code is 1.",
	  "assay ask -f sales.csv --expect-number 1200 'What is the total of column amount?'",
	  cmd_ask },
	{ CMD_BATCH, "batch", "[FILE|-]",
	  "run a file of tasks (JSONL, CSV, or one prompt per line)",
	  "FILE is JSON lines, a JSON list, CSV, the same with tabs, or has one prompt per line. "
	  "Its name says which, or else how it begins.\n"
	  "A task has a prompt and, where wanted, id, lang, files, stdin, tests, expect, checks, "
	  "limits and tags. Other keys are kept. expect is a text (the whole output), a number "
	  "(its "
	  "last number) or an object of checks. expected, as datasets have it, is the same, and "
	  "its "
	  "number may be written as a text.\n"
	  "With --out, one JSON line per task is written as the task ends. --resume goes on where "
	  "an earlier batch stopped; it runs again what was asked otherwise (another task, model "
	  "or settings). On a terminal, without --out, a table comes last.",
	  "assay batch tasks.jsonl --out results.jsonl -j 2", cmd_batch },
	{ CMD_REPLAY, "replay", "[RUN]", "run a recorded run again and name the first difference",
	  "RUN is an id, at least 4 characters of its beginning or end, last, or last~N (of those "
	  "that are no replays). Below tier model no network call can happen: a sandbox on "
	  "another machine, as the record may name one, is taken only where --sandbox or "
	  "ASSAY_SANDBOX names it here.\n"
	  "Settings, prompts and rules are those of the record, whatever became of them; "
	  "--prompts, "
	  "--rules and --today take others. What is not as it was is named: interpreters, "
	  "packages, "
	  "walls of the sandbox, rules, prompts, assay itself.\n"
	  "A divergence has a class: environment, input, time, randomness, order, value, status, "
	  "rules, prompt or version; a program that does not do as recorded is run once more to "
	  "see "
	  "whether it varies by itself.\n"
	  "--from STAGE goes on live from there, --from end from where the run ended: with another "
	  "model, --prompts, --code FILE, or with budgets (--max-attempts, ...) raised, which end "
	  "needs "
	  "where the run has ended; what came before is as it was recorded.\n"
	  "--step stops after each stage, shows it and whether it is as recorded, and asks: n (or "
	  "Enter) goes on, c to the end, s shows all the record has of it, q ends the replay, "
	  "which is then recorded as cancelled.\n"
	  "Instead of RUN, --all, --tag, --since and --status take many, -j N at a time, with "
	  "--today to try the prompts and rules of here on them; --last-diverged takes the run "
	  "whose "
	  "replay diverged last.\n"
	  "A log that can only be read is replayed all the same, and the replay recorded nowhere.\n"
	  "The exit code is 8 for a divergence, and 125, which git bisect run skips, where nothing "
	  "can be replayed: no such run, or nothing in the record to run again.",
	  "assay replay last", cmd_replay },
	{ CMD_COMPARE, "compare", "RUN...", "models side by side, from one recorded point",
	  "Each RUN (an id, at least 4 characters of its beginning or end, last, or last~N) goes "
	  "on live from --from STAGE, with each --model and, with --repeat, K times: a fork, as "
	  "replay --from makes, recorded and linked to RUN. Then there is one table: how many "
	  "succeeded, with the interval of 95 %, their levels, and attempts, tokens, cost and "
	  "time of one.\n"
	  "--provider, --base-url, --script and --model-command given once are for all models; "
	  "given as often as --model, each has its own, in their order. A model also repairs, "
	  "judges and answers, but where RUN names one for the role.\n"
	  "What came before the stage is as it was recorded, and so are settings, prompts, rules "
	  "and budgets; --prompts, --rules, --today and the --max-... take others, for each fork. "
	  "-j N forks at a time; --deadline, --total-tokens and --total-cost are for all of them.\n"
	  "The exit code is 9 when a fork did not succeed. One that cannot be made (no key, no "
	  "such stage) ends the comparison with its own; what was made is told.",
	  "assay compare last -m gpt-4.1 -m gpt-4.1-mini --repeat 5", cmd_compare },
	{ CMD_LOG, "log", "list|show|search|stats|export|import|merge|... [ARG...]",
	  "look into the audit log, and keep it",
	  "list                 runs, newest first (--limit, --status, --level, --model, --since,\n"
	  "                     --tag, --cost-above)\n"
	  "show [RUN]           what happened in a run, stage by stage (default: last); with\n"
	  "                     --stage NAME[:ATTEMPT] all that one has in the record\n"
	  "search WORDS...      ended runs whose question, answer, code or output has the words,\n"
	  "                     and where; the same options\n"
	  "contexts             names of the contexts of exec, the last used first\n"
	  "stats                counts, sizes, rates, times, tokens, cost (--by, and list's "
	  "options)\n"
	  "export [RUN...]      events and contents as JSON, one run per line (default: all)\n"
	  "export --html [RUN]  a run as one page (-o FILE)\n"
	  "export --bundle [RUN...] -o FILE\n"
	  "                     the same as a log of their own, for another machine\n"
	  "export --otel [RUN...]\n"
	  "                     traces of runs, as OpenTelemetry has them\n"
	  "import FILE          runs of a bundle, each verified, once\n"
	  "merge LOG... --into LOG\n"
	  "                     the logs of a batch's shards into one\n"
	  "diff RUN RUN         how two runs differ\n"
	  "verify [RUN...]      check the chain of events and every hash; without RUN of all, and\n"
	  "                     that none is missing (--head FILE: since FILE was written)\n"
	  "save RUN -o FILE     the program of a turn with all it needs, run from nothing to prove "
	  "it\n"
	  "rm RUN...            remove runs, their bytes, and their replays (--keep-replays)\n"
	  "prune                remove what --keep-days, --keep-bytes and --keep-failed do not "
	  "keep;\n"
	  "                     they belong into the configuration, and nothing else applies them\n"
	  "prune --since TIME   remove runs older than TIME (rm, prune: --dry-run)\n"
	  "reindex              make the full-text index anew, when it is damaged\n"
	  "backup FILE          a consistent copy\n"
	  "path                 where the log is\n"
	  "RUN is an id, at least 4 characters of its beginning or end, last, or last~N (of those "
	  "that are no replays). assay log NAME --help tells more of each.",
	  "assay log show last", cmd_log, log_topics },
	{ CMD_EXEC, "exec", "FILE|- [ARG...]", "run code in the sandbox, without a model",
	  "The language is --lang's, or told by the file's extension, or by its first line (#!). "
	  "An ARG that begins with - stands behind \"--\", as in: exec FILE -- -v. "
	  "The code finds the files and folders of -f under /in. It has no network. What it leaves "
	  "in /out is saved to --out DIR (default assay-out/RUN/).\n"
	  "The exit code is 0 when the code ended with 0, else 1, and 6 when the sandbox could not "
	  "be set up; with --propagate it is the code's own. The code is screened only when "
	  "--profile is given here: what is denied, or wants a yes that nobody gives, is not run, "
	  "and the exit code is 7.\n"
	  "With --context NAME all arguments are files. Their cells (parted by lines that begin "
	  "with # %%, or of a notebook, .ipynb) run in order. Each starts where the one before it "
	  "ended, in this call or an earlier one: names, imports and /work are there, and what was "
	  "in /out is in /work. A cell that fails leaves nothing, and those after it do not run. "
	  "Python, JavaScript and bash.\n"
	  "In a notebook in Python, lines of the shell (!command, name = !command, %%bash), "
	  "%%writefile, %cd, %env, %time, %ls and their like, name? and await outside of functions "
	  "do what they do there. What would install something, %timeit and every other magic are "
	  "refused by cell and line before any FILE runs; --profile standard refuses lines of the "
	  "shell, too.\n"
	  "With --socket PATH the code runs in an interpreter that waits at your own `assay serve "
	  "--socket PATH`, with the same record here (not with --warm 0). The socket must be "
	  "yours, 0600, and so must who listens. When nobody listens, a line says so and the code "
	  "runs here. When the server goes while the code may be running, it is not run again: "
	  "exit code 6. Program and files are 16 MiB at most as a request.\n"
	  "With --tools a program in Python (import assay) or JavaScript (require('./assay.js')) "
	  "may call what [tool NAME] and [server NAME] of the configuration name: "
	  "assay.call('NAME', {...}). A call that wants a yes, which nobody is there to give, ends "
	  "the run (7); `assay replay RUN --from end --tools` goes on there.",
	  "assay exec --timeout 2 -f data.csv script.py", cmd_exec },
	{ CMD_EXTRACT, "extract", "FILE|-", "find the code in a model's reply",
	  "Prints the block that would run, byte by byte. --json lists every block. The exit code "
	  "is 1 when there is none that would.",
	  "assay extract reply.md", cmd_extract },
	{ CMD_SCREEN, "screen", "FILE|-", "screen code without running it",
	  "The rules find what a program should not need. --profile strict allows Python only what "
	  "is on a list; lines \"allow NAME\" in a file of --rules make that list longer. Both are "
	  "advice: the walls of the sandbox hold a program that gets past them.\n"
	  "Exit code 0 for allow and warn, 7 for confirm and deny.",
	  "assay screen --profile strict script.py", cmd_screen },
	{ CMD_COMPLETE, "complete", "[PROMPT...|-]",
	  "one bare model call, streamed; nothing is run",
	  "PROMPT is the arguments joined by blanks, or standard input (\"-\", or no argument and "
	  "no terminal). --max-tokens limits the reply.",
	  "assay complete 'Name three rivers'", cmd_complete },
	{ CMD_DOCTOR, "doctor", "", "what this host can isolate and limit, proven by trying",
	  "Every layer of isolation is tried from inside the sandbox; interpreters, keys, the log "
	  "and "
	  "the network library are looked at. The exit code is 6 when a layer that runs need is "
	  "missing.",
	  "assay doctor --json", cmd_doctor },
	{ CMD_MCP, "mcp", "", "tools for other agents: the Model Context Protocol over stdio",
	  "Speaks the protocol on standard input and output, both with initialize (up to "
	  "2025-11-25) and without (2026-07-28), until its input ends. Tools: execute_code, "
	  "execute_python, run_python, read_file, screen_code, list_runs, show_run, replay_run, "
	  "context_open, context_close, context_interrupt, context_list and, where a model is "
	  "configured, answer_question.\n"
	  "Programs are screened by --profile, limited by the options of the sandbox, of which a "
	  "call may only have less, and recorded in the log. What a rule wants confirmed is asked "
	  "through the client where it can ask a person, and denied elsewhere, unless --allow "
	  "approved it.\n"
	  "--print-config CLIENT prints what to paste into a client's configuration.",
	  "assay mcp --print-config claude", cmd_mcp },
	{ CMD_SERVE, "serve", "", "a service over HTTP: run code, keep contexts, read runs",
	  "POST /execute {code, language?, files?, stdin?, timeout_ms?} runs a program, which is "
	  "screened, limited and recorded. The answer is what exec --json says, with the "
	  "artifacts' "
	  "bytes. With Accept: text/event-stream, stages and output come as events while it runs. "
	  "POST /run_python is the same.\n"
	  "POST /contexts opens a context; /execute with its id as context goes on in it. GET "
	  "/runs "
	  "and /runs/ID are the log, as far as the runs are the asking key's. GET /health and "
	  "/metrics tell how the service does. Clients of E2B, Piston (/api/v2/runtimes, "
	  "/api/v2/execute) and SandboxFusion (/run_code) find their own wire, and POST /mcp is "
	  "the "
	  "Model Context Protocol.\n"
	  "It listens on 127.0.0.1:8317 and wants a key (X-API-Key, Authorization: Bearer, or "
	  "/key/KEY before the path). The first start makes a key, prints it once and keeps it "
	  "(0600). On a --socket of your own no key is asked for. Another address than this "
	  "machine's needs --listen; --host names what the server is called there.\n"
	  "What screening wants confirmed is denied to a key, unless --allow approved it.\n"
	  "As many requests as --parallel says are worked on, some wait, more are refused (429). "
	  "SIGTERM answers what was taken and ends; a second one cancels it. A server that crashes "
	  "is replaced by another one on the same socket, until five have died within a minute: "
	  "exit code 1. Signals are for the process that was started: under systemd that is "
	  "KillMode=mixed, with Restart=on-failure.",
	  "assay serve --socket ~/.assay.sock", cmd_serve },
	{ CMD_MODELS, "models", "", "models the provider offers",
	  "One name per line, as -m takes it. Asks the provider; a key is needed where it wants "
	  "one.",
	  "assay models --provider anthropic", cmd_models },
	{ CMD_CONFIG, "config", "[path]", "settings in force and where each comes from",
	  "A flag wins over an ASSAY_* variable, that over [profile NAME] (--use NAME), that over "
	  "the rest of the configuration file, that over the default. \"assay config path\" prints "
	  "where the file is.",
	  "assay config", cmd_config },
	{ CMD_COMPLETION, "completion", "bash|zsh|fish|man",
	  "completions for a shell, or the man page",
	  "Prints them on standard output. The page is read by: assay completion man | man -l -",
	  "source <(assay completion bash)", cmd_completion },
	{ 0, NULL, NULL, NULL, NULL, NULL, NULL },
};
