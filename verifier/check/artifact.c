/*
 * What a program wrote under /out: presence, size, type by content, shape. A file's name proves
 * nothing of its type, and no file is parsed further than its shape needs.
 */
#include "verifier/check/kind.h"

#include "base/mem.h"
#include "verifier/check/png.h"

#include <fnmatch.h>
#include <string.h>
#include <strings.h>

static const struct {
	const char *word;
	const char *type; /* as the sandbox names it, by content */
	bool by_name;	  /* a file asked for by this extension must be one */
} types[] = {
	{ "png", "image/png", true },
	{ "jpeg", "image/jpeg", true },
	{ "jpg", "image/jpeg", true },
	{ "gif", "image/gif", true },
	{ "svg", "image/svg+xml", true },
	{ "pdf", "application/pdf", true },
	{ "json", "application/json", true },
	{ "zip", "application/zip", true },
	{ "xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", true },
	{ "csv", "text/csv", false },
	{ "html", "text/html", false },
	{ "text", "text/plain", false },
	{ "txt", "text/plain", false },
};

/* A member of another name or form would be a demand that nothing holds to. */
static bool member_known(const struct json *m)
{
	static const char *const texts[] = { "glob", "path", "name", "type" };
	static const char *const sizes[] = { "min_bytes", "max_bytes" };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (!strcmp(json_key(m), texts[i]))
			return json_string(m) && *json_string(m);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		if (!strcmp(json_key(m), sizes[i]))
			return json_number(m, -1) >= 0;
	return false;
}

static bool type_known(const char *type)
{
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (!strcasecmp(types[i].word, type))
			return true;
	return strchr(type, '/') != NULL; /* any other, by its MIME name */
}

static struct json *read_object(const struct json *arg)
{
	static const char *const names[] = { "glob", "path", "name" };
	const char *type = json_get_string(arg, "type");

	for (const struct json *m = json_first(arg); m; m = json_next(m))
		if (json_type(m) != JSON_NULL && !member_known(m))
			return NULL;
	const char *glob = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(names) && !glob; i++)
		glob = json_get_string(arg, names[i]);
	if (!glob || (type && !type_known(type)))
		return NULL;
	struct json *o = json_copy(arg);
	json_set_string(o, "glob", glob);
	return o;
}

struct json *check_artifact_read(const struct json *arg)
{
	struct error ignored = ERROR_INIT;
	cleanup_json struct json *written = NULL;
	const char *glob = json_string(arg);

	if (glob && *glob == '{') { /* an object, on the command line */
		written = json_parse(glob, strlen(glob), 0, &ignored);
		arg = written;
	}
	if (json_type(arg) == JSON_OBJECT)
		return read_object(arg);
	if (json_type(arg) != JSON_STRING || !glob || !*glob)
		return NULL;
	struct json *o = json_object();
	json_set_string(o, "glob", glob);
	return o;
}

/* What the extension in the glob promises; NULL when it promises nothing. */
static const char *type_by_name(const char *glob)
{
	const char *dot = strrchr(glob, '.');

	for (size_t i = 0; dot && i < ARRAY_SIZE(types); i++)
		if (types[i].by_name && !strcasecmp(types[i].word, dot + 1))
			return types[i].word;
	return NULL;
}

/* Fields of one record (RFC 4180), *at moved past it. */
static size_t csv_fields(const char *s, size_t len, size_t *at)
{
	size_t fields = 1, i = *at;
	bool quoted = false;

	for (; i < len; i++) {
		if (s[i] == '"')
			quoted = !quoted;
		else if (s[i] == ',' && !quoted)
			fields++;
		else if (s[i] == '\n' && !quoted)
			break;
	}
	*at = i < len ? i + 1 : len;
	return fields;
}

static const char *csv_fault(const char *s, size_t len)
{
	if (!len)
		return "is an empty CSV";
	size_t at = 0;
	size_t first = csv_fields(s, len, &at);
	size_t rows = 1;
	for (; at < len; rows++)
		if (csv_fields(s, len, &at) != first)
			return "is a CSV whose rows differ in their number of fields";
	return rows < 2 ? "is a CSV with a header and no row" : NULL;
}

static const char *json_fault(const char *s, size_t len)
{
	struct error err = ERROR_INIT;
	cleanup_json struct json *value = json_parse(s, len, JSON_BIG_AS_STRING, &err);

	return value ? NULL : "is not valid JSON";
}

static bool is_text(const char *type)
{
	return !strncmp(type, "text/", 5) || !strcmp(type, "application/json");
}

/* NULL when the content is of the type, else what is wrong with it. CSV, JSON
 * and plain text have no magic: any text may be asked to be one of them. */
static const char *type_fault(const struct sandbox_artifact *a, const char *word)
{
	const char *type = word, *bytes = a->bytes ? a->bytes : "";
	size_t len = a->bytes ? (size_t)a->size : 0;

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (!strcasecmp(types[i].word, word))
			type = types[i].type;
	if (!strcmp(type, "image/png"))
		return png_fault((const unsigned char *)bytes, len);
	if (!strcmp(type, "text/csv"))
		return is_text(a->type) ? csv_fault(bytes, len) : "is not text";
	if (!strcmp(type, "application/json"))
		return json_fault(bytes, len);
	if (!strcmp(type, "text/plain"))
		return is_text(a->type) ? NULL : "is not text";
	return strcmp(type, a->type) ? "is of another type by its content" : NULL;
}

static bool fits(const struct json *arg, const struct sandbox_artifact *a, struct buf *why)
{
	double min = json_get_number(arg, "min_bytes", 1),
	       max = json_get_number(arg, "max_bytes", -1);
	const char *type = json_get_string(arg, "type");

	if (!a->kept) {
		buf_addf(why, "%s was refused: %s", a->path, a->why_not ? a->why_not : "unknown");
		return false;
	}
	if ((double)a->size < min || (max >= 0 && (double)a->size > max)) {
		buf_addf(why, "%s has %llu bytes, expected ", a->path, (unsigned long long)a->size);
		if (max >= 0)
			buf_addf(why, "%.0f to %.0f.", min, max);
		else
			buf_addf(why, "at least %.0f.", min);
		return false;
	}
	if (!type)
		type = type_by_name(json_get_string(arg, "glob"));
	const char *fault = type ? type_fault(a, type) : NULL;
	if (fault) {
		buf_addf(why, "%s %s (expected %s, found %s).", a->path, fault, type, a->type);
		return false;
	}
	buf_addf(why, "%s: %s, %llu bytes.", a->path, a->type, (unsigned long long)a->size);
	return true;
}

enum verdict check_artifact_evaluate(const struct json *arg, const struct sandbox_result *result,
				     struct buf *why)
{
	const char *glob = json_get_string(arg, "glob");

	if (!strncmp(glob, "/out/", 5))
		glob += 5;
	size_t seen = 0;
	for (size_t i = 0; i < result->artifact_count; i++) {
		const struct sandbox_artifact *a = &result->artifacts[i];

		if (fnmatch(glob, a->path, 0) != 0)
			continue;
		if (seen++)
			buf_addch(why, ' ');
		if (fits(arg, a, why))
			return VERDICT_PASS;
	}
	if (!seen)
		buf_addf(why,
			 "Expected an artifact %.100s, but %zu file%s %s written to /out%s%.100s.",
			 glob, result->artifact_count, result->artifact_count == 1 ? "" : "s",
			 result->artifact_count == 1 ? "was" : "were",
			 result->artifact_count ? ", the first being " : "",
			 result->artifact_count ? result->artifacts[0].path : "");
	return VERDICT_FAIL;
}
