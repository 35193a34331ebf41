/*
 * Loading libmicrohttpd and finding its functions. Whoever calls one through the table has called
 * microhttpd_load before; what the library does is not known here.
 */
#include "agent/doors/http/microhttpd.h"

#include "base/mem.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#define LIBRARY "libmicrohttpd.so.12"
#define PACKAGE "libmicrohttpd12"

struct microhttpd_api microhttpd;

static const struct {
	const char *name;
	size_t offset;
} symbols[] = {
	{ "MHD_start_daemon", offsetof(struct microhttpd_api, start_daemon) },
	{ "MHD_stop_daemon", offsetof(struct microhttpd_api, stop_daemon) },
	{ "MHD_quiesce_daemon", offsetof(struct microhttpd_api, quiesce_daemon) },
	{ "MHD_suspend_connection", offsetof(struct microhttpd_api, suspend) },
	{ "MHD_resume_connection", offsetof(struct microhttpd_api, resume) },
	{ "MHD_get_connection_values", offsetof(struct microhttpd_api, headers) },
	{ "MHD_lookup_connection_value", offsetof(struct microhttpd_api, header) },
	{ "MHD_get_connection_info", offsetof(struct microhttpd_api, info) },
	{ "MHD_create_response_from_buffer", offsetof(struct microhttpd_api, from_buffer) },
	{ "MHD_create_response_from_fd_at_offset64", offsetof(struct microhttpd_api, from_fd) },
	{ "MHD_create_response_from_callback", offsetof(struct microhttpd_api, from_callback) },
	{ "MHD_add_response_header", offsetof(struct microhttpd_api, add_header) },
	{ "MHD_queue_response", offsetof(struct microhttpd_api, queue) },
	{ "MHD_destroy_response", offsetof(struct microhttpd_api, destroy) },
	{ "MHD_is_feature_supported", offsetof(struct microhttpd_api, supports) },
};

/* A pointer to data and one to a function have one size on every system we run on. */
int microhttpd_load(struct error *err)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return error_set(err, ERR_CONFIG,
				 "serving HTTP needs %s: install the Debian package " PACKAGE,
				 LIBRARY);
	for (size_t i = 0; i < ARRAY_SIZE(symbols); i++) {
		void *symbol = dlsym(library, symbols[i].name);

		if (!symbol)
			return error_set(err, ERR_CONFIG,
					 "%s has no %s; install a newer package " PACKAGE, LIBRARY,
					 symbols[i].name);
		memcpy((char *)&microhttpd + symbols[i].offset, &symbol, sizeof(symbol));
	}
	return 0;
}
