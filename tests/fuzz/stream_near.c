/*
 * What a far end may say, at any moment of a run: the near end takes it or refuses it, hands on no
 * more than was agreed, and a result only when it is whole.
 */
#include "sandbox/native/protocol.h"

#undef PROTOCOL_STARTED_FD
#define PROTOCOL_STARTED_FD (-1)

#include "sandbox/native/keeper/link.c"
#include "sandbox/native/keeper/near.c"
#include "sandbox/native/keeper/stream.c"
#include "sandbox/native/keeper/util.c"

#include "tests/fuzz/stream_whole.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

void near_refuse(struct near *n, const char *why)
{
	if (n->state >= NEAR_IDLE || !why)
		abort();
}

void near_read_errors(struct near *n)
{
	(void)n;
}

void near_wait_for_errors(struct near *n)
{
	(void)n;
}

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

int far_main(enum far_way way)
{
	return way != FAR_PLAIN;
}

/* What assay would get: whole structures, with texts that end. */
static int drain_client(int client)
{
	static union {
		uint32_t kind;
		struct protocol_hello hello;
		struct protocol_result result;
		struct protocol_find found;
	} m;
	int fd, results = 0;
	ssize_t n;
	struct pollfd ready = { .fd = client, .events = POLLIN };

	while (poll(&ready, 1, 0) > 0 && (n = message_receive(client, &m, sizeof(m), &fd, 1)) > 0) {
		close_all(&fd, 1);
		if (m.kind == PROTOCOL_RESULT) {
			results++;
			if (n != sizeof(m.result) ||
			    m.result.forbidden_count > PROTOCOL_FORBIDDEN_MAX ||
			    !memchr(m.result.failure.remedy, '\0', sizeof(m.result.failure.remedy)))
				abort();
		} else if (m.kind == PROTOCOL_FOUND &&
			   !memchr(m.found.path, '\0', sizeof(m.found.path))) {
			abort();
		}
	}
	return results;
}

static void feed(struct near *n, const uint8_t *bytes, size_t len, size_t size)
{
	while (len > 0) {
		size_t piece = size > 0 && size < len ? size : len;

		if (n->in.at > 0) {
			memmove(n->in.bytes, n->in.bytes + n->in.at, n->in.have - n->in.at);
			n->in.have -= n->in.at;
			n->in.at = 0;
		}
		if (piece > sizeof(n->in.bytes) - n->in.have)
			piece = sizeof(n->in.bytes) - n->in.have;
		memcpy(n->in.bytes + n->in.have, bytes, piece);
		n->in.have += piece;
		bytes += piece;
		len -= piece;
		if (take_frames(n) < 0 || n->has_held)
			return;
		n->out.at = n->out.have = 0;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	static struct near n;

	if (len < 2)
		return 0;
	const uint8_t *said = bytes + 2;
	size_t said_len = len - 2;
	if ((bytes[0] & 0x60) == 0x40)
		said = whole_frame(STREAM_HELLO, sizeof(struct protocol_hello),
				   (uint32_t[]){ PROTOCOL_HELLO, PROTOCOL_VERSION }, said, said_len,
				   &said_len);
	else if ((bytes[0] & 0x60) == 0x60)
		said = whole_frame(STREAM_RESULT, sizeof(struct stream_result),
				   (uint32_t[]){ PROTOCOL_RESULT, 0 }, said, said_len, &said_len);
	int client[2], link[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, client) < 0 ||
	    pipe2(link, O_CLOEXEC) < 0)
		abort();
	memset(&n, 0, sizeof(n));
	n.client = client[1];
	n.out.fd = n.in.fd = n.errors = n.left = n.job[0] = n.job[1] = -1;
	n.state = (enum near_state)(NEAR_STARTING + bytes[0] % 5);
	n.killed = (bytes[0] & 0x80) != 0;
	n.request.artifact_bytes = 100;
	for (int i = 0; i < 2; i++)
		n.output[i] = open("/dev/null", O_WRONLY | O_CLOEXEC);
	link_open(&n.link, link[0], link[1]);
	feed(&n, said, said_len, bytes[1]);
	if (drain_client(client[0]) > 1 && n.state > NEAR_RUNNING)
		abort();
	forget_run(&n);
	link_close(&n.link);
	close_all(client, 2);
	return 0;
}
