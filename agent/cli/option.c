/*
 * The table of options, and the reading of a command line by it. Values are kept as they were
 * typed; what they mean is settings.c's affair. None is judged here.
 */
#include "agent/cli/option.h"

#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ALL	(~0u)
#define DOORS	(CMD_MCP | CMD_SERVE)
#define LOOP	(CMD_REPL | CMD_ASK | CMD_BATCH | DOORS)
#define FORK	(CMD_REPLAY | CMD_COMPARE)
#define MODEL	(LOOP | CMD_COMPLETE | FORK)
#define SANDBOX (LOOP | CMD_EXEC)

#define FLAG(id_, name_, letter_, cmds, group_, help_) \
	[id_] = { id_, name_, letter_, NULL, NULL, 0, cmds, group_, help_ }
#define VALUE(id_, name_, letter_, arg_, fallback_, cmds, group_, help_) \
	[id_] = { id_, name_, letter_, arg_, fallback_, 0, cmds, group_, help_ }
#define EACH(id_, name_, letter_, arg_, cmds, group_, help_) \
	[id_] = { id_, name_, letter_, arg_, NULL, OPTION_EACH, cmds, group_, help_ }
#define LIST(id_, name_, letter_, arg_, cmds, group_, help_)                                      \
	[id_] = {                                                                                 \
		id_, name_, letter_, arg_, NULL, OPTION_REPEAT | OPTION_CALL, cmds, group_, help_ \
	}
#define ONLY(id_, name_, letter_, arg_, group_, help_) \
	[id_] = { id_, name_, letter_, arg_, NULL, OPTION_NO_CONFIG, ALL, group_, help_ }
#define ONCE(id_, name_, letter_, arg_, fallback_, cmds, group_, help_) \
	[id_] = { id_, name_, letter_, arg_, fallback_, OPTION_CALL, cmds, group_, help_ }

