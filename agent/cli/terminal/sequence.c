/*
 * Links (OSC 8) and the clipboard (OSC 52). A path is written as an address, in which every byte
 * that is not plain is a number; a text as base64. Where lines cannot be replaced no sequence is
 * known either: text stays text.
 */
#include "agent/cli/terminal/sequence.h"

#include "agent/cli/terminal/term.h"
#include "base/base64.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COPIED_MAX   ((size_t)74000) /* of base64: what common terminals take */
#define SEQUENCE_MAX ((size_t)1 << 28)

static void write_sequence(const char *bytes, size_t len)
{
	struct error ignored = ERROR_INIT; /* as everywhere on stderr */

	io_write_all(STDERR_FILENO, bytes, len, &ignored);
}

static void add_address(struct buf *out, const char *path)
{
	char host[256] = "";

	gethostname(host, sizeof(host) - 1);
	for (char *c = host; *c; c++)
		*c = strchr("\033\a\\/", *c) || *c <= ' ' ? '-' : *c;
	buf_addf(out, "file://%s", host);
	for (const unsigned char *c = (const unsigned char *)path; *c; c++)
		if ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
		    (*c >= '0' && *c <= '9') || strchr("/._-~", *c))
			buf_addch(out, (char)*c);
		else
			buf_addf(out, "%%%02X", *c);
}

void sequence_link(struct terminal *term, const char *path, const char *text)
{
	cleanup_buf struct buf open = BUF_INIT(SEQUENCE_MAX);
	cleanup_free char *whole = realpath(path, NULL);
	bool links = whole && term_can_block(term);

	if (links) {
		term_status(term, NULL);
		buf_addstr(&open, "\033]8;;");
		add_address(&open, whole);
		buf_addstr(&open, "\033\\");
		write_sequence(open.data, open.len);
	}
	term_note(term, TERM_CYAN, "%s", text);
	if (links)
		write_sequence("\033]8;;\033\\", 7);
}

int sequence_copy(struct terminal *term, const char *text, size_t len, struct error *err)
{
	cleanup_buf struct buf shown = BUF_INIT(SEQUENCE_MAX), sequence = BUF_INIT(SEQUENCE_MAX);

	if (!term_can_block(term))
		return error_set(err, ERR_FAILED, "this terminal has no clipboard that is known");
	utf8_visible(&shown, text, len);
	cleanup_free char *coded = base64_text(shown.data, shown.len);
	if (strlen(coded) > COPIED_MAX)
		return error_set(err, ERR_FAILED,
				 "%zu bytes are too long for a terminal's clipboard; /save and the "
				 "saved files have them",
				 len);
	buf_addf(&sequence, "\033]52;c;%s\a", coded);
	term_status(term, NULL);
	write_sequence(sequence.data, sequence.len);
	return 0;
}
