/*
 * What a run writes: its beginning, its events, its end. It appends and never
 * changes what is there, but for the row of a run that ends.
 */
#include "audit/audit.h"

#include "audit/blob.h"
#include "audit/chain.h"
#include "audit/contents.h"
#include "audit/counts.h"
#include "audit/db.h"
#include "audit/durable.h"
#include "audit/event.h"
#include "audit/form.h"
#include "audit/journal.h"
#include "audit/ledger.h"
#include "audit/search.h"
#include "base/clock.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define PROGRAM_MIN 128 /* bytes of one that is worth a blob */

/* --- a run's beginning --- */

struct opening {
	char *kind, *session, *item, *replay_of, *tier, *provider, *model, *app_version;
	struct cleaned prompt, config;
};

static void opening_release(struct opening *o)
{
	free(o->kind);
	free(o->session);
	free(o->item);
	free(o->replay_of);
	free(o->tier);
	free(o->provider);
	free(o->model);
	free(o->app_version);
	buf_release(&o->prompt.buf);
	buf_release(&o->config.buf);
}
#define cleanup_opening __attribute__((cleanup(opening_release)))

static void opening_init(struct opening *o, struct audit *audit, const struct audit_run *run)
{
	cleanup_free char *config = run->config ? json_print(run->config) : mem_strdup("{}");
	size_t len = strlen(config);

	*o = (struct opening){
		.kind = clean_text(audit, run->kind ? run->kind : "ask"),
		.session = clean_text(audit, run->session),
		.item = clean_text(audit, run->item),
		.replay_of = clean_text(audit, run->replay_of),
		.tier = clean_text(audit, run->tier),
		.provider = clean_text(audit, run->provider),
		.model = clean_text(audit, run->model),
		.app_version =
			clean_text(audit, run->app_version ? run->app_version : audit->app_version),
	};
	clean_bytes(audit, run->prompt ? run->prompt : "", run->prompt ? run->prompt_len : 0,
		    &o->prompt);
	buf_init(&o->config.buf, SIZE_MAX / 2);
	o->config.redactions = redact_json(audit->redactor, config, len, &o->config.buf);
	if (!o->config.redactions) {
		buf_clear(&o->config.buf);
		buf_add(&o->config.buf, config, len);
	}
	o->config.bytes = o->config.buf.data;
	o->config.len = o->config.buf.len;
}

static int insert_run(struct audit *audit, const struct audit_run *run, const struct opening *o,
		      int64_t no, struct error *err)
{
	return db_run(
		audit, err,
		"INSERT INTO runs(no, id, kind, session, item, replay_of, tier, started_at_ms,"
		" provider, model, app_version)"
		" VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
		"itttttt"
		"ittt",
		no, run->id, o->kind, o->session, o->item, o->replay_of, o->tier,
		run->started_ms ? run->started_ms : clock_wall_ms(), o->provider, o->model,
		o->app_version);
}

static int insert_blobs(struct audit *audit, struct opening *o, int64_t no, struct error *err)
{
	int64_t prompt, config;

	if (blob_store(audit, no, "text/plain", &o->prompt, &prompt, err) < 0 ||
	    blob_store(audit, no, "application/json", &o->config, &config, err) < 0)
		return -1;
	return db_run(audit, err, "UPDATE runs SET prompt = ?2, config = ?3 WHERE no = ?1", "iii",
		      no, prompt, config);
}

static int insert_tag(struct audit *audit, int64_t run, const char *tag, struct error *err)
{
	cleanup_free char *clean = clean_text(audit, tag);

	if (db_run(audit, err, "INSERT INTO tags(run, tag) VALUES(?1, ?2) ON CONFLICT DO NOTHING",
		   "it", run, clean) < 0)
		return -1;
	if (sqlite3_changes(audit->db))
		contents_tag(audit, 1, run, clean);
	return 0;
}

static int begin_run(struct audit *audit, const struct audit_run *run, struct error *err)
{
	cleanup_opening struct opening o;

	opening_init(&o, audit, run);
	int64_t no;
	if (counts_next_run(audit, &no, err) < 0 || insert_run(audit, run, &o, no, err) < 0 ||
	    insert_blobs(audit, &o, no, err) < 0 || counts_run(audit, no, 1, err) < 0)
		return -1;
	for (const char *const *tag = run->tags; tag && *tag; tag++)
		if (insert_tag(audit, no, *tag, err) < 0)
			return -1;
	if (chain_run(audit, CHAIN_OPENING_SQL, no, NULL, audit->tip.hash, err) < 0)
		return -1;
	memcpy(audit->tip.run, run->id, sizeof(audit->tip.run));
	audit->tip.no = no;
	audit->tip.seq = 0;
	contents_open(audit, 1, no, run->id, 0);
	return 0;
}

int audit_run_begin(struct audit *audit, const struct audit_run *run, struct error *err)
{
	audit->failed = false;
	if (db_begin(audit, err) < 0)
		return -1;
	return begin_run(audit, run, err) < 0 ? db_abort(audit) : 0;
}

