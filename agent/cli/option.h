/*
 * Options: one table. A row is a command-line flag, an ASSAY_* variable, a
 * key of the configuration file, a line of the help, of the man page and of
 * the shell completions, and holds the default.
 */
#ifndef AGENT_OPTION_H
#define AGENT_OPTION_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Commands, as bits: which options each one takes. */
enum command_bit {
	CMD_REPL = 1 << 0,
	CMD_ASK = 1 << 1,
	CMD_BATCH = 1 << 2,
	CMD_REPLAY = 1 << 3,
	CMD_LOG = 1 << 4,
	CMD_EXEC = 1 << 5,
	CMD_EXTRACT = 1 << 6,
	CMD_SCREEN = 1 << 7,
	CMD_COMPLETE = 1 << 8,
	CMD_DOCTOR = 1 << 9,
	CMD_MODELS = 1 << 10,
	CMD_CONFIG = 1 << 11,
	CMD_COMPLETION = 1 << 12,
	CMD_COMPARE = 1 << 13,
	CMD_MCP = 1 << 14,
	CMD_SERVE = 1 << 15,
};

enum option_id {
	OPT_HELP,
	OPT_VERSION,
	OPT_COLOR,
	OPT_QUIET,
	OPT_JSON,
	OPT_DB,
	OPT_CONFIG,
	OPT_USE,
	OPT_MODEL,
	OPT_PROVIDER,
	OPT_MODEL_COMMAND,
	OPT_BASE_URL,
	OPT_CA_FILE,
	OPT_SCRIPT,
	OPT_FAST,
	OPT_CAREFUL,
	OPT_ROLE_MODEL,
	OPT_OPTION,
	OPT_RETRIES,
	OPT_REQUEST_TIMEOUT,
	OPT_PROMPTS,
	OPT_NO_STREAM,
	OPT_SHOW_REASONING,
	OPT_CONTINUE,
	OPT_CONTINUE_FROM,
	OPT_FILE,
	OPT_KEEP_INPUTS,
	OPT_FILES_FROM,
	OPT_IMAGES,
	OPT_STDIN,
	OPT_EXPECT,
	OPT_EXPECT_REGEX,
	OPT_EXPECT_NUMBER,
	OPT_CHECK,
	OPT_ARTIFACT,
	OPT_TESTS,
	OPT_CROSS_CHECK,
	OPT_NO_JUDGE,
	OPT_REQUIRE,
	OPT_MAX_ATTEMPTS,
	OPT_MAX_CALLS,
	OPT_MAX_TOKENS,
	OPT_MAX_COST,
	OPT_MAX_EXEC_SECONDS,
	OPT_DEADLINE,
	OPT_LANG,
	OPT_SANDBOX,
	OPT_OCI_RUNTIME,
	OPT_IMAGE,
	OPT_WEAKER,
	OPT_PYTHON,
	OPT_NODE_MODULES,
	OPT_TIMEOUT,
	OPT_CPU_SECONDS,
	OPT_MEMORY,
	OPT_DISK,
	OPT_PIDS,
	OPT_OUTPUT_BYTES,
	OPT_WARM,
	OPT_STATES,
	OPT_PROFILE,
	OPT_RULES,
	OPT_APPROVE,
	OPT_ALLOW,
	OPT_TOOLS,
	OPT_ENV,
	OPT_CONTEXT,
	OPT_FRESH,
	OPT_RAW,
	OPT_PROPAGATE,
	OPT_TAG,
	OPT_OUT,
	OPT_REDACT,
	OPT_MAP,
	OPT_JOBS,
	OPT_RESUME,
	OPT_RETRY_FAILED,
	OPT_LIMIT,
	OPT_ONLY,
	OPT_REPEATS,
	OPT_VOTE,
	OPT_RESCORE,
	OPT_SHARD,
	OPT_SAMPLE,
	OPT_SEED,
	OPT_MAX_ERRORS,
	OPT_FAIL_FAST,
	OPT_TOTAL_TOKENS,
	OPT_TOTAL_COST,
	OPT_TOTAL_TIME,
	OPT_JUNIT,
	OPT_CSV,
	OPT_EVENTS,
	OPT_RPM,
	OPT_TPM,
	OPT_TIER,
	OPT_FROM,
	OPT_CODE,
	OPT_TODAY,
	OPT_STEP,
	OPT_ALL,
	OPT_LAST_DIVERGED,
	OPT_STATUS,
	OPT_LEVEL,
	OPT_COST_ABOVE,
	OPT_BY,
	OPT_SINCE,
	OPT_STAGE,
	OPT_HTML,
	OPT_BUNDLE,
	OPT_OTEL,
	OPT_INTO,
	OPT_KEEP_BOTH,
	OPT_OUTPUT,
	OPT_KEEP_DAYS,
	OPT_KEEP_BYTES,
	OPT_KEEP_FAILED,
	OPT_DRY_RUN,
	OPT_KEEP_REPLAYS,
	OPT_WITH_REPLAYS,
	OPT_HEAD,
	OPT_SECCOMP,
	OPT_PARALLEL,
	OPT_PRINT_CONFIG,
	OPT_LISTEN,
	OPT_SOCKET,
	OPT_KEY_FILE,
	OPT_HOST,
	OPT_TLS_CERT,
	OPT_TLS_KEY,
	OPT_CONTEXTS,
	OPT_CONTEXT_IDLE,
	OPT_CONTEXT_LIFE,
	OPT_COUNT,
};

