#include "audit/search.h"


#include <ctype.h>
#include <string.h>

/* A megabyte of output would cost more to index than to run. */
#define INDEX_MAX ((size_t)64 << 10)

static size_t indexed(const char *text, size_t len)
{
	if (len <= INDEX_MAX)
		return len;
	/* Not in the middle of a character. */
	for (len = INDEX_MAX; len && ((unsigned char)text[len] & 0xC0) == 0x80; len--)
		;
	return len;
}

int search_add(struct audit *audit, const char *run, const struct search_text *text,
	       struct error *err)
{
	if (db_run(audit, err, "INSERT INTO search_rows(run_id) VALUES(?1)", "t", run) < 0)
		return -1;
	return db_run(audit, err,
		      "INSERT INTO search(rowid, prompt, code, output, answer)"
		      " VALUES(?1, ?2, ?3, ?4, ?5)", "issss",
		      (int64_t)sqlite3_last_insert_rowid(audit->db),
		      text->prompt, indexed(text->prompt, text->prompt_len),
		      text->code, indexed(text->code, text->code_len),
		      text->output, indexed(text->output, text->output_len),
		      text->answer, indexed(text->answer, text->answer_len));
}

int search_remove(struct audit *audit, const char *run, struct error *err)
{
	if (db_run(audit, err, "DELETE FROM search WHERE rowid ="
		   " (SELECT rowid FROM search_rows WHERE run_id = ?1)", "t", run) < 0)
		return -1;
	return db_run(audit, err, "DELETE FROM search_rows WHERE run_id = ?1", "t", run);
}

int search_scrub(struct audit *audit, struct error *err)
{
	return db_run(audit, err, "INSERT INTO search(search) VALUES('optimize')", "");
}

/* FTS5 finds tokens only: punctuation alone would be a phrase of nothing. */
static bool has_token(const char *word, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (isalnum((unsigned char)word[i]) || (unsigned char)word[i] >= 0x80)
			return true;
	return false;
}

static void add_word(struct buf *out, const char *word, size_t len, bool phrase)
{
	bool prefix = !phrase && len > 1 && word[len - 1] == '*';

	if (!has_token(word, len))
		return;
	buf_addstr(out, out->len ? " \"" : "\"");
	for (size_t i = 0; i < len; i++)
		buf_addch(out, word[i] == '"' ? ' ' : word[i]);
	buf_addstr(out, prefix ? "\"*" : "\"");
}

char *search_query(const char *typed)
{
	cleanup_buf struct buf out = BUF_INIT(BUF_MAX_DEFAULT);
	const char *p = typed;

	while (*p) {
		const char *close = *p == '"' ? strchr(p + 1, '"') : NULL;
		size_t len = strcspn(p, " \t\r\n");

		if (close) {
			add_word(&out, p + 1, (size_t)(close - p - 1), true);
			p = close + 1;
		} else if (len) {
			add_word(&out, p, len, false);
			p += len;
		} else {
			p++;
		}
	}
	return out.len ? buf_take(&out, NULL) : NULL;
}