/* --- its events --- */

static const char run_of_id[] = "SELECT no, ended_at_ms FROM runs WHERE id = ?1";
static const char last_link[] = "SELECT place, hash FROM events WHERE place > ?1 AND place < ?2"
				" ORDER BY place DESC LIMIT 1";

/* The last link of run's chain into audit->tip; refuses an ended or unknown run. */
static int load_tip(struct audit *audit, const char *run, struct error *err)
{
	if (!strcmp(audit->tip.run, run))
		return 0;
	cleanup_stmt sqlite3_stmt *stmt = db_query(audit, err, run_of_id, "t", run);
	int rc = stmt ? db_step(audit, stmt, err) : -1;
	if (rc < 0)
		return -1;
	if (!rc || sqlite3_column_type(stmt, 1) != SQLITE_NULL)
		return error_set(err, ERR_LOG, "audit log %s: run %s %s", audit->path, run,
				 rc ? "has ended" : "is not there: it was removed, or never began");
	int64_t no = sqlite3_column_int64(stmt, 0);
	db_reset(&stmt);
	stmt = db_query(audit, err, last_link, "ii", EVENT_PLACE(no, 0), EVENT_PLACE(no + 1, 0));
	rc = stmt ? db_step(audit, stmt, err) : -1;
	if (rc < 0)
		return -1;
	audit->tip.no = no;
	audit->tip.seq = rc ? sqlite3_column_int64(stmt, 0) - EVENT_PLACE(no, 0) : 0;
	if (rc)
		chain_hex(stmt, 1, audit->tip.hash);
	else if (chain_run(audit, CHAIN_OPENING_SQL, no, NULL, audit->tip.hash, err) < 0)
		return -1;
	strncat(strcpy(audit->tip.run, ""), run, ULID_LEN);
	return 0;
}

static int attach_blob(struct audit *audit, const struct audit_blob *blob, struct json *data,
		       struct error *err)
{
	cleanup_cleaned struct cleaned c;

	clean_blob(audit, blob, &c);
	int64_t no;
	if (blob_store(audit, audit->tip.no, blob->media_type, &c, &no, err) < 0)
		return -1;
	struct json *ref = json_object();
	json_set_string(ref, "sha256", c.sha256);
	json_set_int(ref, "size", (int64_t)c.len);
	json_set(data, blob->name, ref);
	return 0;
}

/* A long program that the data holds is a blob of its own, too: where it is run, it is one anyway,
 * and the event then needs no second copy (form.h). */
static int store_programs(struct audit *audit, const struct json *data, struct error *err)
{
	const char *text = json_string(data), *key = json_key(data);
	cleanup_cleaned struct cleaned c = { .bytes = NULL };

	for (const struct json *m = json_first(data); m; m = json_next(m))
		if (store_programs(audit, m, err) < 0)
			return -1;
	if (!text || !key || strcmp(key, "code") || strlen(text) < PROGRAM_MIN)
		return 0;
	clean_bytes(audit, text, strlen(text), &c);
	int64_t no;
	return blob_store(audit, audit->tip.no, "text/plain", &c, &no, err);
}

static int insert_event(struct audit *audit, const char *run, const struct audit_event *event,
			const char *data, struct error *err)
{
	cleanup_free char *stage = clean_text(audit, event->stage);
	const struct chain_event link = {
		.run = run,
		.seq = audit->tip.seq + 1,
		.stage = stage,
		.at_ms = event->at_ms ? event->at_ms : clock_wall_ms(),
		.attempt = event->attempt,
		.phase = event->phase,
		.data = data,
	};
	char hash[HASH_HEX_LEN + 1];

	chain_event(&link, audit->tip.hash, hash);
	if (event_insert(audit, audit->tip.no, &link, hash, err) < 0)
		return -1;
	contents_open(audit, -1, audit->tip.no, run, audit->tip.seq);
	contents_open(audit, 1, audit->tip.no, run, link.seq);
	audit->tip.seq = link.seq;
	memcpy(audit->tip.hash, hash, sizeof(hash));
	return 0;
}

static int append_event(struct audit *audit, const char *run, const struct audit_event *event,
			struct error *err)
{
	cleanup_json struct json *data = event->data ? json_copy(event->data) : json_object();
	cleanup_buf struct buf clean = BUF_INIT(SIZE_MAX / 2);

	if (json_type(data) != JSON_OBJECT)
		return error_set(err, ERR_LOG, "event %s: data is no object", event->stage);
	if (load_tip(audit, run, err) < 0 || store_programs(audit, data, err) < 0)
		return -1;
	for (size_t i = 0; i < event->blob_count; i++)
		if (attach_blob(audit, &event->blobs[i], data, err) < 0)
			return -1;
	cleanup_free char *text = json_print(data);
	return insert_event(
		audit, run, event,
		redact_json(audit->redactor, text, strlen(text), &clean) ? clean.data : text, err);
}

