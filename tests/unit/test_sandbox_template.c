/* Templates of interpreters (sandbox/native/warm), with a keeper of the test's own. */
#include "tests/unit/test_template.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct stage_run run;
static int object;

static void figures(struct stage *s, const char *modules)
{
	char path[64], text[8192];
	struct rusage before, after;

	for (int n = 0; n < 3; n++) {
		int64_t t0 = now_us(), t1, t2;
		stage_prepare(&run);
		t1 = now_us();
		getrusage(RUSAGE_SELF, &before);
		if (stage_wait(s, &run) < 0)
			return;
		t2 = now_us();
		fprintf(stderr, "# %s: init %ld us, wait %ld us\n", modules, (long)(t1 - t0), (long)(t2 - t1));
		snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)s->template);
		snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)run.init, (int)run.init);
		file_read(AT_FDCWD, path, text, sizeof(text));
		int b = atoi(text);
		usleep(20000);
		snprintf(path, sizeof(path), "/proc/%d/schedstat", b);
		file_read(AT_FDCWD, path, text, sizeof(text));
		fprintf(stderr, "# pid %d waiting: cpu ns %s", b, text);
		snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)run.init);
		file_read(AT_FDCWD, path, text, sizeof(text));
		fprintf(stderr, "# init: cpu ns %s", text);
		snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", b);
		if (file_read(AT_FDCWD, path, text, sizeof(text)) > 0 && n == 0) {
			fprintf(stderr, "#%s", strstr(text, "Private_Clean"));
		}
		stage_go(s, &run, getenv("PROG") ? getenv("PROG") : "print(1)\n", getenv("PROG") ? strlen(getenv("PROG")) : 9, -1);
		fprintf(stderr, "# status %d out %s err %s: started %ld ended %ld cpu %ld flt %ld\n", run.status, run.text[0], run.text[1],
			(long)(run.started_us - run.gone_us), (long)(run.ended_us - run.gone_us), (long)(run.rusage.ru_utime.tv_usec + run.rusage.ru_stime.tv_usec), run.rusage.ru_minflt);
	}
	(void)after;
	stage_prepare(&run);
	stage_go(s, &run, getenv("PROG") ? getenv("PROG") : "print(1)\n", getenv("PROG") ? strlen(getenv("PROG")) : 9, -1);
	fprintf(stderr, "# COLD status %d out %s err %s: started %ld ended %ld cpu %ld flt %ld\n", run.status, run.text[0], run.text[1],
		(long)(run.started_us - run.gone_us), (long)(run.ended_us - run.gone_us), (long)(run.rusage.ru_utime.tv_usec + run.rusage.ru_stime.tv_usec), run.rusage.ru_minflt);
}

int main(int argc, char **argv)
{
	struct stage s;

	object = open("build/assay-warm.so", O_RDONLY | O_CLOEXEC);
	if (stage_enter(&s) < 0)
		return 1;
	if (stage_template(&s, object, argc > 1 ? argv[1] : NULL) < 0)
		return 1;
	figures(&s, argc > 1 ? argv[1] : "default");
	return 0;
}