/* Each row at its id, whatever the order here: settings and messages look it up by that. */
const struct option_row option_table[] = {
	ONLY(OPT_HELP, "help", 'h', NULL, "General", "show this help"),
	ONLY(OPT_VERSION, "version", 'V', NULL, "General", "show the version"),
	VALUE(OPT_COLOR, "color", 0, "WHEN", "auto", ALL, "General",
	      "auto, always or never (NO_COLOR is honoured)"),
	FLAG(OPT_QUIET, "quiet", 'q', ALL, "General", "only answers and errors"),
	FLAG(OPT_JSON, "json", 0, ALL, "General", "one JSON document on standard output"),
	VALUE(OPT_DB, "db", 0, "PATH", NULL, ALL, "General",
	      "the file of the audit log (see 'assay log path')"),
	ONLY(OPT_CONFIG, "config", 0, "FILE", "General",
	     "configuration file instead of the user's"),
	VALUE(OPT_USE, "use", 0, "NAME", NULL, ALL, "General",
	      "use [profile NAME] of the configuration"),

	EACH(OPT_MODEL, "model", 'm', "NAME", MODEL | CMD_LOG, "Model",
	     "model to ask (log: only runs that asked it; 'claude-*' is every such one; compare: "
	     "once "
	     "for each)"),
	EACH(OPT_PROVIDER, "provider", 0, "NAME", MODEL | CMD_MODELS, "Model",
	     "openai, anthropic, ollama, openrouter, groq, ...; command or script; or [provider "
	     "NAME]"),
	EACH(OPT_MODEL_COMMAND, "model-command", 0, "CMD", MODEL, "Model",
	     "any program as the model"),
	EACH(OPT_BASE_URL, "base-url", 0, "URL", MODEL | CMD_MODELS, "Model",
	     "address of the server, as the official SDKs take it"),
	VALUE(OPT_CA_FILE, "ca-file", 0, "FILE", NULL, MODEL | CMD_MODELS | CMD_DOCTOR, "Model",
	      "certificate authorities to trust, as PEM (also SSL_CERT_FILE)"),
	EACH(OPT_SCRIPT, "script", 0, "FILE", MODEL, "Model",
	     "scripted model for tests and demos (JSONL)"),
	VALUE(OPT_FAST, "fast", 0, NULL, NULL, LOOP, "Model",
	      "one model call a question: there is no judge, and the level is what the checks "
	      "prove"),
	VALUE(OPT_CAREFUL, "careful", 0, NULL, NULL, LOOP, "Model",
	      "a model call for each role: plan, program, answer, judge (usually two calls do "
	      "all)"),
	LIST(OPT_ROLE_MODEL, "role-model", 0, "ROLE=MODEL", MODEL, "Model",
	     "another model for " OPTION_ROLES "; 'off' drops plan, judge or answer"),
	LIST(OPT_OPTION, "option", 'o', "KEY=VALUE", MODEL, "Model",
	     "a parameter for the model, as temperature=0"),
	VALUE(OPT_RETRIES, "retries", 0, "N", "2", MODEL, "Model",
	      "how often a model call that failed is made again"),
	VALUE(OPT_REQUEST_TIMEOUT, "request-timeout", 0, "SECONDS", "600", MODEL, "Model",
	      "limit for one model call, all its tries together"),
	VALUE(OPT_PROMPTS, "prompts", 0, "DIR", NULL, LOOP | FORK, "Model",
	      "prompt files that replace the built-in ones"),
	FLAG(OPT_NO_STREAM, "no-stream", 0, MODEL, "Model", "ask for the reply in one piece"),
	FLAG(OPT_SHOW_REASONING, "show-reasoning", 0, CMD_REPL | CMD_ASK | CMD_COMPLETE, "Model",
	     "show how the model reasons, dimmed, beside the answer"),

	[OPT_CONTINUE] = { OPT_CONTINUE, "continue", 'c', NULL, NULL, OPTION_NO_CONFIG,
			   CMD_ASK | CMD_REPL, "Input",
			   "go on with the last conversation of the log" },
	[OPT_CONTINUE_FROM] = { OPT_CONTINUE_FROM, "continue-from", 0, "RUN", NULL,
				OPTION_NO_CONFIG, CMD_ASK | CMD_REPL, "Input",
				"go on with the conversation that RUN is of, from there" },
	LIST(OPT_FILE, "file", 'f', "PATH", CMD_ASK | CMD_REPL | CMD_EXEC, "Input",
	     "file or folder for the code, read-only under /in and of any size; NAME=PATH names "
	     "it, "
	     "'*.csv' is all that fit, - is standard input"),
	VALUE(OPT_KEEP_INPUTS, "keep-inputs", 0, "BYTES", "1M", LOOP | CMD_EXEC, "Input",
	      "files up to this size are kept whole in the log; of larger ones, and of folders, it "
	      "keeps "
	      "the digest"),
	LIST(OPT_FILES_FROM, "files-from", 0, "DIR", CMD_BATCH, "Input",
	     "a folder that tasks may name files of, beside the task file's own"),
	VALUE(OPT_IMAGES, "images", 0, "WHEN", "auto", LOOP, "Input",
	      "send images among the files to the model: auto (one known to see), always or never"),
	ONCE(OPT_STDIN, "stdin", 0, "FILE", NULL, CMD_ASK | CMD_EXEC, "Input",
	     "standard input of the code (ask: what is piped in, if nothing is named)"),

	ONCE(OPT_EXPECT, "expect", 0, "TEXT", NULL, CMD_ASK, "Checks",
	     "the output must equal TEXT"),
	ONCE(OPT_EXPECT_REGEX, "expect-regex", 0, "RE", NULL, CMD_ASK, "Checks",
	     "the output must match RE"),
	ONCE(OPT_EXPECT_NUMBER, "expect-number", 0, "N[±T]", NULL, CMD_ASK, "Checks",
	     "the last number must be N, within T"),
	LIST(OPT_CHECK, "check", 0, "KIND:ARG", CMD_ASK | CMD_BATCH, "Checks",
	     "a deterministic check; 'assay ask --help' lists the kinds"),
	LIST(OPT_ARTIFACT, "artifact", 0, "GLOB", CMD_ASK, "Checks",
	     "a file that must be written to /out"),
	VALUE(OPT_TESTS, "tests", 0, NULL, NULL, LOOP, "Checks",
	      "have the model write tests, and run them"),
	VALUE(OPT_CROSS_CHECK, "cross-check", 0, NULL, NULL, LOOP, "Checks",
	      "a second, independent program must agree"),
	VALUE(OPT_NO_JUDGE, "no-judge", 0, NULL, NULL, LOOP, "Checks",
	      "do not ask the model for a verdict"),
	VALUE(OPT_REQUIRE, "require", 0, "LEVEL", "judged", LOOP, "Checks",
	      OPTION_LEVELS ": below it the exit code is 1"),

	VALUE(OPT_MAX_ATTEMPTS, "max-attempts", 0, "N", "4", LOOP | FORK, "Budget",
	      "how many programs are tried: the first and its repairs"),
	VALUE(OPT_MAX_CALLS, "max-calls", 0, "N", "20", LOOP | FORK, "Budget",
	      "model calls per question"),
	VALUE(OPT_MAX_TOKENS, "max-tokens", 0, "N", "200000", LOOP | FORK | CMD_COMPLETE, "Budget",
	      "tokens per question, in and out (complete: of the reply)"),
	VALUE(OPT_MAX_COST, "max-cost", 0, "USD", NULL, LOOP | FORK, "Budget",
	      "cost per question; needs prices in the configuration"),
	VALUE(OPT_MAX_EXEC_SECONDS, "max-exec-seconds", 0, "N", "30", LOOP | FORK, "Budget",
	      "execution time per question"),
	VALUE(OPT_DEADLINE, "deadline", 0, "SECONDS", NULL, LOOP | CMD_EXEC | CMD_LOG | FORK,
	      "Budget", "limit for the whole command (batch: for each task)"),

	ONCE(OPT_LANG, "lang", 0, "LANG", NULL, LOOP | CMD_EXEC | CMD_SCREEN | CMD_EXTRACT,
	     "Sandbox", OPTION_LANGUAGES),
	VALUE(OPT_SANDBOX, "sandbox", 0, "NAME", NULL, LOOP | CMD_EXEC | FORK | CMD_DOCTOR,
	      "Sandbox",
	      "what the code runs in: " OPTION_SANDBOXES
	      "; the first of them when none is named (replay: the recorded one)"),
	VALUE(OPT_OCI_RUNTIME, "oci-runtime", 0, "NAME", NULL, LOOP | CMD_EXEC | FORK | CMD_DOCTOR,
	      "Sandbox",
	      "what makes the container of --sandbox " OPTION_WITH(
		      OPTION_TARGET_RUNTIME) ": runc, crun or runsc"),
	VALUE(OPT_IMAGE, "image", 0, "NAME", NULL, LOOP | CMD_EXEC | FORK | CMD_DOCTOR, "Sandbox",
	      "what the container of --sandbox " OPTION_WITH(
		      OPTION_TARGET_IMAGE) " is made of; it is not pulled"),
	FLAG(OPT_WEAKER, "weaker", 0, LOOP | CMD_EXEC | FORK, "Sandbox",
	     "run where the sandbox cannot hold all limits, and record which were not held"),
	VALUE(OPT_PYTHON, "python", 0, "PATH", NULL, SANDBOX | CMD_DOCTOR, "Sandbox",
	      "a Python of your own: an interpreter, a virtual environment, a conda folder"),
	VALUE(OPT_NODE_MODULES, "node-modules", 0, "DIR", NULL, SANDBOX | CMD_DOCTOR, "Sandbox",
	      "modules of your own, for JavaScript"),
	VALUE(OPT_TIMEOUT, "timeout", 0, "SECONDS", "10", SANDBOX, "Sandbox",
	      "wall time of one execution"),
	VALUE(OPT_CPU_SECONDS, "cpu-seconds", 0, "SECONDS", "10", SANDBOX, "Sandbox",
	      "CPU time of one execution"),
	VALUE(OPT_MEMORY, "memory", 0, "BYTES", "512M", SANDBOX, "Sandbox",
	      "memory of the whole process tree"),
	VALUE(OPT_DISK, "disk", 0, "BYTES", "64M", SANDBOX, "Sandbox",
	      "how much it may write, in all"),
	VALUE(OPT_PIDS, "pids", 0, "N", "64", SANDBOX, "Sandbox",
	      "how many processes and threads it may have"),
	VALUE(OPT_OUTPUT_BYTES, "output-bytes", 0, "BYTES", "1M", SANDBOX, "Sandbox",
	      "how much is kept of stdout, and of stderr"),
	VALUE(OPT_WARM, "warm", 0, "N", "2", LOOP | CMD_EXEC, "Sandbox",
	      "how many interpreters wait in the sandbox for the next program, or how many "
	      "containers "
	      "and machines stay between two; 0: none, and each program has a parser of its own "
	      "(exec: with --socket, to use those that wait at a server)"),
	VALUE(OPT_STATES, "states", 0, "N", "8", LOOP | CMD_EXEC, "Sandbox",
	      "how many states of a context are kept in memory, the last ones; 0: each is made "
	      "again by "
	      "running the earlier programs"),
	VALUE(OPT_PROFILE, "profile", 0, "NAME", "standard", LOOP | CMD_SCREEN | CMD_EXEC,
	      "Sandbox",
	      "screening: strict, standard, restricted (Python alone, as RestrictedPython would "
	      "compile it) or off (exec: off unless given here)"),
	VALUE(OPT_RULES, "rules", 0, "FILE", NULL, LOOP | CMD_SCREEN | CMD_EXEC | FORK, "Sandbox",
	      "screening rules of your own, beside the built-in ones"),
	VALUE(OPT_APPROVE, "approve", 0, "WHEN", "auto", LOOP | CMD_EXEC, "Sandbox",
	      "ask (before every run), auto (when screening wants a yes), or never (what wants one "
	      "is denied)"),
	[OPT_ALLOW] = { OPT_ALLOW, "allow", 0, "RULE", NULL, OPTION_REPEAT,
			LOOP | CMD_SCREEN | CMD_EXEC | CMD_REPLAY, "Sandbox",
			"approve beforehand what this screening rule wants confirmed (py.os.probe, "
			"'py.path.*'), or a call of this tool (tool.NAME); what is denied stays "
			"denied" },
	FLAG(OPT_TOOLS, "tools", 0, LOOP | CMD_EXEC | CMD_REPLAY, "Sandbox",
	     "programs may call what [tool NAME] and [server NAME] of the configuration name "
	     "(replay: with --from end, a run that waits for a yes goes on)"),
	LIST(OPT_ENV, "env", 0, "NAME=VALUE", CMD_EXEC, "Sandbox", "a variable for the code"),
	ONCE(OPT_CONTEXT, "context", 0, "NAME", NULL, CMD_EXEC, "Sandbox",
	     "go on in the context NAME: every FILE's cells (# %%, a notebook), in order"),
	ONCE(OPT_FRESH, "fresh", 0, NULL, NULL, CMD_REPL | CMD_EXEC, "Sandbox",
	     "each program starts from nothing, without the state of earlier ones (exec: the first "
	     "cell does)"),
	ONCE(OPT_RAW, "raw", 0, NULL, NULL, CMD_EXEC, "Sandbox",
	     "print the output byte for byte (on a terminal control characters are made visible)"),
	ONCE(OPT_PROPAGATE, "propagate", 0, NULL, NULL, CMD_EXEC, "Sandbox",
	     "exit with the code's own exit code"),

	LIST(OPT_TAG, "tag", 0, "T", (LOOP & ~DOORS) | CMD_LOG | CMD_REPLAY, "Log",
	     "tag the run (log list, replay: only runs with it)"),
	ONCE(OPT_OUT, "out", 0, "PATH", NULL, (LOOP & ~DOORS) | CMD_EXEC, "Log",
	     "where artifacts go (default assay-out/RUN/); batch: the results file"),
	[OPT_REDACT] = { OPT_REDACT, "redact", 0, "RE", NULL, OPTION_REPEAT, MODEL | CMD_EXEC,
			 "Log",
			 "what matches RE (or its first group) is a secret; adds to those of the "
			 "configuration" },

	LIST(OPT_MAP, "map", 0, "KEY=COLUMN,...", CMD_BATCH, "Batch",
	     "names of keys in the task file, as prompt=question,expect=answer: KEY is called "
	     "COLUMN "
	     "there"),
	VALUE(OPT_JOBS, "jobs", 'j', "N", "1", CMD_BATCH | FORK, "Batch", "how many work at once"),
	ONCE(OPT_RESUME, "resume", 0, NULL, NULL, CMD_BATCH, "Batch",
	     "go on with --out: what has a result of the same task, model and settings keeps it"),
	ONCE(OPT_RETRY_FAILED, "retry-failed", 0, NULL, NULL, CMD_BATCH, "Batch",
	     "run again what did not succeed"),
	ONCE(OPT_LIMIT, "limit", 0, "N", NULL, CMD_BATCH | CMD_LOG, "Batch",
	     "at most N tasks (log list: rows)"),
	ONCE(OPT_ONLY, "only", 0, "GLOB", NULL, CMD_BATCH, "Batch", "only tasks whose id matches"),
	ONCE(OPT_REPEATS, "repeat", 0, "K", NULL, CMD_BATCH | CMD_COMPARE, "Batch",
	     "run each task K times; the summary has pass@k, pass^k and their intervals (compare: "
	     "each model)"),
	ONCE(OPT_VOTE, "vote", 0, NULL, NULL, CMD_BATCH, "Batch",
	     "and the answer that most of a task's runs give, with --repeat"),
	ONCE(OPT_RESCORE, "rescore", 0, "RESULTS", NULL, CMD_BATCH, "Batch",
	     "check and judge the runs of these results again, from the log, without asking the "
	     "coder; with FILE by what its tasks expect now"),
	ONCE(OPT_SHARD, "shard", 0, "I/N", NULL, CMD_BATCH, "Batch",
	     "the I-th of N parts of the tasks, with a log, results and a manifest of its own, "
	     "and gone on with when run again; auto: as Slurm, Kubernetes, AWS Batch or GitLab "
	     "says"),
	ONCE(OPT_SAMPLE, "sample", 0, "N", NULL, CMD_BATCH, "Batch",
	     "only N tasks drawn by --seed, the same ones each time"),
	ONCE(OPT_SEED, "seed", 0, "S", "0", CMD_BATCH, "Batch",
	     "any text; another text draws other tasks"),
	ONCE(OPT_MAX_ERRORS, "max-errors", 0, "N", NULL, CMD_BATCH, "Batch",
	     "stop after N tasks without success"),
	ONCE(OPT_FAIL_FAST, "fail-fast", 0, NULL, NULL, CMD_BATCH, "Batch",
	     "stop after the first task without success"),
	VALUE(OPT_TOTAL_TOKENS, "total-tokens", 0, "N", NULL, CMD_BATCH | CMD_COMPARE, "Batch",
	      "tokens of the whole batch (compare: of all forks), in and out, all workers "
	      "together, with what the results that --resume finds used"),
	VALUE(OPT_TOTAL_COST, "total-cost", 0, "USD", NULL, CMD_BATCH | CMD_COMPARE, "Batch",
	      "cost of the whole, counted likewise; needs prices in the configuration"),
	VALUE(OPT_TOTAL_TIME, "total-time", 0, "SECONDS", NULL, CMD_BATCH, "Batch",
	      "time of this command; what runs then is cut short, and --resume runs it again"),
	ONCE(OPT_JUNIT, "junit", 0, "FILE", NULL, CMD_BATCH | CMD_REPLAY, "Batch",
	     "JUnit XML report"),
	ONCE(OPT_CSV, "csv", 0, "FILE", NULL, CMD_BATCH, "Batch", "the results as a table, too"),
	ONCE(OPT_EVENTS, "events", 0, "FILE", NULL, CMD_BATCH, "Batch",
	     "what happens, as JSON lines as it happens; - is standard output"),
	VALUE(OPT_RPM, "rpm", 0, "N", NULL, CMD_BATCH, "Batch",
	      "model requests per minute, all workers together"),
	VALUE(OPT_TPM, "tpm", 0, "N", NULL, CMD_BATCH, "Batch",
	      "model tokens per minute, all workers together"),

	ONCE(OPT_TIER, "tier", 0, "TIER", "exec", CMD_REPLAY, "Replay",
	     "what happens again: view (nothing, the record is shown), pipeline (all but the "
	     "code), "
	     "exec (the code runs, too), model (and the model is asked)"),
	ONCE(OPT_FROM, "from", 0, "STAGE", NULL, FORK, "Replay",
	     "go on live from this stage, or from the end of the record: a fork (compare: code, "
	     "if none is named)"),
	ONCE(OPT_CODE, "code", 0, "FILE", NULL, CMD_REPLAY, "Replay",
	     "with --from code or repair: this program instead of the model's"),
	ONCE(OPT_TODAY, "today", 0, NULL, NULL, FORK, "Replay",
	     "prompts and built-in rules as they are here, not as they are recorded"),
	{ OPT_STEP, "step", 0, NULL, NULL, OPTION_NO_CONFIG, CMD_REPLAY, "Replay",
	  "stop after each stage, show it, and ask at the terminal whether to go on" },
	ONCE(OPT_ALL, "all", 0, NULL, NULL, CMD_REPLAY, "Replay",
	     "every run; or those of --tag, --since, --status"),
	ONCE(OPT_LAST_DIVERGED, "last-diverged", 0, NULL, NULL, CMD_REPLAY, "Replay",
	     "the run whose replay diverged last"),

	ONCE(OPT_STATUS, "status", 0, "STATUS", NULL, CMD_LOG | CMD_REPLAY, "Log",
	     "only runs with this status"),
	ONCE(OPT_LEVEL, "level", 0, "LEVEL", NULL, CMD_LOG, "Log", "only runs of this level"),
	ONCE(OPT_COST_ABOVE, "cost-above", 0, "USD", NULL, CMD_LOG, "Log",
	     "only runs that cost more"),
	ONCE(OPT_BY, "by", 0, "WHAT", NULL, CMD_LOG, "Log",
	     "stats by model, day, tag, status, level or kind"),
	ONCE(OPT_SINCE, "since", 0, "TIME", NULL, CMD_LOG | CMD_REPLAY, "Log",
	     "only runs since 30m, 12h, 7d or YYYY-MM-DD (prune: older ones go)"),
	ONCE(OPT_STAGE, "stage", 0, "NAME", NULL, CMD_LOG, "Log",
	     "log show: all of one stage (code, execute, ...), or of one attempt of it (repair:2)"),

	[OPT_HTML] = { OPT_HTML, "html", 0, NULL, NULL, OPTION_NO_CONFIG, CMD_LOG, "Log",
		       "log export: one run as a page that needs nothing else" },
	[OPT_BUNDLE] = { OPT_BUNDLE, "bundle", 0, NULL, NULL, OPTION_NO_CONFIG, CMD_LOG, "Log",
			 "log export: the runs as a log of their own, which log import takes" },
	[OPT_OTEL] = { OPT_OTEL, "otel", 0, NULL, NULL, OPTION_NO_CONFIG, CMD_LOG, "Log",
		       "log export: traces for OpenTelemetry (OTLP JSON, a run a line), without "
		       "contents" },
	[OPT_INTO] = { OPT_INTO, "into", 0, "PATH", NULL, OPTION_NO_CONFIG, CMD_LOG, "Log",
		       "log merge: the log that gets the runs" },
	[OPT_KEEP_BOTH] = { OPT_KEEP_BOTH, "keep-both", 0, NULL, NULL, OPTION_NO_CONFIG, CMD_LOG,
			    "Log", "log merge: take a task's two different results" },
	[OPT_OUTPUT] = { OPT_OUTPUT, "output", 'o', "FILE", NULL, OPTION_NO_CONFIG, CMD_LOG, "Log",
			 "log export: into FILE instead of standard output" },
	VALUE(OPT_KEEP_DAYS, "keep-days", 0, "N", NULL, CMD_LOG, "Log", "log prune: older runs go"),
	VALUE(OPT_KEEP_BYTES, "keep-bytes", 0, "BYTES", NULL, CMD_LOG, "Log",
	      "log prune: the oldest go, until what is kept has no more contents"),
	VALUE(OPT_KEEP_FAILED, "keep-failed", 0, NULL, NULL, CMD_LOG, "Log",
	      "log prune: what did not succeed stays, whatever its age and size"),
	[OPT_DRY_RUN] = { OPT_DRY_RUN, "dry-run", 0, NULL, NULL, OPTION_NO_CONFIG, CMD_LOG, "Log",
			  "log rm and prune: say what would go, and remove nothing" },
	[OPT_KEEP_REPLAYS] = { OPT_KEEP_REPLAYS, "keep-replays", 0, NULL, NULL, OPTION_NO_CONFIG,
			       CMD_LOG, "Log", "log rm: the replays of a run stay" },
	[OPT_WITH_REPLAYS] = { OPT_WITH_REPLAYS, "with-replays", 0, NULL, NULL, OPTION_NO_CONFIG,
			       CMD_LOG, "Log", "log rm: they go with it, as they do by default" },
	[OPT_HEAD] = { OPT_HEAD, "head", 0, "FILE", NULL, OPTION_NO_CONFIG, CMD_LOG, "Log",
		       "log verify: compare with the head kept in FILE, and keep today's there" },

	ONCE(OPT_SECCOMP, "seccomp", 0, NULL, NULL, CMD_DOCTOR, "Doctor",
	     "print the system call filter"),

	VALUE(OPT_PARALLEL, "parallel", 0, "N", NULL, DOORS, "Service",
	      "programs and questions worked on at once; as many as processors and memory bear, up "
	      "to 8, if nothing is said"),
	[OPT_PRINT_CONFIG] = { OPT_PRINT_CONFIG, "print-config", 0, "CLIENT", NULL,
			       OPTION_NO_CONFIG, CMD_MCP, "Service",
			       "print what to paste for claude, claude-desktop, codex, cursor, "
			       "gemini, vscode or zed, and end" },
	ONCE(OPT_LISTEN, "listen", 0, "ADDRESS:PORT", NULL, CMD_SERVE, "Service",
	     "where to listen, in numbers (default 127.0.0.1:8317; port 0 is any that is free)"),
	ONCE(OPT_SOCKET, "socket", 0, "PATH", NULL, CMD_REPL | CMD_SERVE | CMD_EXEC, "Service",
	     "listen on a socket of yours alone, where no key is asked for (a conversation: for "
	     "`assay exec` only); exec: run in what waits at your `assay serve` or conversation "
	     "there, or here when there is none"),
	VALUE(OPT_KEY_FILE, "key-file", 0, "FILE", NULL, CMD_SERVE, "Service",
	      "the keys, a line each: NAME KEY (default ~/.config/assay/serve-keys, made at the "
	      "first start)"),
	LIST(OPT_HOST, "host", 0, "NAME", CMD_SERVE, "Service",
	     "another name of the server, which Host and Origin may have beside localhost"),
	VALUE(OPT_TLS_CERT, "tls-cert", 0, "FILE", NULL, CMD_SERVE, "Service",
	      "serve TLS with this certificate, as PEM"),
	VALUE(OPT_TLS_KEY, "tls-key", 0, "FILE", NULL, CMD_SERVE, "Service",
	      "and its private key, as PEM"),
	VALUE(OPT_CONTEXTS, "contexts", 0, "N", NULL, DOORS, "Service",
	      "how many contexts may be open at once; one key has at most half of them (default "
	      "128)"),
	VALUE(OPT_CONTEXT_IDLE, "context-idle", 0, "SECONDS", NULL, DOORS, "Service",
	      "a context is closed when nobody used it for so long (default 1800)"),
	VALUE(OPT_CONTEXT_LIFE, "context-life", 0, "SECONDS", NULL, DOORS, "Service",
	      "and every one after so long (default 86400)"),
};
_Static_assert(ARRAY_SIZE(option_table) == OPT_COUNT, "one row per option_id, in order");

