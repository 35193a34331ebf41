/*
 * The events of a run, kept: pages and traces look back from an end to its beginning. It reads the
 * log once, and holds no more of a run than its events.
 */
#include "agent/cli/log/moments.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static int keep_event(void *self, struct audit_record *record)
{
	struct moments *m = self;

	m->list = mem_one_more(m->list, m->count, sizeof(*m->list));
	m->list[m->count++] = (struct moment){
		.seq = record->seq,
		.at_ms = record->at_ms,
		.stage = mem_strdup(record->stage),
		.phase = mem_strdup(record->phase),
		.attempt = record->attempt,
		.data = record->data,
	};
	record->data = NULL; /* kept */
	return 0;
}

int moments_load(struct moments *ret, struct audit *audit, const char *run, struct error *err)
{
	return audit_events(audit, run, keep_event, ret, err);
}

void moments_release(struct moments *m)
{
	for (size_t i = 0; i < m->count; i++) {
		free(m->list[i].stage);
		free(m->list[i].phase);
		json_free(m->list[i].data);
	}
	free(m->list);
	*m = (struct moments){ .count = 0 };
}

bool moment_is_start(const struct moment *m)
{
	return !strcmp(m->phase, "started");
}

const struct moment *moments_start(const struct moments *m, size_t index)
{
	const struct moment *end = &m->list[index];

	for (size_t i = index; i-- > 0;)
		if (!strcmp(m->list[i].stage, end->stage) && m->list[i].attempt == end->attempt)
			return moment_is_start(&m->list[i]) ? &m->list[i] : NULL;
	return NULL;
}
