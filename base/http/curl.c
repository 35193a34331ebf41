/*
 * Loading libcurl and finding its functions. Whoever calls one through the table has called
 * curl_load before; what the library does is not known here.
 */
#include "base/http/curl.h"

#include "base/mem.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#define PACKAGE "libcurl4"

struct curl_api curl;

static void *library;

static const struct {
	const char *name;
	size_t offset;
} symbols[] = {
	{ "curl_global_init", offsetof(struct curl_api, global_init) },
	{ "curl_easy_init", offsetof(struct curl_api, easy_init) },
	{ "curl_easy_setopt", offsetof(struct curl_api, easy_setopt) },
	{ "curl_easy_getinfo", offsetof(struct curl_api, easy_getinfo) },
	{ "curl_easy_cleanup", offsetof(struct curl_api, easy_cleanup) },
	{ "curl_easy_strerror", offsetof(struct curl_api, easy_strerror) },
	{ "curl_multi_init", offsetof(struct curl_api, multi_init) },
	{ "curl_multi_add_handle", offsetof(struct curl_api, multi_add_handle) },
	{ "curl_multi_remove_handle", offsetof(struct curl_api, multi_remove_handle) },
	{ "curl_multi_perform", offsetof(struct curl_api, multi_perform) },
	{ "curl_multi_poll", offsetof(struct curl_api, multi_poll) },
	{ "curl_multi_info_read", offsetof(struct curl_api, multi_info_read) },
	{ "curl_multi_cleanup", offsetof(struct curl_api, multi_cleanup) },
	{ "curl_slist_append", offsetof(struct curl_api, slist_append) },
	{ "curl_slist_free_all", offsetof(struct curl_api, slist_free_all) },
};

/* A pointer to data and one to a function have one size on every system we run on. */
static int resolve(struct error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(symbols); i++) {
		void *symbol = dlsym(library, symbols[i].name);

		if (!symbol)
			return error_set(err, ERR_CONFIG,
					 "%s has no %s: it is older than 7.66; install a newer "
					 "package " PACKAGE,
					 CURL_LIBRARY, symbols[i].name);
		memcpy((char *)&curl + symbols[i].offset, &symbol, sizeof(symbol));
	}
	if (curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return error_set(err, ERR_CONFIG, "%s could not be initialised", CURL_LIBRARY);
	return 0;
}

static int load_library(struct error *err)
{
	if (library)
		return 0;
	library = dlopen(CURL_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return error_set(
			err, ERR_CONFIG,
			"speaking to a server needs %s: install the Debian package " PACKAGE,
			CURL_LIBRARY);
	if (resolve(err) < 0) {
		dlclose(library);
		library = NULL;
		return -1;
	}
	return 0;
}

int curl_load(struct error *err)
{
	static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&loading);
	int rc = load_library(err);
	pthread_mutex_unlock(&loading);
	return rc;
}
