/*
 * The help of each subcommand of assay log: what it does, and which of the options of assay log it
 * heeds. How a page looks is agent/cli/help's; no option is described here.
 */
#include "agent/cli/command.h"

#define RUN_IS                                                                              \
	"RUN is an id, at least 4 characters of its beginning or end, last, or last~N (of " \
	"those that are no replays)."
/* Which runs. */
#define CHOOSING OPT_STATUS, OPT_TAG, OPT_LEVEL, OPT_MODEL, OPT_COST_ABOVE, OPT_SINCE

const struct command_topic log_topics[] = {
	{ "list",
	  "",
	  "runs, newest first",
	  "A row has the end of the run's id, when it began, how it ended, and its question. With "
	  "110 columns and more it has kind, level and time taken; with 150, the model and the "
	  "cost, and of a batch the task's id.",
	  "assay log list --status failed --since 7d",
	  { CHOOSING, OPT_LIMIT, OPT_DEADLINE } },
	{ "show",
	  "[RUN]",
	  "what happened in a run, stage by stage",
	  "Without RUN of the last. " RUN_IS,
	  "assay log show last --stage execute",
	  { OPT_STAGE, OPT_DEADLINE } },
	{ "search",
	  "WORDS...",
	  "runs that have the words, and where",
	  "The question, the answer, the output and every program of runs that ended. \"a phrase\" "
	  "in quotes, beginn* for beginnings; all words must be there.",
	  "assay log search 'median price'",
	  { CHOOSING, OPT_LIMIT, OPT_DEADLINE } },
	{ "contexts",
	  "",
	  "names of the contexts of exec, the last used first",
	  "Of the newest 2000 programs.",
	  "assay log contexts",
	  { OPT_DEADLINE } },
	{ "stats",
	  "",
	  "counts, sizes, rates, times, tokens and cost",
	  "Replays are counted, but their recorded tokens are not. Rates and times are of the "
	  "newest 2000 runs, unless options choose which.",
	  "assay log stats --by model --since 30d",
	  { OPT_BY, CHOOSING, OPT_DEADLINE } },
	{ "export",
	  "[RUN...]",
	  "runs as JSON, a page, traces or a bundle",
	  "JSON has the events of a run and their contents, one run a line; without RUN of all "
	  "that "
	  "the options choose. --html takes one RUN (without, the last), --bundle needs "
	  "-o. " RUN_IS,
	  "assay log export --html last -o run.html",
	  { OPT_HTML, OPT_BUNDLE, OPT_OTEL, OPT_OUTPUT, CHOOSING, OPT_DEADLINE } },
	{ "import",
	  "FILE",
	  "runs of a bundle into the log",
	  "Each is verified before any is written; one that is there already is left as it is, and "
	  "another run with the same id is refused.",
	  "assay log import runs.bundle",
	  { OPT_DEADLINE } },
	{ "merge",
	  "LOG... --into LOG",
	  "the logs of a batch's shards into one",
	  "It can be said again. Two different results of a task are refused (--keep-both takes "
	  "them), and a shard that is missing is named.",
	  "assay log merge shard-*.db --into all.db",
	  { OPT_INTO, OPT_KEEP_BOTH, OPT_DEADLINE } },
	{ "diff",
	  "RUN RUN",
	  "how two runs differ",
	  "Stage by stage. The exit code is 1 when they do. " RUN_IS,
	  "assay log diff last~1 last",
	  { OPT_DEADLINE } },
	{ "verify",
	  "[RUN...]",
	  "check the chain of events and every hash",
	  "Without RUN of all runs, and that none is missing. A head that is kept elsewhere says "
	  "later whether the log still has all that it had, of runs without an end, too. " RUN_IS,
	  "assay log verify --head log.head",
	  { OPT_HEAD, OPT_DEADLINE } },
	{ "save",
	  "RUN",
	  "the program of a turn, standing alone, and proven",
	  "Of the programs of its conversation those that it needs, as one (-o FILE; .ipynb and "
	  ".md "
	  "have their own form). It is run from nothing, and the exit code is 1 when it does not "
	  "print the same. " RUN_IS,
	  "assay log save last -o sales.py",
	  { OPT_OUTPUT, OPT_DEADLINE } },
	{ "rm",
	  "RUN...",
	  "remove runs",
	  "With all their bytes and their replays, and the files that assay itself saved below "
	  "assay-out/RUN here or where --out said, as long as they are as they were recorded; what "
	  "was changed stays, and is named. " RUN_IS,
	  "assay log rm last --dry-run",
	  { OPT_DRY_RUN, OPT_KEEP_REPLAYS, OPT_WITH_REPLAYS, OPT_DEADLINE } },
	{ "prune",
	  "",
	  "remove what need not be kept",
	  "What to keep belongs into the configuration (keep-days, keep-bytes, keep-failed); "
	  "nothing but this applies it. --since TIME removes what is older than TIME instead, of "
	  "what the other options choose.",
	  "assay log prune --keep-days 90 --keep-failed --dry-run",
	  { OPT_KEEP_DAYS, OPT_KEEP_BYTES, OPT_KEEP_FAILED, CHOOSING, OPT_DRY_RUN, OPT_DEADLINE } },
	{ "reindex",
	  "",
	  "make the full-text index anew",
	  "When it is damaged, which verify and search say.",
	  "assay log reindex",
	  { OPT_DEADLINE } },
	{ "backup",
	  "FILE",
	  "a consistent copy of the log",
	  "While others write to it.",
	  "assay log backup log-copy.db",
	  { OPT_DEADLINE } },
	{ "path", "", "where the log is", NULL, "assay log path", { OPT_HELP } },
	{ .name = NULL },
};
