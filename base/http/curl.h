/*
 * libcurl, loaded on first use: programs that never speak to a server never load it.
 * Inside base/http/http.c only.
 */
#ifndef BASE_CURL_H
#define BASE_CURL_H

#include "base/error.h"

#include <curl/curl.h>

#define CURL_LIBRARY "libcurl.so.4"

/* The functions in use. */
struct curl_api {
	CURLcode (*global_init)(long flags);
	CURL *(*easy_init)(void);
	CURLcode (*easy_setopt)(CURL *easy, CURLoption option, ...);
	CURLcode (*easy_getinfo)(CURL *easy, CURLINFO info, ...);
	void (*easy_cleanup)(CURL *easy);
	const char *(*easy_strerror)(CURLcode code);
	CURLM *(*multi_init)(void);
	CURLMcode (*multi_add_handle)(CURLM *multi, CURL *easy);
	CURLMcode (*multi_remove_handle)(CURLM *multi, CURL *easy);
	CURLMcode (*multi_perform)(CURLM *multi, int *running);
	CURLMcode (*multi_poll)(CURLM *multi, struct curl_waitfd fds[], unsigned int nfds,
				int timeout_ms, int *ready);
	CURLMsg *(*multi_info_read)(CURLM *multi, int *left);
	CURLMcode (*multi_cleanup)(CURLM *multi);
	struct curl_slist *(*slist_append)(struct curl_slist *list, const char *line);
	void (*slist_free_all)(struct curl_slist *list);
};
/* Filled in by curl_load, and never changed after it succeeded. */
extern struct curl_api curl;

/* Once, whichever thread comes first; a failure (ERR_CONFIG: err names the package) is tried
 * again. */
int curl_load(struct error *err);

#endif