/* --- nearest word --- */

/* Levenshtein distance, for short words. */
static size_t distance(const char *a, const char *b)
{
	size_t row[64], n = strlen(b);

	if (strlen(a) >= ARRAY_SIZE(row) || n >= ARRAY_SIZE(row))
		return SIZE_MAX;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			size_t best = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			best = row[j] + 1 < best ? row[j] + 1 : best;
			best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
			row[j] = best;
		}
	}
	return row[n];
}

const char *option_nearest(const char *word, const char *const *list, size_t count)
{
	size_t best = SIZE_MAX;
	const char *nearest = NULL;

	for (size_t i = 0; i < count; i++) {
		size_t d = distance(word, list[i]);
		if (d < best) {
			best = d;
			nearest = list[i];
		}
	}
	return best <= 1 + strlen(word) / 3 ? nearest : NULL;
}

/* --- parsing --- */

/* After an argument it may be one, too: of a program that exec runs, a number of a question. */
static const char *or_argument(const struct options *o)
{
	return o->arg_count ? "; an argument that begins with - stands behind --" : "";
}

static int unknown(const struct options *o, const char *name, enum command_bit command,
		   struct error *err)
{
	const char *names[OPT_COUNT];
	size_t n = 0;

	for (size_t i = 0; i < OPT_COUNT; i++)
		if (option_table[i].commands & command)
			names[n++] = option_table[i].name;
	const char *nearest = option_nearest(name, names, n);
	if (nearest)
		return error_set(err, ERR_USAGE, "unknown option --%s; did you mean --%s?%s", name,
				 nearest, or_argument(o));
	return error_set(err, ERR_USAGE, "unknown option --%s; --help lists the options%s", name,
			 or_argument(o));
}

