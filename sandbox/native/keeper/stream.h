/*
 * The keeper's protocol over a byte stream, for a keeper that is somewhere else.
 *
 *	assay -- protocol.h -- near end == stream == far end -- protocol.h -- keeper
 *
 * near end   `assay-keeper --far COMMAND...`: a keeper to assay; starts COMMAND, whose
 *            standard input and output are the stream, and is all that reads it here.
 *            It holds no key, and neither does COMMAND's environment.
 * far end    `assay-keeper --stream`: assay to a keeper that it starts beside it;
 *            --stream-single: to one that serves one run.
 *
 * The far end begins with one line, its greeting: versions and sizes of what is
 * sent as it is. Another line is refused. Then both ends send frames:
 *
 *	to far   FIND path             answered by FOUND; of a namespace and of
 *	                               PROTOCOL_BOOT_ID by what it is there
 *	         RUN stream_run        then all of PAYLOAD and STDIN by DATA
 *	         KILL reason           while a run goes on
 *	to near  HELLO protocol_hello  once
 *	         RAN                   a guest runs
 *	         DATA                  STDOUT, STDERR; at the end LEFT, the list
 *	         RESULT stream_result  the last of a run: how much of each was sent
 *	both     DATA, END, BROKEN, CREDIT of LINK, the pipes of a pair
 *
 * Memory is bounded: an end reads no more of a pipe than it has room to send, and
 * sends no more of a link than it has credit for, so that a guest that reads nothing
 * holds up nobody. An end of the stream is the end of everything behind it.
 */
#ifndef KEEPER_STREAM_H
#define KEEPER_STREAM_H

#include "sandbox/native/keeper/keeper.h"

#include <poll.h>
#include <stdbool.h>

#define STREAM_VERSION 1u
#define STREAM_PIECE   65536u /* bytes of a frame, at most */
#define STREAM_COPY    "assay-copy\n"
#define STREAM_LINE    256u /* a greeting, at most */

enum stream_kind {
	STREAM_HELLO = 1,
	STREAM_FIND,
	STREAM_FOUND,
	STREAM_RUN,
	STREAM_KILL,
	STREAM_RAN,
	STREAM_DATA,
	STREAM_END,
	STREAM_BROKEN,
	STREAM_CREDIT,
	STREAM_RESULT,
	STREAM_KINDS,
};

/* What a DATA is of. Numbers from STREAM_FILE on are for files given as descriptors. */
enum stream_which {
	STREAM_PAYLOAD,
	STREAM_STDIN,
	STREAM_STDOUT,
	STREAM_STDERR,
	STREAM_LINK,
	STREAM_LEFT,
	STREAM_FILE = 16,
};

struct stream_header {
	uint8_t kind, which;
	uint16_t zero;
	uint32_t len;
};

struct stream_frame {
	enum stream_kind kind;
	unsigned which;
	size_t len;
	const char *bytes; /* in the reader; until the next is taken */
};

struct stream_run {
	struct protocol_request request;
	uint64_t payload_len, stdin_len;
	uint32_t has_stdin, linked;
};

#define STREAM_NO_LEFT UINT64_MAX
struct stream_result {
	struct protocol_result result;
	uint64_t out_len, err_len;
	uint64_t left_len; /* STREAM_NO_LEFT: there is no list */
};

struct stream_reader {
	int fd;
	size_t at, have;
	char bytes[2 * (sizeof(struct stream_header) + STREAM_PIECE)];
};

struct stream_writer {
	int fd;
	size_t at, have;
	char bytes[4 * (sizeof(struct stream_header) + STREAM_PIECE)];
};

/* The line that a far end of this build begins with. */
void stream_greeting(char ret_line[STREAM_LINE]);

/* One read. -1: the stream has ended. */
int stream_fill(struct stream_reader *r);
/* 1: a frame; 0: more has to come; -1: this is no stream of ours. */
int stream_next(struct stream_reader *r, struct stream_frame *ret);
/* The frame's bytes are a structure of that size. */
bool stream_is(const struct stream_frame *f, void *ret, size_t size);

/* Room for a DATA, and for a frame of each other kind besides. */
bool stream_has_room(const struct stream_writer *w);
/* -1: there is no room, which only happens to who does not ask. */
int stream_put(struct stream_writer *w, enum stream_kind kind, unsigned which, const void *bytes,
	       size_t len);
/* Writes what can be written now. -1: the stream has ended. */
int stream_flush(struct stream_writer *w);
bool stream_is_empty(const struct stream_writer *w);
/* Reads once and sends that. 1: sent; 0: nothing there now; -1: its end. */
int stream_pass(struct stream_writer *w, unsigned which, int fd, uint64_t *total);

/* Makes texts end and refuses what no keeper of ours says; -1. */
int stream_check_hello(struct protocol_hello *hello);
int stream_check_result(struct protocol_result *result);

/* --- a link (link.c): the two pipes of a pair, on either side of the stream --- */

#define LINK_ROOM STREAM_PIECE

struct link {
	int source, sink; /* -1: none, or over */
	size_t credit;	  /* of what the source gives may be sent */
	size_t at, have;  /* of pending */
	bool ending;	  /* the other source has ended: so does our sink, when it has all */
	char pending[LINK_ROOM];
};

void link_open(struct link *l, int source, int sink);
void link_close(struct link *l);
/* Two descriptors to poll, and what to do then; -1: the stream has no room. */
void link_poll(const struct link *l, const struct stream_writer *w, struct pollfd ret[2]);
int link_handle(struct link *l, struct stream_writer *w, const struct pollfd fds[2]);
/* A frame of LINK; -1: the other end does not keep to what was agreed. */
int link_take(struct link *l, const struct stream_frame *f);

/* --- left.c --- */

/* A memfd of what is in out/ and work/ of the guest's disk, as protocol_left says; work/
 * without what the payload put there. -1: it could not be made. */
int left_list(int disk, const struct protocol_request *request, int payload, int *ret_fd);

/* --- stream.c: this program as an end of a stream, or as a COMMAND --- */

/* As the arguments say; its exit status. */
int stream_main(char **arguments);

/* --- far.c, near.c: the two programs; engine.c: a COMMAND of the latter --- */

enum far_way {
	FAR_PLAIN,
	FAR_UNLINK, /* of a copy made for this use */
	FAR_SINGLE, /* its keeper serves one run (single.c) */
};

int far_main(enum far_way way);
int near_main(char **command);
/* memory_bytes: of the container, by its control group. owner: its label, of digits, letters and
 * dots; "": nobody's, and nothing that was left is looked for. */
int engine_main(const char *socket_path, const char *image, const char *memory_bytes,
		const char *owner);

/* --- machine.c: another COMMAND. KERNEL IMAGE MODULES MIB kvm|tcg; its exit status --- */

int machine_main(char **arguments);

/* --- firecracker.c: another. PROGRAM KERNEL IMAGE MODULES MIB SNAPSHOT --- */

int firecracker_main(char **arguments);

#endif
