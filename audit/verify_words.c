/*
 * Compares the full-text index with the texts that it was made of: all that it finds is added up,
 * and so is all that the texts have, by a hash with a key of the moment, so that no other words
 * make the same sum. It changes nothing, and keeps no second index.
 */
#include "audit/verify_words.h"

#include "audit/search.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define COLUMNS	   (SEARCH_ANSWER + 1)
#define TOKEN_MAX  32768 /* bytes of a word that FTS5 keeps (FTS5_MAX_TOKEN_SIZE) */
#define VARINT_MAX 9

struct sum {
	uint64_t key[2];
	uint64_t words;
	int64_t row; /* whose text is under way */
	int column;
	int64_t sizes[COLUMNS]; /* of that row */
	int64_t rows, total[COLUMNS];
	bool odd; /* a size is not that of the text */
};

/* --- the hash: SipHash-2-4 (Aumasson and Bernstein) --- */

#define ROTATE(x, n) ((x) << (n) | (x) >> (64 - (n)))

static void mix(uint64_t v[4], int rounds)
{
	while (rounds--) {
		v[0] += v[1];
		v[1] = ROTATE(v[1], 13) ^ v[0];
		v[0] = ROTATE(v[0], 32);
		v[2] += v[3];
		v[3] = ROTATE(v[3], 16) ^ v[2];
		v[0] += v[3];
		v[3] = ROTATE(v[3], 21) ^ v[0];
		v[2] += v[1];
		v[1] = ROTATE(v[1], 17) ^ v[2];
		v[2] = ROTATE(v[2], 32);
	}
}

static void take(uint64_t v[4], uint64_t block)
{
	v[3] ^= block;
	mix(v, 2);
	v[0] ^= block;
}

