/*
 * assay doctor: what this host can isolate and limit, proven by trying. It changes nothing on the
 * host, and says for each fault what to do.
 */
#include "agent/cli/command.h"

#include "agent/record/journal.h"
#include "agent/cli/provider.h"
#include "agent/cli/terminal/term.h"
#include "base/mem.h"
#include "base/http/http.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- looking: one JSON document, printed as it is or for people --- */

static struct json *layers_json(const struct sandbox_layer *layers, size_t count)
{
	struct json *array = json_array();

	for (size_t i = 0; i < count; i++) {
		struct json *one = json_object();

		json_set_string(one, "name", layers[i].name);
		json_set_bool(one, "ok", layers[i].ok);
		json_set_bool(one, "required", layers[i].required);
		json_set_bool(one, "wall", !layers[i].is_for_speed);
		json_set_string(one, "wanted", layers[i].wanted);
		json_set_string(one, "in_force", layers[i].in_force);
		json_set_string(one, "proof", layers[i].proof);
		json_set_string(one, "remedy", *layers[i].remedy ? layers[i].remedy : NULL);
		json_append(array, one);
	}
	return array;
}

/* The sandbox and its layers; *ret_ready false when a run would be refused. */
static void look_at_sandbox(struct sandbox *sandbox, const struct error *unopened,
			    struct json *report, bool *ret_ready)
{
	struct sandbox_layer *layers = NULL;
	struct error err = *unopened;
	size_t count = 0;

	*ret_ready = sandbox && sandbox_doctor(sandbox, &layers, &count, &err) == 0;
	for (size_t i = 0; i < count; i++)
		*ret_ready &= layers[i].ok || !layers[i].required;
	json_set(report, "layers", layers_json(layers, count));
	json_set_string(report, "sandbox_error", err.kind == ERR_NONE ? NULL : err.message);
	free(layers);
}

static void look_at_languages(struct sandbox *sandbox, struct json *report)
{
	struct json *array = json_array();

	for (size_t i = 0; sandbox && language_at(i); i++) {
		struct sandbox_environment e = { .language = language_at(i)->name };
		struct error err = ERROR_INIT;
		struct json *one = json_object();
		int rc = sandbox_describe(sandbox, language_at(i), &e, &err);

		json_set_string(one, "language", language_at(i)->name);
		json_set_string(one, "interpreter", rc < 0 ? NULL : e.interpreter);
		json_set_string(one, "version", rc < 0 ? NULL : e.version);
		json_set_string(one, "packages", rc < 0 ? NULL : e.packages);
		json_set_string(one, "error", rc < 0 ? err.message : NULL);
		json_append(array, one);
	}
	json_set(report, "languages", array);
}

static void look_at_log(const struct settings *settings, struct json *report)
{
	cleanup_audit struct audit *audit = NULL;
	struct json *log = json_object();
	bool exists = settings->db_path && access(settings->db_path, F_OK) == 0;

	json_set_string(log, "path", settings->db_path);
	json_set_bool(log, "exists", exists);
	struct json *stats = NULL;
	struct error err = ERROR_INIT;
	if (exists && (command_open_log(&audit, settings, LOG_READ, &err) < 0 ||
		       audit_stats(audit, &stats, &err) < 0))
		stats = NULL;
	json_set(log, "stats", stats ? stats : json_new_null());
	json_set_string(log, "error", err.kind == ERR_NONE ? NULL : err.message);
	json_set(report, "log", log);
}

static void look_at_network(const struct settings *settings, struct json *report)
{
	static const char *const variables[] = {
		"https_proxy", "HTTPS_PROXY",	"all_proxy",	"ALL_PROXY",	  "no_proxy",
		"NO_PROXY",    "SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE",
	};
	struct json *network = json_object(), *set = json_array();
	struct error err = ERROR_INIT;
	struct http *http = http_open(&err);

	json_set_bool(network, "libcurl", http != NULL);
	json_set_string(network, "error", http ? NULL : err.message);
	for (size_t i = 0; i < ARRAY_SIZE(variables);
	     i++) /* names only: a proxy's URL may hold a password */
		if (getenv(variables[i]))
			json_append(set, json_new_string(variables[i]));
	json_set(network, "variables_set", set);
	error_clear(&err);
	json_set_string(network, "ca_file", settings->ca_file);
	json_set_string(network, "ca_file_error",
			provider_check_ca_file(settings, &err) < 0 ? err.message : NULL);
	json_set(report, "network", network);
	http_close(http);
}

/* --- telling --- */

static int mark(struct terminal *term, const char *word, enum term_style style, struct error *err)
{
	return term_out_style(term, style, err, "%-8s", word);
}

