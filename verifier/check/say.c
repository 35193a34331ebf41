/*
 * Reading an output and saying what was there. What is shown of it is cut and in quotes; the
 * canonical form is the one in which outputs are compared everywhere.
 */
#include "verifier/check/kind.h"

#include "base/mem.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

#define SHOWN_MAX 200

/* --- saying what was there --- */

/* Text in quotes, cut, on one line, for a sentence. */
void check_say_bytes(struct buf *why, const char *s, size_t len)
{
	cleanup_buf struct buf clean = BUF_INIT(SHOWN_MAX * 4 + 16);
	size_t n = len > SHOWN_MAX ? SHOWN_MAX : len;

	utf8_repair(&clean, s, n);
	buf_addch(why, '"');
	for (size_t i = 0; i < clean.len; i++)
		if (clean.data[i] == '\n')
			buf_addstr(why, "\\n");
		else if (!clean.data[i]) /* would end the sentence */
			buf_addstr(why, "\\0");
		else
			buf_addch(why, clean.data[i]);
	buf_addstr(why, len > SHOWN_MAX ? "…\"" : "\"");
}

void check_say_json(struct buf *why, const struct json *value)
{
	cleanup_free char *text = json_print(value);
	size_t len = strlen(text);

	buf_addf(why, "%.*s%s", SHOWN_MAX, text, len > SHOWN_MAX ? "…" : "");
}

enum verdict check_verdict(bool holds)
{
	return holds ? VERDICT_PASS : VERDICT_FAIL;
}

const char *check_output(const struct sandbox_result *result)
{
	return result->out.bytes ? result->out.bytes : "";
}

/* What equal texts have in common: NFC, no blanks at line ends, no empty lines
 * at the end, \n as line ending. */
void check_canonical_text(struct buf *out, const char *s, size_t len)
{
	cleanup_buf struct buf nfc = BUF_INIT(BUF_MAX_DEFAULT);

	utf8_normalise(&nfc, s, len);
	size_t end;
	for (size_t start = 0; start < nfc.len; start = end + 1) {
		const char *nl = memchr(nfc.data + start, '\n', nfc.len - start);
		end = nl ? (size_t)(nl - nfc.data) : nfc.len;
		size_t stop = end;
		while (stop > start && strchr(" \t\r", nfc.data[stop - 1]) && nfc.data[stop - 1])
			stop--;
		buf_add(out, nfc.data + start, stop - start);
		buf_addch(out, '\n');
	}
	for (end = out->len; end && out->data[end - 1] == '\n'; end--)
		;
	buf_truncate(out, end);
}

/* Lines of output, without empty ones at the end. */
char **check_split_lines(const struct sandbox_result *r, char **ret_text, size_t *ret_count)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_MAX_DEFAULT);

	check_canonical_text(&text, check_output(r), r->out.len);
	*ret_text = buf_take(&text, NULL);
	char **lines = NULL;
	char *line;
	size_t count = 0;
	for (char *rest = *ret_text; **ret_text && (line = strsep(&rest, "\n")); count++) {
		if ((count & (count - 1)) == 0)
			lines = mem_array(lines, count ? count * 2 : 1, sizeof(*lines));
		lines[count] = line;
	}
	*ret_count = count;
	return lines;
}
