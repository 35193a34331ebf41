/*
 * JSON to text. cJSON's own printer drops the last digits of a double
 * (2^53 - 1 comes out as 9.00719925474099e+15) and a log must give back what
 * was put in. No value is changed by it.
 */
#include "base/json_node.h"

#include "base/json.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void escape(struct buf *out, unsigned char c)
{
	static const char letters[][2] = {
		{ '"', '"' },  { '\\', '\\' }, { '\b', 'b' }, { '\f', 'f' },
		{ '\n', 'n' }, { '\r', 'r' },  { '\t', 't' },
	};

	for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++) {
		if (c == letters[i][0]) {
			buf_addch(out, '\\');
			buf_addch(out, letters[i][1]);
			return;
		}
	}
	buf_addf(out, "\\u%04x", c);
}

void json_print_string(struct buf *out, const char *bytes, size_t len)
{
	buf_addch(out, '"');
	size_t start = 0;
	for (size_t at = 0; at < len; at++) {
		unsigned char c = (unsigned char)bytes[at];

		if (c >= 0x20 && c != '"' && c != '\\')
			continue;
		buf_add(out, bytes + start, at - start);
		escape(out, c);
		start = at + 1;
	}
	buf_add(out, bytes + start, len - start);
	buf_addch(out, '"');
}

/* Whole numbers in full, others with the fewest digits that read back as the same double: beyond
 * what is exact never as digits alone, which would be read as a whole number, not as a double. */
void json_print_number(struct buf *out, const struct json *value)
{
	double number = json_number(value, 0);

	if (json_raw(value)) {
		buf_addstr(out, json_raw(value));
		return;
	}
	if (number == trunc(number) && fabs(number) <= (double)JSON_EXACT_MAX) {
		buf_addf(out, "%.0f", number);
		return;
	}
	char text[40];
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, number);
		if (!text[strcspn(text, ".e")])
			snprintf(text, sizeof(text), "%.*e", digits - 1, number);
		if (strtod(text, NULL) == number)
			break;
	}
	buf_addstr(out, text);
}

static void print_value(struct buf *out, const struct json *value);

static void print_members(struct buf *out, const struct json *value, bool object)
{
	for (const struct json *child = json_first(value); child; child = json_next(child)) {
		if (child != json_first(value))
			buf_addch(out, ',');
		if (object) {
			json_print_string(out, json_key(child), strlen(json_key(child)));
			buf_addch(out, ':');
		}
		print_value(out, child);
	}
}

static void print_value(struct buf *out, const struct json *value)
{
	const char *text = json_raw(value) ? json_raw(value) : json_string(value);

	switch (json_type(value)) {
	case JSON_NULL:
		buf_addstr(out, "null");
		break;
	case JSON_BOOL:
		buf_addstr(out, json_bool(value, false) ? "true" : "false");
		break;
	case JSON_NUMBER:
		json_print_number(out, value);
		break;
	case JSON_STRING:
		if (json_raw(value))
			buf_addstr(out, text);
		else
			json_print_string(out, text, strlen(text));
		break;
	case JSON_ARRAY:
		buf_addch(out, '[');
		print_members(out, value, false);
		buf_addch(out, ']');
		break;
	case JSON_OBJECT:
		buf_addch(out, '{');
		print_members(out, value, true);
		buf_addch(out, '}');
		break;
	}
}

char *json_print(const struct json *value)
{
	struct buf out = BUF_INIT(SIZE_MAX / 2);

	print_value(&out, value);
	return buf_take(&out, NULL);
}
