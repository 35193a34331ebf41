/*
 * What a keeper has waiting, as this side knows of it: let go of when it was used, or when its
 * keeper is gone. Nothing is prepared here (waiting.c).
 */
#include "sandbox/native/standby.h"

#include "base/io.h"
#include "base/mem.h"

#include <stdlib.h>

void waiting_free(struct waiting *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < PROTOCOL_RUN_FDS; i++)
		if (w->fds[i] >= 0)
			io_close(w->fds[i]);
	if (w->out >= 0)
		io_close(w->out);
	if (w->errors >= 0)
		io_close(w->errors);
	free(w->key);
	free(w);
}

/* The keeper ends it when it hears of the next job; or died with it. */
void waiting_release(struct native *s)
{
	if (!s->waiting)
		return;
	waiting_free(TAKE_PTR(s->waiting));
	atomic_fetch_sub(&s->warm_count->interpreters, 1);
}

void waiting_release_joined(struct native *s)
{
	if (s->waiting && s->waiting->fds[PROTOCOL_FD_LINK_IN] >= 0)
		waiting_release(s);
}

void waiting_release_template(struct native *s)
{
	if (s->has_template)
		atomic_fetch_sub(&s->warm_count->templates, 1);
	s->has_template = false;
	s->set_count = 0;
}