enum option_flags {
	OPTION_REPEAT = 1,    /* may be given again; every value counts */
	OPTION_NO_CONFIG = 2, /* only on the command line: it ends the call, or says which file */
	OPTION_CALL = 4,      /* read as given; settings add what is set elsewhere */
	OPTION_EACH = 8,      /* the last one counts, but for a command that takes each */
};

struct option_row {
	enum option_id id;
	const char *name;     /* without "--" */
	char letter;	      /* 0: none */
	const char *arg;      /* "N"; NULL: a switch */
	const char *fallback; /* default as text; NULL: none */
	unsigned flags;
	unsigned commands; /* command_bit mask */
	const char *group; /* heading in the help */
	const char *help;  /* shown by help_option_text */
};

/* In a help, once: the list of the languages, of the roles, of the levels, of the sandboxes. */
#define OPTION_LANGUAGES "LANGUAGES"
#define OPTION_ROLES	 "ROLES"
#define OPTION_LEVELS	 "LEVELS"
#define OPTION_SANDBOXES "SANDBOXES"
/* What stands behind the colon of a sandbox's name, where an option may say it, too; in a help, in
 * angles, the name of that sandbox. */
#define OPTION_TARGET_RUNTIME "RUNTIME"
#define OPTION_TARGET_IMAGE   "IMAGE"
#define OPTION_WITH(target)   "<" target ">"

/* In the order of enum option_id; OPT_COUNT rows. */
extern const struct option_row option_table[];

struct option_values {
	const char **values; /* owned array of borrowed strings */
	size_t count;
};

/* What a command line said. Strings are argv's. */
struct options {
	struct option_values given[OPT_COUNT];
	const char **args; /* positional; owned array */
	size_t arg_count;
};

/*
 * Reads argv after the command word. "--name=value", "--name value", "-n
 * value", "-nvalue"; "--" ends options; "-" alone is positional. Unknown
 * options are ERR_USAGE errors that suggest the nearest one the command has.
 */
int options_parse(struct options *ret, int argc, char **argv, enum command_bit command,
		  struct error *err);
void options_release(struct options *o);

/* The word of list (NULL-terminated through next) nearest to word by edit
 * distance, or NULL when none is near enough to suggest. */
const char *option_nearest(const char *word, const char *const *list, size_t count);

#endif
