/*
 * libmicrohttpd, loaded when a server is started: programs that serve nothing never load it, nor
 * the TLS library below it. Inside agent/doors/http/server.c only.
 */
#ifndef AGENT_DOORS_MICROHTTPD_H
#define AGENT_DOORS_MICROHTTPD_H

#include "base/error.h"

#include <microhttpd.h>

/* The functions in use. */
struct microhttpd_api {
	struct MHD_Daemon *(*start_daemon)(unsigned int flags, uint16_t port,
					   MHD_AcceptPolicyCallback accept, void *accept_self,
					   MHD_AccessHandlerCallback handler, void *handler_self,
					   ...);
	void (*stop_daemon)(struct MHD_Daemon *daemon);
	MHD_socket (*quiesce_daemon)(struct MHD_Daemon *daemon);
	void (*suspend)(struct MHD_Connection *connection);
	void (*resume)(struct MHD_Connection *connection);
	int (*headers)(struct MHD_Connection *connection, enum MHD_ValueKind kind,
		       MHD_KeyValueIterator each, void *self);
	const char *(*header)(struct MHD_Connection *connection, enum MHD_ValueKind kind,
			      const char *key);
	const union MHD_ConnectionInfo *(*info)(struct MHD_Connection *connection,
						enum MHD_ConnectionInfoType type, ...);
	struct MHD_Response *(*from_buffer)(size_t size, void *buffer,
					    enum MHD_ResponseMemoryMode mode);
	struct MHD_Response *(*from_fd)(uint64_t size, int fd, uint64_t offset);
	struct MHD_Response *(*from_callback)(uint64_t size, size_t block,
					      MHD_ContentReaderCallback read, void *self,
					      MHD_ContentReaderFreeCallback release);
	enum MHD_Result (*add_header)(struct MHD_Response *response, const char *header,
				      const char *content);
	enum MHD_Result (*queue)(struct MHD_Connection *connection, unsigned int status,
				 struct MHD_Response *response);
	void (*destroy)(struct MHD_Response *response);
	enum MHD_Result (*supports)(enum MHD_FEATURE feature);
};
/* Filled in by microhttpd_load, and never changed after it succeeded. */
extern struct microhttpd_api microhttpd;

/* A failure is ERR_CONFIG, and names the package. */
int microhttpd_load(struct error *err);

#endif
