#include "agent/command.h"

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
	{ CMD_BATCH, "batch", "FILE", "run a file of tasks (JSONL, CSV, or one prompt per line)",
	  "Every line is a question of its own. With --out, one JSON line per task is written as "
	  "it ends; --resume goes on where an earlier batch stopped.",
	  "assay batch tasks.jsonl --out results.jsonl -j 2", cmd_batch },
	{ CMD_REPLAY, "replay", "RUN", "run a recorded run again and name the first difference",
	  "RUN is an id, at least 4 characters of its beginning or end, last, or last~N. Below "
	  "tier model no network call can happen.",
	  "assay replay last", cmd_replay },
	{ CMD_LOG, "log", "list|show|search|stats|export|diff|verify|rm|prune|backup|path [ARG...]",
	  "look into the audit log, and keep it",
	  "list                 runs, newest first (--limit, --status, --since, --tag)\n"
	  "show [RUN]           what happened in a run, stage by stage (default: last)\n"
	  "search WORDS...      ended runs whose question, answer, code or output has the words\n"
	  "stats                counts, sizes, tokens, cost\n"
	  "export [RUN...]      events and contents as JSON, one run per line (default: all)\n"
	  "diff RUN RUN         how two runs differ\n"
	  "verify [RUN...]      check the chain of events and every hash (default: all)\n"
	  "rm RUN...            remove runs and their bytes\n"
	  "prune --since TIME   remove runs older than TIME\n"
	  "backup FILE          a consistent copy\n"
	  "path                 where the log is\n"
	  "RUN is an id, at least 4 characters of its beginning or end, last, or last~N.",
	  "assay log show last", cmd_log },
	{ CMD_EXEC, "exec", "FILE|- [ARG...]", "run code in the sandbox, without a model",
	  "The language is --lang's, or told by the file's extension, or by its first line (#!). "
	  "The "
	  "code finds files given by -f under /in and leaves artifacts in /out; they are saved to "
	  "--out DIR (default assay-out/RUN/). No network.\n"
	  "The exit code is 0 when the code ended with 0, else 1, and 6 when the sandbox could not "
	  "be set up; with --propagate it is the code's own.",
	  "assay exec --timeout 2 -f data.csv script.py", cmd_exec },
	{ CMD_EXTRACT, "extract", "FILE|-", "find the code in a model's reply",
	  "Prints the block that would run, byte by byte. --json lists every block. The exit code "
	  "is 1 when there is none that would.",
	  "assay extract reply.md", cmd_extract },
	{ CMD_SCREEN, "screen", "FILE|-", "screen code without running it",
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