/* Somebody may have removed the run since the last transaction. */
static int begin_again(struct audit *audit, struct error *err)
{
	if (sqlite3_get_autocommit(audit->db))
		audit->tip.run[0] = '\0';
	return db_begin(audit, err);
}

int audit_append(struct audit *audit, const char *run, const struct audit_event *event,
		 struct error *err)
{
	if (begin_again(audit, err) < 0)
		return -1;
	return append_event(audit, run, event, err) < 0 ? db_abort(audit) : 0;
}

/* --- its end --- */

/* What a run is found by, redacted; NULL bytes where there is none. */
struct ending {
	struct cleaned answer, code, output;
};

static void ending_release(struct ending *e)
{
	cleaned_release(&e->answer);
	cleaned_release(&e->code);
	cleaned_release(&e->output);
}
#define cleanup_ending __attribute__((cleanup(ending_release)))

/* *ret_no is -1 where there is nothing. */
static int store_text(struct audit *audit, struct cleaned *c, int64_t *ret_no, struct error *err)
{
	*ret_no = -1;
	return c->bytes ? blob_store(audit, audit->tip.no, "text/plain", c, ret_no, err) : 0;
}

static const char end_of_run[] =
	"UPDATE runs SET ended_at_ms = ?2, status = ?3, level = ?4, reason = ?5,"
	" exit_code = ?6, attempts = ?7, input_tokens = ?8, output_tokens = ?9,"
	" cost_micro_usd = ?10, answer = ?11, code = ?12, output = ?13,"
	" event_count = ?14 WHERE no = ?1";
static const char seal_of_run[] = CHAIN_SEAL_SQL;
static const char set_seal[] = "UPDATE runs SET seal = ?2 WHERE no = ?1";

static int update_run(struct audit *audit, const struct audit_end *end, struct ending *e,
		      struct error *err)
{
	cleanup_free char *reason = clean_text(audit, end->reason);
	const int64_t no = audit->tip.no;
	int64_t answer, code, output;

	if (store_text(audit, &e->answer, &answer, err) < 0 ||
	    store_text(audit, &e->code, &code, err) < 0 ||
	    store_text(audit, &e->output, &output, err) < 0 ||
	    db_run(audit, err, end_of_run, "iitttniiinnnni", no,
		   end->ended_ms ? end->ended_ms : clock_wall_ms(), end->status,
		   end->level ? end->level : "none", reason, (int64_t)end->exit_code,
		   (int64_t)end->attempts, end->input_tokens, end->output_tokens,
		   end->cost_micro_usd, answer, code, output, audit->tip.seq) < 0)
		return -1;
	char seal[HASH_HEX_LEN + 1];
	if (chain_run(audit, seal_of_run, no, audit->tip.hash, seal, err) < 0)
		return -1;
	return db_run(audit, err, set_seal, "it", no, seal);
}

static int end_run(struct audit *audit, const char *run, const struct audit_end *end,
		   struct error *err)
{
	cleanup_ending struct ending e;

	clean_bytes(audit, end->answer, end->answer_len, &e.answer);
	clean_bytes(audit, end->code, end->code_len, &e.code);
	clean_bytes(audit, end->output, end->output_len, &e.output);
	if (load_tip(audit, run, err) < 0 || counts_run(audit, audit->tip.no, -1, err) < 0 ||
	    update_run(audit, end, &e, err) < 0 || counts_run(audit, audit->tip.no, 1, err) < 0 ||
	    ledger_ended(audit, audit->tip.no, run, err) < 0)
		return -1;
	contents_open(audit, -1, audit->tip.no, run, audit->tip.seq);
	audit->tip.run[0] = '\0';
	return search_add(audit, audit->tip.no, err);
}

int audit_run_end(struct audit *audit, const char *run, const struct audit_end *end,
		  struct error *err)
{
	if (begin_again(audit, err) < 0)
		return -1;
	return end_run(audit, run, end, err) < 0 ? db_abort(audit) : 0;
}

void audit_get_ready(struct audit *audit)
{
	static const char *const own[] = { run_of_id,	last_link, end_of_run,
					   seal_of_run, set_seal,  NULL };

	if (audit->failed)
		return;
	db_ready(audit, own);
	form_ready(audit);
	chain_ready(audit);
	ledger_ready(audit);
	search_ready(audit);
}

int audit_commit_later(struct audit *audit, struct error *err)
{
	if (audit->failed)
		return db_begin(audit, err);
	if (sqlite3_get_autocommit(audit->db))
		return 0;
	if (counts_keep(audit, err) < 0 || contents_keep(audit, err) < 0 ||
	    db_run(audit, err, "COMMIT", "") < 0)
		return db_abort(audit);
	durable_written(audit);
	journal_after_commit(audit);
	return 0;
}

int audit_commit(struct audit *audit, struct error *err)
{
	if (audit_commit_later(audit, err) < 0)
		return -1;
	return durable_sync(audit, err) < 0 ? db_abort(audit) : 0;
}
