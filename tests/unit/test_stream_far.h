/* A far end of a stream that lies or dies, by the name of what it does. Included behind stream.c,
 * by the one program that is it. */
#ifndef TEST_STREAM_FAR_H
#define TEST_STREAM_FAR_H

static struct stream_writer out = { .fd = 1 };

static void say(enum stream_kind kind, unsigned which, const void *bytes, size_t len)
{
	if (stream_put(&out, kind, which, bytes, len) < 0 || stream_flush(&out) < 0)
		_exit(1);
}

static void say_hello(void)
{
	struct protocol_hello hello = { .kind = PROTOCOL_HELLO, .version = PROTOCOL_VERSION };
	char line[STREAM_LINE];

	stream_greeting(line);
	if (write(1, line, strlen(line)) < 0)
		_exit(1);
	say(STREAM_HELLO, 0, &hello, sizeof(hello));
}

static void wait_for_frame(enum stream_kind kind)
{
	static struct stream_reader in;

	for (;;) {
		struct stream_frame f;

		while (stream_next(&in, &f) > 0)
			if (f.kind == kind)
				return;
		if (stream_fill(&in) < 0)
			_exit(0);
	}
}

static void wait_for_end(void)
{
	wait_for_frame(STREAM_KINDS);
}

static struct stream_result good_result(void)
{
	return (struct stream_result){ .result = { .kind = PROTOCOL_RESULT, .has_status = 1 },
				       .left_len = STREAM_NO_LEFT };
}

static void say_result(struct stream_result r)
{
	say(STREAM_RESULT, 0, &r, sizeof(r));
}

static void say_left(struct protocol_left entry, const char *path, size_t len)
{
	struct stream_result r = good_result();
	static const char bytes[4096];

	entry.path_len = (uint32_t)strlen(path);
	say(STREAM_DATA, STREAM_LEFT, &entry, sizeof(entry));
	say(STREAM_DATA, STREAM_LEFT, path, strlen(path));
	say(STREAM_DATA, STREAM_LEFT, bytes, len);
	r.left_len = sizeof(entry) + strlen(path) + len;
	say_result(r);
}

static void flood(enum stream_which which)
{
	static const char bytes[STREAM_PIECE];

	for (;;)
		say(STREAM_DATA, which, bytes, sizeof(bytes));
}

/* What it says after a job has come and a guest has run, by its name. */
static bool say_after_start(const char *what)
{
	struct stream_result r = good_result();
	struct stream_header h = { .kind = STREAM_KINDS };

	if (!strcmp(what, "good")) {
		say_result(r);
	} else if (!strcmp(what, "dies")) {
		_exit(1);
	} else if (!strcmp(what, "complains")) {
		fprintf(stderr, "the cable \033[31mbroke\n");
		_exit(1);
	} else if (!strcmp(what, "ran-twice")) {
		say(STREAM_RAN, 0, NULL, 0);
	} else if (!strcmp(what, "lost-output")) {
		r.out_len = 1;
		say_result(r);
	} else if (!strcmp(what, "more-calls")) {
		r.result.forbidden_count = PROTOCOL_FORBIDDEN_MAX + 1;
		say_result(r);
	} else if (!strcmp(what, "short-result")) {
		say(STREAM_RESULT, 0, &r, sizeof(r) - 1);
	} else if (!strcmp(what, "no-kind")) {
		(void)!write(1, &h, sizeof(h));
	} else if (!strcmp(what, "too-long")) {
		h = (struct stream_header){ .kind = STREAM_DATA, .len = STREAM_PIECE + 1 };
		(void)!write(1, &h, sizeof(h));
	} else if (!strcmp(what, "a-request")) {
		say(STREAM_KILL, 0, &h, 4);
	} else if (!strcmp(what, "credit")) {
		say(STREAM_CREDIT, STREAM_LINK, "\377\377\377\377", 4);
	} else if (!strcmp(what, "list-flood")) {
		flood(STREAM_LEFT);
	} else if (!strcmp(what, "up")) {
		say_left((struct protocol_left){ .size = 4, .bytes_len = 4 }, "a/../../b", 4);
	} else if (!strcmp(what, "root")) {
		say_left((struct protocol_left){ .size = 4, .bytes_len = 4 }, "/etc/passwd", 4);
	} else if (!strcmp(what, "breaks-off")) {
		say_left((struct protocol_left){ .size = 5, .bytes_len = 5 }, "a", 4);
	} else if (!strcmp(what, "huge")) {
		say_left((struct protocol_left){ .size = UINT64_MAX, .bytes_len = UINT64_MAX }, "a",
			 4);
	} else if (!strcmp(what, "two-sizes")) {
		say_left((struct protocol_left){ .size = 9, .bytes_len = 4 }, "a", 4);
	} else if (!strcmp(what, "no-state")) {
		say_left((struct protocol_left){ .state = 77 }, "a", 0);
	} else {
		return false;
	}
	return true;
}

static void say_before_start(const char *what)
{
	struct stream_result r = good_result();

	if (!strcmp(what, "never-ran"))
		say_result(r);
	else if (!strcmp(what, "found"))
		say(STREAM_FOUND, 0, "/x", 2);
	else if (!strcmp(what, "list-first"))
		say(STREAM_DATA, STREAM_PAYLOAD, "x", 1);
}

static int be_far(const char *what)
{
	struct protocol_hello hello = { .kind = PROTOCOL_HELLO, .version = 99 };
	char line[STREAM_LINE];

	stream_greeting(line);
	if (!strcmp(what, "nothing"))
		return 0;
	if (!strcmp(what, "banner"))
		return puts("Welcome to \033[31mhost!") < 0;
	if (!strcmp(what, "version"))
		return puts("assay-stream 77 1 2 3 4 le") < 0;
	if (!strcmp(what, "endless-line"))
		for (;;)
			if (printf("aaaaaaaa") < 0 || fflush(stdout) != 0)
				return 0;
	if (!strcmp(what, "hello")) {
		(void)!write(1, line, strlen(line));
		say(STREAM_HELLO, 0, &hello, sizeof(hello));
		wait_for_end();
	}
	say_hello();
	wait_for_frame(STREAM_RUN);
	say_before_start(what);
	say(STREAM_RAN, 0, NULL, 0);
	if (say_after_start(what))
		wait_for_end();
	say(STREAM_DATA, STREAM_STDOUT, "started\n", 8);
	if (!strcmp(what, "flood"))
		flood(STREAM_STDOUT);
	if (!strcmp(what, "dies-when-told"))
		wait_for_frame(STREAM_KILL);
	else
		wait_for_end();
	return 0;
}

#endif
