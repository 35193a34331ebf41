/*
 * Requests of E2B's wire, a row each: those for sandboxes as a whole, with a key, and those for
 * one, which its token lets in. No function stands here.
 */
#include "agent/doors/e2b/e2b.h"

#define LINES  "application/x-ndjson"
#define FRAMES "application/connect+json"

const struct route e2b_control_routes[] = {
	{ "GET", "/sandboxes", 0, NULL, e2b_list },
	{ "POST", "/sandboxes", HTTP_JSON, NULL, e2b_create },
	{ "GET", "/v2/sandboxes", 0, NULL, e2b_list },
	{ "POST", "/v2/sandboxes", HTTP_JSON, NULL, e2b_create },
	{ "GET", "/sandboxes/{}", 0, NULL, e2b_show },
	{ "DELETE", "/sandboxes/{}", 0, NULL, e2b_kill },
	{ "POST", "/sandboxes/{}/timeout", HTTP_JSON, NULL, e2b_timeout },
	{ "POST", "/sandboxes/{}/pause", HTTP_BODY, NULL, e2b_pause },
	{ "POST", "/sandboxes/{}/connect", HTTP_JSON, NULL, e2b_connect },
	{ "POST", "/v2/sandboxes/{}/connect", HTTP_JSON, NULL, e2b_connect },
	{ "GET", "/sandboxes/{}/metrics", 0, NULL, e2b_metrics },
	{ "POST", "/sandboxes/{}/fork", HTTP_JSON, NULL, e2b_fork },
	{ "POST", "/sandboxes/{}/snapshots", 0, NULL, e2b_not_here },
	{ "PUT", "/sandboxes/{}/network", 0, NULL, e2b_not_here },
	{ "GET", "/snapshots", 0, NULL, e2b_not_here },
	{ "POST", "/volumes", 0, NULL, e2b_not_here },
	{ NULL, NULL, 0, NULL, NULL },
};

const struct route e2b_routes[] = {
	{ "GET", "/health", 0, NULL, e2b_health },
	{ "POST", "/execute", HTTP_JSON, e2b_execute, NULL, e2b_execute_check, LINES },
	{ "GET", "/contexts", 0, NULL, e2b_contexts },
	{ "POST", "/contexts", HTTP_JSON, NULL, e2b_context_make },
	{ "DELETE", "/contexts/{}", 0, NULL, e2b_context_close },
	{ "POST", "/contexts/{}/restart", 0, NULL, e2b_context_restart },
	{ "GET", "/files", 0, NULL, e2b_file_read },
	{ "POST", "/files", HTTP_BODY, NULL, e2b_file_write, NULL, NULL, e2b_file_take },
	{ "POST", "/filesystem.Filesystem/ListDir", HTTP_JSON, NULL, e2b_dir_list },
	{ "POST", "/filesystem.Filesystem/MakeDir", HTTP_JSON, NULL, e2b_dir_make },
	{ "POST", "/filesystem.Filesystem/Stat", HTTP_JSON, NULL, e2b_stat },
	{ "POST", "/filesystem.Filesystem/Move", HTTP_JSON, NULL, e2b_move },
	{ "POST", "/filesystem.Filesystem/Remove", HTTP_JSON, NULL, e2b_remove },
	{ "POST", "/filesystem.Filesystem/WatchDir", HTTP_BODY | HTTP_LOOKS, e2b_watch, NULL, NULL,
	  FRAMES },
	{ "POST", "/filesystem.Filesystem/CreateWatcher", HTTP_JSON, NULL, e2b_watcher_make },
	{ "POST", "/filesystem.Filesystem/GetWatcherEvents", HTTP_JSON, NULL, e2b_watcher_ask },
	{ "POST", "/filesystem.Filesystem/RemoveWatcher", HTTP_JSON, NULL, e2b_watcher_remove },
	{ "POST", "/process.Process/Start", HTTP_BODY | HTTP_STAYS, e2b_start, NULL,
	  e2b_start_check, FRAMES },
	{ "POST", "/process.Process/Connect", HTTP_BODY | HTTP_LOOKS, e2b_follow, NULL, NULL,
	  FRAMES },
	{ "POST", "/process.Process/List", HTTP_JSON, NULL, e2b_processes },
	{ "POST", "/process.Process/SendSignal", HTTP_JSON, NULL, e2b_signal },
	{ "POST", "/process.Process/SendInput", HTTP_JSON, NULL, e2b_input },
	{ "POST", "/process.Process/Update", HTTP_JSON, NULL, e2b_resize },
	{ "POST", "/process.Process/CloseStdin", HTTP_JSON, NULL, e2b_input_end },
	{ NULL, NULL, 0, NULL, NULL },
};
