/*
 * What a near end may say to the far end beside a keeper: a job begins only when it is whole, and
 * nothing that was not agreed is taken.
 */
#include "sandbox/native/keeper/far.c"
#include "sandbox/native/keeper/link.c"
#include "sandbox/native/keeper/stream.c"
#include "sandbox/native/keeper/util.c"

#include "tests/fuzz/stream_whole.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

int engine_main(const char *socket_path, const char *image, const char *memory_bytes,
		const char *owner)
{
	return socket_path == image && memory_bytes == owner;
}

int machine_main(char **arguments)
{
	return !arguments[0];
}

int firecracker_main(char **arguments)
{
	return !arguments[0];
}

int near_main(char **command)
{
	return !command;
}

int left_list(int disk, const struct protocol_request *request, int payload, int *ret_fd)
{
	(void)disk;
	(void)request;
	(void)payload;
	(void)ret_fd;
	return -1;
}

/* What the keeper would get: whole requests, a RUN with all its descriptors. */
static void drain_keeper(int keeper)
{
	static struct protocol_request request;
	struct pollfd ready = { .fd = keeper, .events = POLLIN };

	while (poll(&ready, 1, 0) > 0) {
		int fds[PROTOCOL_RUN_FDS];
		ssize_t n =
			message_receive(keeper, &request, sizeof(request), fds, PROTOCOL_RUN_FDS);

		if (n <= 0)
			return;
		if (n != sizeof(request) ||
		    (request.kind == PROTOCOL_RUN && fds[PROTOCOL_FD_STDERR] < 0) ||
		    (request.kind == PROTOCOL_RUN && request.waiting != 0))
			abort();
		close_all(fds, PROTOCOL_RUN_FDS);
	}
}

static void feed(struct far *f, int keeper, const uint8_t *bytes, size_t len, size_t size)
{
	while (len > 0) {
		size_t piece = size > 0 && size < len ? size : len;

		if (f->in.at > 0) {
			memmove(f->in.bytes, f->in.bytes + f->in.at, f->in.have - f->in.at);
			f->in.have -= f->in.at;
			f->in.at = 0;
		}
		if (piece > sizeof(f->in.bytes) - f->in.have)
			piece = sizeof(f->in.bytes) - f->in.have;
		memcpy(f->in.bytes + f->in.have, bytes, piece);
		f->in.have += piece;
		bytes += piece;
		len -= piece;
		int more;
		struct stream_frame frame;
		while ((more = stream_next(&f->in, &frame)) > 0) {
			if (take(f, &frame) < 0)
				return;
			drain_keeper(keeper);
			f->out.at = f->out.have = 0;
		}
		if (more < 0)
			return;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	static struct far f;
	int keeper[2];

	if (len < 2 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, keeper) < 0)
		return 0;
	memset(&f, 0, sizeof(f));
	f.state = (enum far_state)(bytes[0] % 3);
	f.keeper = keeper[1];
	f.started = f.left = f.in.fd = f.out.fd = -1;
	f.link.source = f.link.sink = -1;
	for (int i = 0; i < 2; i++)
		f.job[i] = f.streams[i] = -1;
	for (int i = 0; i < PROTOCOL_RUN_FDS; i++)
		f.guest[i] = -1;
	const uint8_t *said = bytes + 2;
	size_t said_len = len - 2;
	if (bytes[0] & 0x40)
		said = whole_frame(STREAM_RUN, sizeof(struct stream_run),
				   (uint32_t[]){ PROTOCOL_RUN, 0 }, said, said_len, &said_len);
	feed(&f, keeper[0], said, said_len, bytes[1]);
	forget_job(&f);
	close_all(keeper, 2);
	return 0;
}