static void add(struct option_values *v, const char *value)
{
	v->values = mem_array(v->values, v->count + 1, sizeof(*v->values));
	v->values[v->count++] = value;
}

static const struct option_row *find_name(const char *name, size_t len, enum command_bit command)
{
	for (size_t i = 0; i < OPT_COUNT; i++)
		if (option_table[i].commands & command && strlen(option_table[i].name) == len &&
		    !memcmp(option_table[i].name, name, len))
			return &option_table[i];
	return NULL;
}

static const struct option_row *find_letter(char letter, enum command_bit command)
{
	for (size_t i = 0; i < OPT_COUNT; i++)
		if (option_table[i].letter == letter && option_table[i].commands & command)
			return &option_table[i];
	return NULL;
}

/* value is NULL when the word itself held none; *at then moves to the next word. */
static int take(struct options *o, const struct option_row *row, const char *value, int argc,
		char **argv, int *at, struct error *err)
{
	struct option_values *given = &o->given[row->id];

	if (!row->arg) {
		if (value)
			return error_set(err, ERR_USAGE, "--%s takes no value", row->name);
		value = "true";
	} else if (!value) {
		if (*at + 1 >= argc)
			return error_set(err, ERR_USAGE, "--%s needs a value: --%s %s", row->name,
					 row->name, row->arg);
		value = argv[++*at];
	}
	if (given->count && !(row->flags & (OPTION_REPEAT | OPTION_EACH)))
		given->values[0] = value; /* the last one counts */
	else
		add(given, value);
	return 0;
}

