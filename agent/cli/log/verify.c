/*
 * assay log verify: each run, and where none is named the log as a whole. What
 * is damaged is told, and the rest looked at all the same.
 */
#include "agent/cli/log/log.h"

#include "agent/cli/exit_code.h"
#include "agent/cli/terminal/term.h"
#include "base/io.h"
#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD_MAX ((size_t)64 << 20)

struct verification {
	const struct log *log;
	struct json *rows; /* of --json */
	size_t broken;	   /* runs */
	size_t problems;   /* of the log as a whole */
	struct error *err; /* of telling them */
};

/* run: NULL of the log as a whole. */
static void tell(struct verification *v, const char *run, const char *problem)
{
	if (!v->log->settings->json) {
		if (problem)
			term_out_style(v->log->term, TERM_RED, v->err, "%s  %s\n",
				       run ? run : "log", problem);
		return;
	}
	struct json *row = json_object();
	json_set_string(row, "run", run);
	json_set_bool(row, "intact", !problem);
	json_set_string(row, "problem", problem);
	json_append(v->rows, row);
}

static int verify_run(struct verification *v, const char *run, struct error *err)
{
	cleanup_free char *bad = NULL;

	if (audit_verify(v->log->audit, run, &bad, err) < 0) {
		if (err->kind != ERR_LOG)
			return -1;
		/* A part of the file that cannot be read. */
		bad = mem_strdup(err->message);
		error_clear(err);
	}
	v->broken += bad != NULL;
	tell(v, run, bad);
	return v->err->kind == ERR_NONE ? 0 : -1;
}

/* --- the head that is kept elsewhere --- */

static bool is_hash(const char *text)
{
	return strlen(text) == 64 && strspn(text, "0123456789abcdef") == 64;
}

/* "PLACE LINK" */
static bool parse_first(const char *line, struct audit_head *ret)
{
	char *end;

	ret->place = strtoll(line, &end, 10);
	strncat(ret->link, end + strspn(end, " "), sizeof(ret->link) - 1);
	return ret->place > 0 && is_hash(ret->link);
}

/* "open RUN EVENTS COVER WHOLE" */
static bool parse_open(const char *line, struct audit_head *ret)
{
	struct audit_open_run run = { .events = -1 };
	long long events = -1;

	if (sscanf(line, "open %26s %lld %64s %64s", run.id, &events, run.cover, run.whole) != 4 ||
	    events < 0 || !is_hash(run.cover) || !is_hash(run.whole))
		return false;
	run.events = events;
	ret->open = mem_array(ret->open, ret->open_count + 1, sizeof(*ret->open));
	ret->open[ret->open_count++] = run;
	return true;
}

/* What follows the last line with "open" is for people. place 0 when there is no file yet. */
static int read_head(const char *path, struct audit_head *ret, struct error *err)
{
	cleanup_buf struct buf text = BUF_INIT(HEAD_MAX);

	*ret = (struct audit_head){ 0 };
	if (access(path, F_OK) < 0 && errno == ENOENT)
		return 0;
	if (io_read_file(path, &text, err) < 0)
		return -1;
	char *rest = text.data;
	char *line;
	int number = 0;
	while ((line = strsep(&rest, "\n"))) {
		number++;
		if (number > 1 && strncmp(line, "open ", 5))
			break;
		if (number == 1 ? parse_first(line, ret) : parse_open(line, ret))
			continue;
		return error_set(
			err, ERR_USAGE,
			"%s, line %d: is no head of a log (a number and a hash, then a line for "
			"each open run, as log verify --head writes them); name another file",
			path, number);
	}
	return 0;
}

static int write_head(struct terminal *term, const char *path, const struct audit_head *head,
		      struct error *err)
{
	cleanup_buf struct buf text = BUF_INIT(HEAD_MAX);

	buf_addf(&text, "%lld %s\n", (long long)head->place, head->link);
	for (size_t i = 0; i < head->open_count; i++)
		buf_addf(&text, "open %s %lld %s %s\n", head->open[i].id,
			 (long long)head->open[i].events, head->open[i].cover, head->open[i].whole);
	if (io_replace_file(path, text.data, text.len, 0600, err) < 0)
		return -1;
	term_note(term, TERM_GREEN, "the log's head is in %s: keep it where the log is not\n",
		  path);
	return 0;
}

static int tell_log(void *self, const char *problem)
{
	struct verification *v = self;

	v->problems++;
	tell(v, NULL, problem);
	return 0;
}

/* A head is replaced by the next when nothing was found: it says what there was last. */
static int verify_log(struct verification *v, struct audit_head *ret_head, struct error *err)
{
	const char *path = settings_text(v->log->settings, OPT_HEAD, NULL);
	cleanup_audit_head struct audit_head kept = { 0 };

	if (path && read_head(path, &kept, err) < 0)
		return -1;
	return audit_verify_log(v->log->audit, kept.place ? &kept : NULL, ret_head, tell_log, v,
				err);
}

static int verify_all(struct verification *v, const struct log_ids *ids, struct error *err)
{
	for (size_t i = 0; i < ids->count; i++)
		if (verify_run(v, ids->list[i], err) < 0)
			return -1;
	return 0;
}

static int verify(struct verification *v, struct log_ids *ids, struct error *err)
{
	const char *path = settings_text(v->log->settings, OPT_HEAD, NULL);
	cleanup_audit_head struct audit_head head = { 0 };

	if (v->log->count)
		return log_ids_named(v->log, ids, err) < 0 ? -1 : verify_all(v, ids, err);
	if (verify_log(v, &head, err) < 0 || log_ids_all(v->log, ids, err) < 0 ||
	    verify_all(v, ids, err) < 0)
		return -1;
	return path && !v->broken && !v->problems ? write_head(v->log->term, path, &head, err) : 0;
}

static int tell_sum(struct verification *v, const struct log_ids *ids, struct error *err)
{
	if (v->log->settings->json)
		return log_print(v->log->term, json_copy(v->rows), err);
	return term_outf(v->log->term, err, "%zu run%s checked, %zu broken%s\n", ids->count,
			 ids->count == 1 ? "" : "s", v->broken,
			 v->problems ? "; the log as a whole is not what was written" : "");
}

int log_verify(const struct log *log, struct error *err)
{
	struct log_ids ids = { .count = 0 };
	cleanup_json struct json *rows = json_array();
	struct verification v = { .log = log, .rows = rows, .err = err };
	int rc = -1;

	if (log->count && settings_text(log->settings, OPT_HEAD, NULL))
		error_set(err, ERR_USAGE,
			  "log verify --head is of the log as a whole: name no RUN");
	else
		rc = verify(&v, &ids, err) < 0 ? -1 : tell_sum(&v, &ids, err);
	log_ids_release(&ids);
	if (rc < 0)
		return exit_code_of_error(err);
	return v.broken || v.problems ? EXIT_FAILED : EXIT_OK;
}