/* One word in its place. */
static void add_word(struct sum *sum, int64_t row, int column, int64_t offset, const char *word,
		     size_t len)
{
	uint64_t v[4] = { sum->key[0] ^ 0x736f6d6570736575, sum->key[1] ^ 0x646f72616e646f6d,
			  sum->key[0] ^ 0x6c7967656e657261, sum->key[1] ^ 0x7465646279746573 };

	take(v, (uint64_t)row);
	take(v, (uint64_t)offset << 8 | (uint64_t)column);
	take(v, len);
	for (size_t i = 0; i < len; i += sizeof(uint64_t)) {
		uint64_t block = 0;

		memcpy(&block, word + i, len - i < sizeof(block) ? len - i : sizeof(block));
		take(v, block);
	}
	v[2] ^= 0xff;
	mix(v, 4);
	sum->words += v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* --- what the texts have --- */

struct tokenizer {
	fts5_tokenizer api;
	Fts5Tokenizer *self;
};

static void tokenizer_release(struct tokenizer *t)
{
	if (t->self)
		t->api.xDelete(t->self);
}
#define cleanup_tokenizer __attribute__((cleanup(tokenizer_release)))

/* As https://www.sqlite.org/fts5.html, "Extending FTS5", has it. */
static int tokenizer_open(struct tokenizer *t, struct audit *audit, struct error *err)
{
	sqlite3_stmt *stmt = db_prepare(audit, "SELECT fts5(?1)", err);
	const char *options[] = { "remove_diacritics", "2" }; /* as in schema.sql */

	if (!stmt)
		return -1;
	fts5_api *api = NULL;
	sqlite3_bind_pointer(stmt, 1, &api, "fts5_api_ptr", NULL);
	int rc = db_step(audit, stmt, err);
	sqlite3_finalize(stmt);
	if (rc < 0)
		return -1;
	void *context = NULL;
	if (!api || api->xFindTokenizer(api, "unicode61", &context, &t->api) != SQLITE_OK ||
	    t->api.xCreate(context, options, ARRAY_SIZE(options), &t->self) != SQLITE_OK)
		return error_set(err, ERR_LOG, "audit log %s: this SQLite has no tokenizer",
				 audit->path);
	return 0;
}

/* fts5.html, "Custom Tokenizers". */
static int each_token(void *self, int flags, const char *token, int len, int start, int end)
{
	struct sum *sum = self;
	int64_t *size = &sum->sizes[sum->column];

	(void)start;
	(void)end;
	if (!(flags & FTS5_TOKEN_COLOCATED) || !*size)
		++*size;
	add_word(sum, sum->row, sum->column, *size - 1, token,
		 (size_t)(len < TOKEN_MAX ? len : TOKEN_MAX));
	return SQLITE_OK;
}

static void add_text(struct sum *sum, struct tokenizer *t, int column, const char *text, size_t len)
{
	sum->column = column;
	t->api.xTokenize(t->self, sum, FTS5_TOKENIZE_DOCUMENT, text, (int)search_indexed(text, len),
			 each_token);
}

/* Of a run, or with the number negated of its earlier programs. */
static int add_texts(struct audit *audit, struct sum *sum, struct tokenizer *t, struct error *err)
{
	cleanup_buf struct buf earlier = BUF_INIT(SIZE_MAX / 2);

	if (sum->row < 0) {
		if (search_earlier(audit, -sum->row, &earlier, err) < 0)
			return -1;
		add_text(sum, t, SEARCH_CODE, earlier.data, earlier.len);
		return 0;
	}
	cleanup_stmt sqlite3_stmt *texts = search_texts_of(audit, sum->row, err);
	int rc = texts ? db_step(audit, texts, err) : -1;
	for (int i = 0; rc > 0 && i < COLUMNS; i++) {
		const char *text = db_column(texts, i);

		add_text(sum, t, i, text, (size_t)sqlite3_column_bytes(texts, i));
	}
	return rc < 0 ? -1 : 0;
}

/* SQLite's and FTS5's numbers of variable length (fileformat2.html, 1.6). */
static int64_t number(const unsigned char **at, const unsigned char *end)
{
	uint64_t value = 0;

	for (int i = 1; *at < end; i++) {
		const unsigned char byte = *(*at)++;

		if (i == VARINT_MAX)
			return (int64_t)(value << 8 | byte);
		value = value << 7 | (byte & 0x7f);
		if (byte < 0x80)
			return (int64_t)value;
	}
	return -1;
}

/* Whether a blob is these numbers and no more. */
static bool is_sizes(sqlite3_stmt *stmt, int column, const int64_t *rows, const int64_t *sizes)
{
	const unsigned char *at = sqlite3_column_blob(stmt, column);
	const unsigned char *end = at ? at + sqlite3_column_bytes(stmt, column) : NULL;

	if (rows && number(&at, end) != *rows)
		return false;
	for (int i = 0; i < COLUMNS; i++)
		if (number(&at, end) != sizes[i])
			return false;
	return at == end;
}

static int add_all_texts(struct audit *audit, struct sum *sum, struct error *err)
{
	cleanup_tokenizer struct tokenizer t = { .self = NULL };
	int rc = tokenizer_open(&t, audit, err);

	cleanup_stmt sqlite3_stmt *stmt =
		rc < 0 ? NULL : db_query(audit, err, "SELECT id, sz FROM search_docsize", "");
	rc = stmt ? 1 : -1;
	while (rc > 0 && (rc = db_step(audit, stmt, err)) > 0) {
		sum->row = sqlite3_column_int64(stmt, 0);
		memset(sum->sizes, 0, sizeof(sum->sizes));
		if (add_texts(audit, sum, &t, err) < 0)
			return -1;
		sum->odd = sum->odd || !is_sizes(stmt, 1, NULL, sum->sizes);
		sum->rows++;
		for (int i = 0; i < COLUMNS; i++)
			sum->total[i] += sum->sizes[i];
	}
	return rc;
}

/* --- what the index has --- */

/* Views of the index, of this connection alone: of its words, and of where each is. */
static int make_views(struct audit *audit, struct error *err)
{
	static const char make[] =
		"PRAGMA query_only = 0;"
		"CREATE VIRTUAL TABLE IF NOT EXISTS temp.words USING fts5vocab(main, search, row);"
		"CREATE VIRTUAL TABLE IF NOT EXISTS temp.places"
		" USING fts5vocab(main, search, instance)";
	const int rc = db_exec(audit, make, "look at the full-text index", err);
	struct error ignored = ERROR_INIT;

	if (audit->read_only)
		db_exec(audit, "PRAGMA query_only = 1", "configure", rc < 0 ? &ignored : err);
	return rc;
}

static int column_of(const char *name)
{
	static const char *const names[] = { "prompt", "code", "output", "answer" };
	int i = 0;

	while (i < COLUMNS && strcmp(names[i], name))
		i++;
	return i;
}

/* By way of the word, which is how a search comes to it. */
static int add_places(struct audit *audit, struct sum *sum, const char *word, size_t len,
		      struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt =
		db_query(audit, err, "SELECT doc, col, \"offset\" FROM temp.places WHERE term = ?1",
			 "s", word, len);
	int rc = stmt ? 1 : -1;

	while (rc > 0 && (rc = db_step(audit, stmt, err)) > 0)
		add_word(sum, sqlite3_column_int64(stmt, 0), column_of(db_column(stmt, 1)),
			 sqlite3_column_int64(stmt, 2), word, len);
	return rc;
}

static int add_index(struct audit *audit, struct sum *sum, struct error *err)
{
	int rc = make_views(audit, err);

	cleanup_stmt sqlite3_stmt *stmt =
		rc < 0 ? NULL : db_query(audit, err, "SELECT term FROM temp.words", "");
	rc = stmt ? 1 : -1;
	while (rc > 0 && (rc = db_step(audit, stmt, err)) > 0) {
		const char *word = db_column(stmt, 0);

		if (add_places(audit, sum, word, (size_t)sqlite3_column_bytes(stmt, 0), err) < 0)
			return -1;
	}
	return rc;
}

/* What it is told, and what it keeps of all rows, which is how hits are ranked. */
static int look_at_settings(struct audit *audit, struct sum *sum, struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt =
		db_query(audit, err,
			 "SELECT (SELECT group_concat(k || '=' || v) FROM search_config),"
			 " (SELECT block FROM search_data WHERE id = 1)",
			 "");

	if (!stmt || db_step(audit, stmt, err) < 0)
		return -1;
	if (strcmp(db_column(stmt, 0), "version=4") ||
	    (sqlite3_column_bytes(stmt, 1) && !is_sizes(stmt, 1, &sum->rows, sum->total)) ||
	    (!sqlite3_column_bytes(stmt, 1) && sum->rows))
		sum->odd = true;
	return 0;
}

int verify_words(struct audit *audit, char **ret_problem, struct error *err)
{
	struct sum texts = { .words = 0 };

	*ret_problem = NULL;
	arc4random_buf(texts.key, sizeof(texts.key));
	struct sum index = texts;
	if (add_all_texts(audit, &texts, err) < 0 || look_at_settings(audit, &texts, err) < 0)
		return -1;
	const char *what = NULL;
	if (add_index(audit, &index, err) < 0) {
		if (!search_is_damaged(audit))
			return -1;
		error_clear(err);
		what = "is damaged";
	} else if (texts.words != index.words || texts.odd) {
		what = "has not the words of the runs";
	}
	if (what)
		*ret_problem =
			mem_printf("the full-text index %s; assay log reindex makes it anew", what);
	return 0;
}