static int tell_layers(struct terminal *term, const struct json *report, struct error *err)
{
	const char *failure = json_get_string(report, "sandbox_error");

	if (term_outf(term, err, "Sandbox %s\n", json_get_string(report, "sandbox")) < 0)
		return -1;
	if (failure &&
	    (mark(term, "missing", TERM_RED, err) < 0 || term_outf(term, err, "%s\n", failure) < 0))
		return -1;
	for (const struct json *l = json_first(json_get(report, "layers")); l; l = json_next(l)) {
		bool ok = json_get_bool(l, "ok", false),
		     required = json_get_bool(l, "required", false);
		const char *remedy = json_get_string(l, "remedy"),
			   *without = json_get_bool(l, "wall", true) ? "weaker" : "slower";

		if (mark(term,
			 ok	  ? "ok" :
			 required ? "missing" :
				    without,
			 ok	  ? TERM_GREEN :
			 required ? TERM_RED :
				    TERM_YELLOW,
			 err) < 0 ||
		    term_outf(term, err, "%-20s %-12s  ", json_get_string(l, "name"),
			      json_get_string(l, "in_force")) < 0 ||
		    term_out_style(term, TERM_DIM, err, "%s\n", json_get_string(l, "proof")) < 0)
			return -1;
		if (!ok && remedy && term_outf(term, err, "        -> %s\n", remedy) < 0)
			return -1;
	}
	return 0;
}

static int tell_languages(struct terminal *term, const struct json *report, struct error *err)
{
	if (term_outf(term, err, "Languages\n") < 0)
		return -1;
	for (const struct json *l = json_first(json_get(report, "languages")); l;
	     l = json_next(l)) {
		const char *interpreter = json_get_string(l, "interpreter");
		const char *version = json_get_string(l, "version");
		const char *packages = json_get_string(l, "packages");
		const char *problem = json_get_string(l, "error");

		if (mark(term, interpreter ? "ok" : "missing",
			 interpreter ? TERM_GREEN : TERM_YELLOW, err) < 0 ||
		    term_outf(term, err, "%-20s %s %s\n", json_get_string(l, "language"),
			      interpreter ? interpreter :
			      problem	  ? problem :
					    "not installed",
			      version ? version : "") < 0)
			return -1;
		if (packages && *packages &&
		    term_outf(term, err, "        with %s\n", packages) < 0)
			return -1;
	}
	return 0;
}

/* Who would be asked. */
static int tell_model(struct terminal *term, const struct json *report, struct error *err)
{
	const struct json *model = json_get(report, "provider");
	const char *problem = json_get_string(model, "error");
	const char *name = json_get_string(model, "name"), *id = json_get_string(model, "model");
	const char *url = json_get_string(model, "url");
	const char *config = json_get_string(report, "config");

	if (term_outf(term, err, "Model\n") < 0 ||
	    mark(term, problem ? "missing" : "ok", problem ? TERM_YELLOW : TERM_GREEN, err) < 0)
		return -1;
	if (problem &&
	    term_outf(term, err, "%s%s%s\n", name ? name : "", name ? ": " : "", problem) < 0)
		return -1;
	if (!problem && term_outf(term, err, "%-20s %s%s%s\n", name, id ? id : "(its own default)",
				  url ? " at " : "", url ? url : "") < 0)
		return -1;
	if (config && term_outf(term, err, "        settings of %s\n", config) < 0)
		return -1;
	return 0;
}

static int tell_keys(struct terminal *term, const struct json *report, struct error *err)
{
	if (term_outf(term, err, "Keys\n") < 0)
		return -1;
	for (const struct json *k = json_first(json_get(report, "keys")); k; k = json_next(k)) {
		bool set = json_get_bool(k, "set", false);
		const char *problem = json_get_string(k, "error"),
			   *origin = json_get_string(k, "origin");

		if (mark(term,
			 problem ? "bad" :
			 set	 ? "ok" :
				   "-",
			 problem ? TERM_RED :
			 set	 ? TERM_GREEN :
				   TERM_DIM,
			 err) < 0 ||
		    term_outf(term, err, "%-20s %s\n", json_get_string(k, "name"),
			      problem ? problem :
			      set     ? origin :
					"not set") < 0)
			return -1;
	}
	return 0;
}

static int tell_ca_file(struct terminal *term, const struct json *network, struct error *err)
{
	const char *path = json_get_string(network, "ca_file");
	const char *problem = json_get_string(network, "ca_file_error");

	if (!path)
		return 0;
	if (mark(term, problem ? "bad" : "ok", problem ? TERM_RED : TERM_GREEN, err) < 0)
		return -1;
	return term_outf(term, err, "%s\n", problem ? problem : path);
}

