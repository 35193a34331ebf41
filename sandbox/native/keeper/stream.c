/*
 * Frames of the stream (stream.h), taken apart and put together. What comes from the other end may
 * be anything: nothing here trusts a length, and nothing waits or allocates.
 */
#include "sandbox/native/keeper/stream.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void stream_greeting(char ret_line[STREAM_LINE])
{
	const uint16_t one = 1;

	snprintf(ret_line, STREAM_LINE, "assay-stream %u %u %zu %zu %zu %s\n", STREAM_VERSION,
		 PROTOCOL_VERSION, sizeof(struct protocol_hello), sizeof(struct stream_run),
		 sizeof(struct stream_result), *(const uint8_t *)&one == 1 ? "le" : "be");
}

/* --- reading --- */

int stream_fill(struct stream_reader *r)
{
	if (r->at > 0) {
		memmove(r->bytes, r->bytes + r->at, r->have - r->at);
		r->have -= r->at;
		r->at = 0;
	}
	if (r->have == sizeof(r->bytes))
		return 0;
	ssize_t n = read(r->fd, r->bytes + r->have, sizeof(r->bytes) - r->have);
	if (n > 0)
		r->have += (size_t)n;
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)) ? 0 : -1;
}

int stream_next(struct stream_reader *r, struct stream_frame *ret)
{
	struct stream_header h;

	if (r->have - r->at < sizeof(h))
		return 0;
	memcpy(&h, r->bytes + r->at, sizeof(h));
	if (h.kind == 0 || h.kind >= STREAM_KINDS || h.zero != 0 || h.len > STREAM_PIECE)
		return -1;
	if (r->have - r->at - sizeof(h) < h.len)
		return 0;
	*ret = (struct stream_frame){
		.kind = (enum stream_kind)h.kind,
		.which = h.which,
		.len = h.len,
		.bytes = r->bytes + r->at + sizeof(h),
	};
	r->at += sizeof(h) + h.len;
	return 1;
}

bool stream_is(const struct stream_frame *f, void *ret, size_t size)
{
	if (f->len != size)
		return false;
	memcpy(ret, f->bytes, size);
	return true;
}

/* --- writing --- */

bool stream_has_room(const struct stream_writer *w)
{
	return w->have - w->at <= sizeof(w->bytes) / 2;
}

bool stream_is_empty(const struct stream_writer *w)
{
	return w->at == w->have;
}

int stream_put(struct stream_writer *w, enum stream_kind kind, unsigned which, const void *bytes,
	       size_t len)
{
	const struct stream_header h = { .kind = (uint8_t)kind,
					 .which = (uint8_t)which,
					 .len = (uint32_t)len };

	if (w->at > 0) {
		memmove(w->bytes, w->bytes + w->at, w->have - w->at);
		w->have -= w->at;
		w->at = 0;
	}
	if (len > STREAM_PIECE || sizeof(w->bytes) - w->have < sizeof(h) + len)
		return -1;
	memcpy(w->bytes + w->have, &h, sizeof(h));
	if (len > 0)
		memcpy(w->bytes + w->have + sizeof(h), bytes, len);
	w->have += sizeof(h) + len;
	return 0;
}

int stream_flush(struct stream_writer *w)
{
	while (w->at < w->have) {
		ssize_t n = write(w->fd, w->bytes + w->at, w->have - w->at);

		if (n < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : -1;
		w->at += (size_t)n;
	}
	return 0;
}

int stream_pass(struct stream_writer *w, unsigned which, int fd, uint64_t *total)
{
	char bytes[STREAM_PIECE];
	ssize_t n = read(fd, bytes, sizeof(bytes));

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	if (n == 0 || stream_put(w, STREAM_DATA, which, bytes, (size_t)n) < 0)
		return -1;
	*total += (uint64_t)n;
	return 1;
}

/* --- what the other end claims --- */

static void end_failure(struct protocol_failure *f)
{
	f->step[sizeof(f->step) - 1] = '\0';
	f->remedy[sizeof(f->remedy) - 1] = '\0';
}

int stream_check_hello(struct protocol_hello *h)
{
	end_failure(&h->failure);
	h->cgroup[sizeof(h->cgroup) - 1] = '\0';
	return h->kind != PROTOCOL_HELLO || h->version != PROTOCOL_VERSION ||
			       h->filter > PROTOCOL_FILTER_PLAIN || h->single > 1 ||
			       h->memory_cgroup > 1 || h->pids_cgroup > 1 || h->cpu_cgroup > 1 ||
			       h->cpu_count_cgroup > 1 ?
		       -1 :
		       0;
}

/* A figure is at least -1, "unknown"; below -1 s no time is. */
static bool are_figures(const struct protocol_result *r)
{
	const int64_t times[] = { r->wall_us, r->user_us, r->system_us };
	const int64_t counts[] = { r->peak_memory_bytes, r->peak_pids, r->written_bytes };

	for (size_t i = 0; i < 3; i++)
		if (times[i] < -1000 || counts[i] < -1)
			return false;
	return true;
}

int stream_check_result(struct protocol_result *r)
{
	end_failure(&r->failure);
	end_failure(&r->no_template);
	if (r->kind != PROTOCOL_RESULT || r->reason > PROTOCOL_KILL_CANCELLED ||
	    r->start > PROTOCOL_FORKED || r->has_status > 1 || r->disk_full > 1 ||
	    r->forbidden_count > PROTOCOL_FORBIDDEN_MAX || !are_figures(r))
		return -1;
	for (size_t i = 0; i < r->forbidden_count; i++) {
		r->forbidden[i].syscall[sizeof(r->forbidden[i].syscall) - 1] = '\0';
		r->forbidden[i].arch[sizeof(r->forbidden[i].arch) - 1] = '\0';
	}
	return 0;
}

/* --- the programs --- */

static bool has(char **arguments, size_t count)
{
	while (count > 0 && *arguments) {
		arguments++;
		count--;
	}
	return count == 0;
}

int stream_main(char **arguments)
{
	if (!strcmp(arguments[0], "--stream"))
		return far_main(FAR_PLAIN);
	if (!strcmp(arguments[0], "--stream-once"))
		return far_main(FAR_UNLINK);
	if (!strcmp(arguments[0], "--stream-single"))
		return far_main(FAR_SINGLE);
	if (!strcmp(arguments[0], "--far") && arguments[1])
		return near_main(arguments + 1);
	if (!strcmp(arguments[0], "--engine") && has(arguments + 1, 4))
		return engine_main(arguments[1], arguments[2], arguments[3], arguments[4]);
	if (!strcmp(arguments[0], "--machine") && has(arguments + 1, 5))
		return machine_main(arguments + 1);
	if (!strcmp(arguments[0], "--firecracker") && has(arguments + 1, 6))
		return firecracker_main(arguments + 1);
	return 2;
}
