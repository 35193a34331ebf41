/*
 * The two pipes of a pair where its halves are on either side of a stream: what a source gives is
 * sent, what comes goes to the sink. Neither may hold up the stream, so each end sends only what
 * the other has room for, and says when there is more.
 */
#include "sandbox/native/keeper/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

void link_open(struct link *l, int source, int sink)
{
	l->source = source;
	l->sink = sink;
	l->credit = LINK_ROOM;
	l->at = l->have = 0;
	l->ending = false;
	if (source >= 0)
		fcntl(source, F_SETFL, O_NONBLOCK);
	if (sink >= 0)
		fcntl(sink, F_SETFL, O_NONBLOCK);
}

void link_close(struct link *l)
{
	close_all(&l->source, 1);
	close_all(&l->sink, 1);
	l->at = l->have = 0;
}

void link_poll(const struct link *l, const struct stream_writer *w, struct pollfd ret[2])
{
	bool may_read = l->credit > 0 && stream_has_room(w);

	ret[0] = (struct pollfd){ .fd = may_read ? l->source : -1, .events = POLLIN };
	/* Without events it still tells of a reader that is gone. */
	ret[1] = (struct pollfd){ .fd = l->sink, .events = l->at < l->have ? POLLOUT : 0 };
}

static int read_source(struct link *l, struct stream_writer *w)
{
	char bytes[LINK_ROOM];
	ssize_t n = read(l->source, bytes, l->credit < sizeof(bytes) ? l->credit : sizeof(bytes));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0) {
		close_all(&l->source, 1);
		return stream_put(w, STREAM_END, STREAM_LINK, NULL, 0);
	}
	l->credit -= (size_t)n;
	return stream_put(w, STREAM_DATA, STREAM_LINK, bytes, (size_t)n);
}

static int break_sink(struct link *l, struct stream_writer *w)
{
	close_all(&l->sink, 1);
	l->at = l->have = 0;
	return stream_put(w, STREAM_BROKEN, STREAM_LINK, NULL, 0);
}

static int write_sink(struct link *l, struct stream_writer *w)
{
	ssize_t n = write(l->sink, l->pending + l->at, l->have - l->at);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : break_sink(l, w);
	l->at += (size_t)n;
	uint32_t more = (uint32_t)n;
	if (l->at == l->have && l->ending)
		close_all(&l->sink, 1);
	return stream_put(w, STREAM_CREDIT, STREAM_LINK, &more, sizeof(more));
}

int link_handle(struct link *l, struct stream_writer *w, const struct pollfd fds[2])
{
	if (fds[0].revents && l->source >= 0 && stream_has_room(w) && read_source(l, w) < 0)
		return -1;
	if (!fds[1].revents || l->sink < 0)
		return 0;
	if (l->at < l->have)
		return write_sink(l, w);
	return fds[1].revents & (POLLERR | POLLNVAL) ? break_sink(l, w) : 0;
}

static int keep_bytes(struct link *l, const struct stream_frame *f)
{
	if (l->sink < 0)
		return 0; /* it broke, and the other end did not know yet */
	memmove(l->pending, l->pending + l->at, l->have - l->at);
	l->have -= l->at;
	l->at = 0;
	if (l->ending || f->len > sizeof(l->pending) - l->have)
		return -1;
	memcpy(l->pending + l->have, f->bytes, f->len);
	l->have += f->len;
	return 0;
}

int link_take(struct link *l, const struct stream_frame *f)
{
	uint32_t more;

	switch (f->kind) {
	case STREAM_DATA:
		return keep_bytes(l, f);
	case STREAM_END:
		l->ending = true;
		if (l->at == l->have)
			close_all(&l->sink, 1);
		return 0;
	case STREAM_BROKEN:
		close_all(&l->source, 1);
		return 0;
	case STREAM_CREDIT:
		if (!stream_is(f, &more, sizeof(more)) || more > LINK_ROOM - l->credit)
			return -1;
		l->credit += more;
		return 0;
	case STREAM_HELLO:
	case STREAM_FIND:
	case STREAM_FOUND:
	case STREAM_RUN:
	case STREAM_KILL:
	case STREAM_RAN:
	case STREAM_RESULT:
	case STREAM_KINDS:
		break;
	}
	return -1;
}
