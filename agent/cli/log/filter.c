/*
 * Which runs a command of the log is about: --status, --level, --model, --tag, --cost-above and
 * --since, read once for all of them. What is misspelt is refused, since it would only ever find
 * nothing. --model counts from the command line alone: elsewhere it says whom to ask.
 */
#include "agent/cli/log/log.h"

#include "agent/status.h"
#include "base/clock.h"
#include "verifier/check/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOG_DAY_MS   ((int64_t)86400000)
#define USD_MAX	     1e9
#define MICRO_OF_USD 1e6
#define STATUS_OPEN  "started" /* what the log calls a run that has not ended */

/* --- --since --- */

static int parse_ago(const char *text, int64_t *ret_ms)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || !(value >= 0) || value > 1e6)
		return -1;
	if (!strcmp(end, "d"))
		*ret_ms = (int64_t)(value * (double)LOG_DAY_MS);
	else if (!strcmp(end, "w"))
		*ret_ms = (int64_t)(value * 7 * (double)LOG_DAY_MS);
	else
		return *end ? settings_parse_ms(text, ret_ms) : -1;
	return 0;
}

int log_since(const struct settings *settings, int64_t *ret_wall_ms, struct error *err)
{
	const char *text = settings_text(settings, OPT_SINCE, NULL);
	struct tm day = { .tm_isdst = -1 };

	*ret_wall_ms = 0;
	if (!text)
		return 0;
	const char *end = strptime(text, "%Y-%m-%d", &day);
	if (end && !*end) {
		*ret_wall_ms = (int64_t)mktime(&day) * 1000;
		return 0;
	}
	int64_t ago_ms;
	if (parse_ago(text, &ago_ms) < 0)
		return error_set(err, ERR_USAGE,
				 "--since \"%.60s\": 30m, 12h, 7d or YYYY-MM-DD expected", text);
	*ret_wall_ms = clock_wall_ms() - ago_ms;
	return 0;
}

/* --- what must be spelt right --- */

static int read_status(const char *status, const char **ret, struct error *err)
{
	cleanup_buf struct buf names = BUF_INIT(1 << 10);
	bool open = status && !strcmp(status, LOG_UNFINISHED);

	*ret = open ? STATUS_OPEN : status;
	if (!status || open || run_status_parse(status) >= 0)
		return 0;
	for (int i = 0; i < RUN_STATUS_COUNT; i++)
		buf_addf(&names, "%s, ", run_status_name((enum run_status)i));
	return error_set(err, ERR_USAGE, "--status \"%.60s\": %s" LOG_UNFINISHED, status,
			 names.data);
}

static int check_level(const char *level, struct error *err)
{
	if (!level || level_parse(level) >= 0)
		return 0;
	cleanup_buf struct buf names = BUF_INIT(1 << 10);
	level_list(&names, ", ", " or ");
	return error_set(err, ERR_USAGE, "--level \"%.60s\": %s", level, names.data);
}

static int read_cost(const char *text, struct log_filter *f, struct error *err)
{
	if (!text)
		return 0;
	char *end;
	double usd = strtod(text, &end);
	if (end == text || *end || !(usd >= 0) || usd > USD_MAX)
		return error_set(err, ERR_USAGE, "--cost-above \"%.60s\": an amount in dollars",
				 text);
	f->cost_micro_usd = llround(usd * MICRO_OF_USD);
	f->filter.cost_above_micro_usd = &f->cost_micro_usd;
	return 0;
}

int log_filter_read(const struct settings *settings, struct log_filter *ret, struct error *err)
{
	const struct option_values *model = &settings->flags->given[OPT_MODEL];
	struct audit_filter *f = &ret->filter;

	*ret = (struct log_filter){ 0 };
	f->tag = settings_text(settings, OPT_TAG, NULL);
	f->level = settings_text(settings, OPT_LEVEL, NULL);
	f->model = model->count ? model->values[model->count - 1] : NULL;
	if (read_status(settings_text(settings, OPT_STATUS, NULL), &f->status, err) < 0 ||
	    check_level(f->level, err) < 0)
		return -1;
	return read_cost(settings_text(settings, OPT_COST_ABOVE, NULL), ret, err);
}
