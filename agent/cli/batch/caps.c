/*
 * Options of a batch that are numbers, and the caps among them. It spends nothing and counts
 * nothing: pool.c does.
 */
#include "agent/cli/batch/caps.h"

#include <math.h>
#include <stdlib.h>

#define USD_MAX 1e9

int batch_number(const struct settings *s, enum option_id id, size_t *ret, struct error *err)
{
	const char *text = settings_text(s, id, NULL);

	if (!text)
		return 0;
	char *end;
	long value = strtol(text, &end, 10);
	if (end == text || *end || value < 1)
		return error_set(err, ERR_USAGE, "--%s \"%s\": a whole number, 1 or more, expected",
				 option_table[id].name, text);
	*ret = (size_t)value;
	return 0;
}

static int bad_value(enum option_id id, const char *text, const char *wanted, struct error *err)
{
	return error_set(err, ERR_USAGE, "--%s \"%.100s\": %s expected", option_table[id].name,
			 text, wanted);
}

int batch_caps_read(const struct settings *s, struct batch_caps *ret, int64_t *ret_time_ms,
		    struct error *err)
{
	const char *cost = settings_text(s, OPT_TOTAL_COST, NULL);
	const char *time = settings_text(s, OPT_TOTAL_TIME, NULL);

	*ret = (struct batch_caps){ .tokens = -1, .cost_micro_usd = -1 };
	*ret_time_ms = 0;
	size_t tokens = 0;
	if (batch_number(s, OPT_TOTAL_TOKENS, &tokens, err) < 0)
		return -1;
	if (tokens)
		ret->tokens = (int64_t)tokens;
	if (time && (settings_parse_ms(time, ret_time_ms) < 0 || !*ret_time_ms))
		return bad_value(OPT_TOTAL_TIME, time, "a time (10, 90s, 30m, 2h) above zero", err);
	if (cost) {
		char *end;
		double usd = strtod(cost, &end);

		if (end == cost || *end || !(usd >= 0) || usd > USD_MAX)
			return bad_value(OPT_TOTAL_COST, cost, "an amount in dollars", err);
		ret->cost_micro_usd = llround(usd * 1e6);
	}
	return 0;
}

int batch_check_price(const struct settings *s, const char *model, const char *flag,
		      struct error *err)
{
	if (price_of(&s->means.prices, model).known)
		return 0;
	return error_set(err, ERR_CONFIG,
			 "--%s needs the price of %s: put \"%s = INPUT,OUTPUT\" (dollars per "
			 "million tokens) under [prices] in the configuration",
			 flag, model ? model : "the model", model ? model : "MODEL");
}