static void tell_log(struct terminal *term, const char *path, const struct json *stats,
		     struct error *err)
{
	const char *why = json_get_string(stats, "journal_why");

	term_outf(term, err, "%s: %lld runs, %lld bytes\n", path,
		  (long long)json_get_int(stats, "runs", 0),
		  (long long)json_get_int(stats, "file_bytes", 0));
	if (why)
		term_outf(term, err,
			  "        who reads it makes who writes it wait: no write-ahead log, "
			  "for %s\n",
			  why);
}

static int tell_rest(struct terminal *term, const struct json *report, struct error *err)
{
	const struct json *log = json_get(report, "log"), *network = json_get(report, "network");
	const struct json *stats = json_get(log, "stats");
	const char *log_problem = json_get_string(log, "error"),
		   *path = json_get_string(log, "path");
	const char *problem = json_get_string(network, "error");

	if (term_outf(term, err, "Log\n") < 0 ||
	    mark(term, log_problem || !path ? "bad" : "ok",
		 log_problem || !path ? TERM_RED : TERM_GREEN, err) < 0)
		return -1;
	if (log_problem || !path)
		term_outf(term, err, "%s\n",
			  log_problem ? log_problem : "no place: neither --db nor HOME is set");
	else if (!json_get_bool(log, "exists", false))
		term_outf(term, err, "%s (made by the first run)\n", path);
	else
		tell_log(term, path, stats, err);
	if (err->kind != ERR_NONE || term_outf(term, err, "Network\n") < 0 ||
	    mark(term, problem ? "missing" : "ok", problem ? TERM_YELLOW : TERM_GREEN, err) < 0)
		return -1;
	term_outf(term, err, "%s\n", problem ? problem : "libcurl loads");
	if (tell_ca_file(term, network, err) < 0)
		return -1;
	for (const struct json *v = json_first(json_get(network, "variables_set"));
	     v && err->kind == ERR_NONE; v = json_next(v))
		term_outf(term, err, "        %s is set\n", json_string(v));
	return err->kind == ERR_NONE ? 0 : -1;
}

static int tell(const struct settings *settings, const struct json *report, struct error *err)
{
	struct terminal *term = &settings->app->terminal;

	if (settings->json) {
		cleanup_free char *text = json_print(report);
		return term_out_json(term, text, err);
	}
	if (tell_layers(term, report, err) < 0 || tell_languages(term, report, err) < 0 ||
	    tell_model(term, report, err) < 0 || tell_keys(term, report, err) < 0 ||
	    tell_rest(term, report, err) < 0)
		return -1;
	if (!json_get_bool(report, "ready", false))
		term_note(term, TERM_RED, "code cannot run here until what is missing is there\n");
	return 0;
}

/* The one in force: it depends on what this host can count. */
static int print_filter(struct terminal *term, struct sandbox *sandbox,
			const struct error *unopened, struct error *err)
{
	const char *filter;

	if (!sandbox)
		*err = *unopened;
	else if (sandbox_wall(sandbox, "seccomp", &filter, err) == 0)
		term_out(term, filter, strlen(filter), err);
	return exit_code_of_error(err);
}

int cmd_doctor(const struct settings *settings, struct error *err)
{
	cleanup_json struct json *report = json_object();
	cleanup_sandbox struct sandbox *sandbox = NULL;

	if (settings->options->arg_count)
		return exit_code_of_error(
			(error_set(err, ERR_USAGE, "doctor takes no argument"), err));
	struct error unopened = ERROR_INIT;
	command_open_sandbox_to_look(&sandbox, &settings->policy, settings, &unopened);
	if (settings->options->given[OPT_SECCOMP].count)
		return print_filter(&settings->app->terminal, sandbox, &unopened, err);
	json_set_string(report, "version", ASSAY_VERSION);
	json_set_string(report, "sandbox", settings->policy.sandbox);
	bool ready;
	look_at_sandbox(sandbox, &unopened, report, &ready);
	json_set_bool(report, "ready", ready);
	look_at_languages(sandbox, report);
	json_set_string(report, "config", settings->config.found ? settings->config.path : NULL);
	json_set(report, "provider", provider_choice_json(settings));
	json_set(report, "keys", provider_keys_json(settings));
	look_at_log(settings, report);
	look_at_network(settings, report);
	if (tell(settings, report, err) < 0)
		return exit_code_of_error(err);
	return ready ? EXIT_OK : EXIT_SANDBOX;
}
