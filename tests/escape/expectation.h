/*
 * What the header of a case says must come of it: README has its words, a line of each is
 * "# key: value". What a word is not known of is a note for who reads the case.
 */
#ifndef TESTS_ESCAPE_EXPECTATION_H
#define TESTS_ESCAPE_EXPECTATION_H

#include "base/buf.h"
#include "base/mem.h"
#include "sandbox/sandbox.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARTIFACTS 8

/* What must happen where a controller is not to be had. */
struct fallback {
	char outcome[32]; /* "": the same */
	int exit_code;
};

struct expectation {
	char threat[128], outcome[32], forbidden[256], forbidden_arch[16], arch[16], truncated[8],
		alone[128], gvisor[160], gvisor_out[160];
	int exit_code, signal;
	int64_t slower_ms, overshoot_ms, cpu_below_ms, peak_below_mib, our_memory_mib, kept_bytes,
		stdin_mib, tries;
	struct fallback without_memory, without_pids, without_cpu;
	char artifacts[ARTIFACTS][128];
	size_t artifact_count;
	struct buf out;
	bool has_out;
	struct sandbox_limits limits;
};

static const struct {
	const char *name;
	size_t offset;
	int64_t unit;
} limit_names[] = {
	{ "wall_ms", offsetof(struct sandbox_limits, wall_ms), 1 },
	{ "cpu_ms", offsetof(struct sandbox_limits, cpu_ms), 1 },
	{ "memory_mib", offsetof(struct sandbox_limits, memory_bytes), 1 << 20 },
	{ "processes", offsetof(struct sandbox_limits, processes), 1 },
	{ "open_files", offsetof(struct sandbox_limits, open_files), 1 },
	{ "disk_mib", offsetof(struct sandbox_limits, disk_bytes), 1 << 20 },
	{ "inodes", offsetof(struct sandbox_limits, inodes), 1 },
};

static void set_limits(struct sandbox_limits *limits, char *text)
{
	char *save = NULL;

	for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		size_t n = strcspn(word, "=");

		for (size_t i = 0; i < ARRAY_SIZE(limit_names); i++) {
			int64_t value = strtoll(word + n + 1, NULL, 10) * limit_names[i].unit;

			if (!strncmp(word, limit_names[i].name, n) &&
			    limit_names[i].name[n] == '\0')
				memcpy((char *)limits + limit_names[i].offset, &value,
				       sizeof(value));
		}
	}
}

static const struct {
	const char *name;
	size_t offset, size;
} text_names[] = {
	{ "threat", offsetof(struct expectation, threat), 128 },
	{ "outcome", offsetof(struct expectation, outcome), 32 },
	{ "forbidden", offsetof(struct expectation, forbidden), 256 },
	{ "forbidden-arch", offsetof(struct expectation, forbidden_arch), 16 },
	{ "arch", offsetof(struct expectation, arch), 16 },
	{ "truncated", offsetof(struct expectation, truncated), 8 },
	{ "alone", offsetof(struct expectation, alone), 128 },
	{ "gvisor", offsetof(struct expectation, gvisor), 160 },
	{ "gvisor-out", offsetof(struct expectation, gvisor_out), 160 },
};

static const struct {
	const char *name;
	size_t offset;
} number_names[] = {
	{ "slower", offsetof(struct expectation, slower_ms) },
	{ "overshoot", offsetof(struct expectation, overshoot_ms) },
	{ "cpu-below", offsetof(struct expectation, cpu_below_ms) },
	{ "peak-below-mib", offsetof(struct expectation, peak_below_mib) },
	{ "our-memory-mib", offsetof(struct expectation, our_memory_mib) },
	{ "kept-bytes", offsetof(struct expectation, kept_bytes) },
	{ "stdin-mib", offsetof(struct expectation, stdin_mib) },
	{ "tries", offsetof(struct expectation, tries) },
};

static void set_fallback(struct fallback *f, const char *value)
{
	size_t n = strcspn(value, " ");

	snprintf(f->outcome, sizeof(f->outcome), "%.*s", (int)n, value);
	f->exit_code = atoi(value + n);
}

static void set_key(struct expectation *e, const char *key, char *value)
{
	static const char with_packages[] = "packages-";

	if (!strncmp(key, with_packages, strlen(with_packages))) {
		if (!getenv("ASSAY_TEST_MODULES"))
			return;
		key += strlen(with_packages);
	}
	for (size_t i = 0; i < ARRAY_SIZE(text_names); i++)
		if (!strcmp(key, text_names[i].name))
			snprintf((char *)e + text_names[i].offset, text_names[i].size, "%s", value);
	for (size_t i = 0; i < ARRAY_SIZE(number_names); i++)
		if (!strcmp(key, number_names[i].name))
			memcpy((char *)e + number_names[i].offset, &(int64_t){ atoll(value) },
			       sizeof(int64_t));
	if (!strcmp(key, "exit"))
		e->exit_code = atoi(value);
	else if (!strcmp(key, "signal"))
		e->signal = atoi(value);
	else if (!strcmp(key, "without-memory"))
		set_fallback(&e->without_memory, value);
	else if (!strcmp(key, "without-pids"))
		set_fallback(&e->without_pids, value);
	else if (!strcmp(key, "without-cpu"))
		set_fallback(&e->without_cpu, value);
	else if (!strcmp(key, "limit"))
		set_limits(&e->limits, value);
	else if (!strcmp(key, "artifact") && e->artifact_count < ARTIFACTS)
		snprintf(e->artifacts[e->artifact_count++], sizeof(e->artifacts[0]), "%s", value);
	else if (!strcmp(key, "out")) {
		e->has_out = true;
		buf_addf(&e->out, "%s\n", value);
	}
}

/* The header ends at the first line that is no "# key: value". */
static inline void read_header(const char *code, struct expectation *e)
{
	*e = (struct expectation){ .outcome = "exit", .out = BUF_INIT(65536) };
	sandbox_limits_default(&e->limits);
	for (const char *line = code; *line == '#' || *line == '/';) {
		size_t skip = *line == '#' ? 1 : 2, len = strcspn(line, "\n");
		cleanup_free char *text = mem_strndup(line + skip, len - skip);
		char *key = text + strspn(text, " "), *colon = strstr(key, ": ");

		if (colon) {
			*colon = '\0';
			set_key(e, key, colon + 2);
		}
		line += len + (line[len] == '\n');
	}
}

#endif
