/*
 * The table of commands, a row each: help, man page, completions and the words of the program
 * follow from it. No function stands here.
 */
#include "agent/cli/command.h"

#include <stddef.h>

const struct command command_table[] = {
	{ CMD_REPL, "", "", "a conversation: questions, programs, answers, in the terminal",
	  "Without a command and with a terminal, assay holds a conversation. /help there lists "
	  "what can be typed besides questions.",
	  "assay -f sales.csv", cmd_repl },
	{ CMD_ASK, "ask", "[PROMPT...|-]", "answer one question by writing and running code",
	  "The model writes a program, the sandbox runs it, the output is checked, and the answer "
	  "goes to standard output. PROMPT is the arguments joined by blanks, or standard input "
	  "(\"-\", or no argument and no terminal).\n"
	  "An answer carries its level: none < ran < judged < checked < expected. Below --require "
	  "the exit code is 1.",
	  "assay ask -f sales.csv --expect-number 1200 'What is the total of column amount?'",
	  cmd_ask },
	{ CMD_BATCH, "batch", "[FILE|-]",
	  "run a file of tasks (JSONL, CSV, or one prompt per line)",
	  "Every line is a question of its own: JSON lines or a JSON list, CSV or the same with "
	  "tabs, or one prompt per line, told by the file's name or else by how it begins. A task "
	  "has a prompt and, where wanted, id, lang, files, stdin, tests, expect, checks, limits "
	  "and tags; other keys are kept. expect is the output as a text, its last number as a "
	  "number, or an object of checks; expected, as datasets have it, is the same, but that a "
	  "number in it may be written as a text. With --out, one JSON line per task is written as "
	  "it ends; --resume goes on where an earlier batch stopped, and runs again what was asked "
	  "otherwise (another task, model or settings). On a terminal, without --out, there is a "
	  "table in the end.",
	  "assay batch tasks.jsonl --out results.jsonl -j 2", cmd_batch },
	{ CMD_REPLAY, "replay", "[RUN]", "run a recorded run again and name the first difference",
	  "RUN is an id, at least 4 characters of its beginning or end, last, or last~N (of those "
	  "that are no replays). Below tier model no network call can happen.\n"
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
	  "The "
	  "code finds files and folders given by -f under /in, whatever their size, and leaves "
	  "artifacts in /out; they are saved to "
	  "--out DIR (default assay-out/RUN/). No network.\n"
	  "The code is screened only when --profile is given here: what is denied, or wants a yes "
	  "that nobody gives, is not run, and the exit code is 7.\n"
	  "With --context NAME all arguments are files, and their cells (parted by lines that "
	  "begin "
	  "with # %%, or of a notebook, .ipynb) run in order, each where the one before it ended, "
	  "in "
	  "this call or an earlier one: names, imports and /work are there, and what is in /out "
	  "has "
	  "moved to /work. A cell that fails leaves nothing, and those after it do not run. "
	  "Python, "
	  "JavaScript and bash.\n"
	  "With --warm N --socket PATH it runs in an interpreter that waits at your own "
	  "`assay serve --socket PATH` (N is above 0; how many wait is said there), with the same "
	  "record here. The socket must be yours, 0600, and so must who listens. When nobody does, "
	  "a "
	  "line says so and it runs here; when the server goes while it may be running, it is not "
	  "run again: exit code 6. Program and files are 16 MiB at most as a request.\n"
	  "With --tools a program in Python (import assay) or JavaScript (require('./assay.js')) "
	  "may "
	  "call what [tool NAME] and [server NAME] of the configuration name: "
	  "assay.call('NAME', {...}). "
	  "A call that wants a yes, which nobody is there to give, ends the run (7); assay replay "
	  "RUN "
	  "--from end --tools goes on there.\n"
	  "The exit code is 0 when the code ended with 0, else 1, and 6 when the sandbox could not "
	  "be set up; with --propagate it is the code's own.",
	  "assay exec --timeout 2 -f data.csv script.py", cmd_exec },
	{ CMD_EXTRACT, "extract", "FILE|-", "find the code in a model's reply",
	  "Prints the block that would run, byte by byte. --json lists every block. The exit code "
	  "is 1 when there is none that would.",
	  "assay extract reply.md", cmd_extract },
	{ CMD_SCREEN, "screen", "FILE|-", "screen code without running it",
	  "The rules find what a program should not need; --profile strict allows Python only what "
	  "is on a list, which lines \"allow NAME\" of --rules make longer. Both are advice: what "
	  "holds a program that gets past them are the walls of the sandbox.\n"
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
	  "and answer_question where a model is configured.\n"
	  "Programs are screened by --profile, limited by the options of the sandbox, of which a "
	  "call may only have less, and recorded in the log. What a rule wants confirmed is asked "
	  "through the client where it can ask a person, and denied elsewhere, unless --allow "
	  "approved it.\n"
	  "--print-config CLIENT prints what to paste into a client's configuration.",
	  "assay mcp --print-config claude", cmd_mcp },
	{ CMD_SERVE, "serve", "", "the same as a service, over HTTP",
	  "POST /execute {code, language?, files?, stdin?, timeout_ms?} runs a program, screened, "
	  "limited and recorded as everywhere, and answers with what exec --json says and the "
	  "artifacts' bytes; POST /run_python is the same. With Accept: text/event-stream its "
	  "stages and output come as events while it runs. GET /runs and /runs/ID are the log's, "
	  "as "
	  "far as the runs are of the key that asks; GET /health and /metrics tell how the service "
	  "does. Clients of Piston (/api/v2/runtimes, /api/v2/execute) and SandboxFusion "
	  "(/run_code) find their own wire, and POST /mcp is the Model Context Protocol.\n"
	  "It listens on 127.0.0.1:8317 and wants a key (X-API-Key, Authorization: Bearer, or "
	  "/key/KEY before the path), which the first start makes, prints once and keeps (0600). "
	  "On "
	  "a --socket of your own no key is asked for. Another address than this machine's needs "
	  "--listen; --host names what the server is called there.\n"
	  "What screening wants confirmed is denied to a key, unless --allow approved it.\n"
	  "As many requests as --parallel says are worked on, some wait, more are refused (429). "
	  "SIGTERM answers what was taken and ends; a second one cancels it.",
	  "assay serve --socket ~/.assay.sock", cmd_serve },
	{ CMD_MODELS, "models", "", "models the provider offers", NULL,
	  "assay models --provider anthropic", cmd_models },
	{ CMD_CONFIG, "config", "[path]", "settings in force and where each comes from",
	  "A flag wins over an ASSAY_* variable, that over [profile NAME] (--use NAME), that over "
	  "the rest of the configuration file, that over the default. \"assay config path\" prints "
	  "where the file is.",
	  "assay config", cmd_config },
	{ CMD_COMPLETION, "completion", "bash|zsh|fish|man",
	  "completions for a shell, or the man page", NULL, "source <(assay completion bash)",
	  cmd_completion },
	{ 0, NULL, NULL, NULL, NULL, NULL, NULL },
};