static int take_long(struct options *o, int argc, char **argv, int *at, enum command_bit command,
		     struct error *err)
{
	const char *name = argv[*at] + 2, *equals = strchr(name, '=');
	size_t len = equals ? (size_t)(equals - name) : strlen(name);
	const struct option_row *row = find_name(name, len, command);

	if (!row) {
		cleanup_free char *copy = mem_strndup(name, len);
		return unknown(o, copy, command, err);
	}
	return take(o, row, equals ? equals + 1 : NULL, argc, argv, at, err);
}

static int take_short(struct options *o, int argc, char **argv, int *at, enum command_bit command,
		      struct error *err)
{
	const char *letters = argv[*at] + 1;

	for (; *letters; letters++) {
		const struct option_row *row = find_letter(*letters, command);
		if (!row)
			return error_set(err, ERR_USAGE,
					 "unknown option -%c; --help lists the options%s", *letters,
					 or_argument(o));
		if (row->arg)
			return take(o, row, letters[1] ? letters + 1 : NULL, argc, argv, at, err);
		if (take(o, row, NULL, argc, argv, at, err) < 0)
			return -1;
	}
	return 0;
}

int options_parse(struct options *ret, int argc, char **argv, enum command_bit command,
		  struct error *err)
{
	struct options o = { .arg_count = 0 };
	bool only_args = false;
	int rc = 0;

	for (int i = 0; i < argc && !rc; i++) {
		if (only_args || argv[i][0] != '-' || !argv[i][1]) {
			o.args = mem_array(o.args, o.arg_count + 1, sizeof(*o.args));
			o.args[o.arg_count++] = argv[i];
		} else if (!strcmp(argv[i], "--")) {
			only_args = true;
		} else if (argv[i][1] == '-') {
			rc = take_long(&o, argc, argv, &i, command, err);
		} else {
			rc = take_short(&o, argc, argv, &i, command, err);
		}
	}
	if (rc < 0) {
		options_release(&o);
		return -1;
	}
	*ret = o;
	return 0;
}

void options_release(struct options *o)
{
	for (size_t i = 0; i < OPT_COUNT; i++)
		free(o->given[i].values);
	free(o->args);
	*o = (struct options){ .arg_count = 0 };
}
