/*
 * CPU time where no control group counts it: read from /proc while a process lives, when it asks to
 * end, and charged at the most it can have been when it ended otherwise (README.md says why). What
 * was used may never be lost because nobody waited for who used it.
 */
#include "sandbox/native/keeper/ledger.h"

#include "sandbox/native/keeper/util.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SLOTS	  LEDGER_SLOTS
#define ROWS_FULL (SLOTS / 4 * 3)
#define ROWS_MANY (SLOTS / 2)

/* The row of the process, or the free one where it would be. */
static struct ledger_row *slot(struct ledger_page *page, pid_t pid)
{
	size_t at = (size_t)pid % SLOTS;

	while (page->rows[at].pid != 0 && page->rows[at].pid != pid)
		at = (at + 1) % SLOTS;
	return &page->rows[at];
}

/* NULL when there is no room: from then on nothing is known. */
static struct ledger_row *add(struct ledger *l, struct ledger_page *page, pid_t pid)
{
	struct ledger_row *row = slot(page, pid);

	if (row->pid == 0 && page->count == ROWS_FULL) {
		l->lost = true;
		return NULL;
	}
	page->count += row->pid == 0;
	row->pid = pid;
	return row;
}

/* Numbers of another pid namespace would be those of others. */
void ledger_start(struct ledger *l, long processors, int64_t now)
{
	memset(l, 0, sizeof(*l));
	l->counts = true;
	l->processors = processors;
	l->looked_us = l->started_us = now;
	l->born = 1; /* the guest itself */
	l->born_us = now;
	char self[32] = "";
	l->reads = readlink("/proc/self", self, sizeof(self) - 1) > 0 &&
		   strtol(self, NULL, 10) == (long)getpid();
}

int64_t ledger_us(const struct ledger *l)
{
	int64_t sure = l->known_us + l->live_us, all = sure + l->charged_us;
	int64_t most = l->processors * (l->looked_us - l->started_us);

	return all < most ? all : sure < most ? most : sure;
}

bool ledger_is_filling(const struct ledger *l)
{
	return l->counts && l->pages[l->current].count > ROWS_MANY;
}

/* --- what the keeper is asked --- */

static long number_after(const char *text, const char *key, bool last)
{
	const char *at = strstr(text, key);

	if (!at)
		return -1;
	at += strlen(key);
	const char *end = strchrnul(at, '\n');
	const char *tab =
		memrchr(at, '\t', (size_t)(end - at)); /* the innermost namespace is the last */
	return strtol(last && tab ? tab : at, NULL, 10);
}

static int64_t clock_us(pid_t pid)
{
	struct timespec t;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) < 0)
		return -1;
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void propose_end(struct ledger *l, pid_t thread)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%ld/status", (long)thread);
	char text[4096];
	if (!l->reads || file_read(AT_FDCWD, path, text, sizeof(text)) <= 0)
		return;
	l->ending = (struct ledger_row){
		.pid = (pid_t)number_after(text, "\nNStgid:", true),
		.threads = number_after(text, "\nThreads:", false),
		.us = clock_us((pid_t)number_after(text, "\nTgid:", false)),
		.at_us = now_us(),
	};
	/* Others may go on, or become another program, in which this thread ends alone. */
	l->ending.ended = l->ending.threads == 1;
	if (l->ending.pid > 1 && l->ending.us >= 0)
		l->asked = LEDGER_END;
}

void ledger_propose(struct ledger *l, pid_t thread, const char *call, uint64_t flags)
{
	l->asked = LEDGER_NOTHING;
	if (!l->counts)
		return;
	if (!strcmp(call, "exit_group"))
		propose_end(l, thread);
	else if (!strcmp(call, "clone") && (flags & CLONE_THREAD))
		l->asked = LEDGER_THREAD;
	else if (!strcmp(call, "clone") || !strcmp(call, "fork") || !strcmp(call, "vfork"))
		l->asked = LEDGER_BIRTH;
}

static void end(struct ledger *l)
{
	struct ledger_row *row = add(l, &l->pages[l->current], l->ending.pid);

	if (!row)
		return;
	if (row->at_us == 0)
		l->born--; /* it is one of those */
	if (row->ended)
		l->known_us += l->ending.us - row->us;
	else
		l->live_us += l->ending.us - row->us;
	if (!row->ended && l->ending.ended) {
		l->live_us -= l->ending.us;
		l->known_us += l->ending.us;
	}
	*row = l->ending;
}

void ledger_commit(struct ledger *l)
{
	if (l->asked == LEDGER_END)
		end(l);
	else if (l->asked == LEDGER_THREAD)
		l->threads_born = true;
	else if (l->asked == LEDGER_BIRTH && l->born++ <= 0)
		l->born_us = now_us();
	l->asked = LEDGER_NOTHING;
}

/* --- a look at all of them --- */

void ledger_begin(struct ledger *l)
{
	if (!l->counts)
		return;
	memset(&l->pages[1 - l->current], 0, sizeof(l->pages[0]));
	l->live_us = 0;
	l->begun_us = now_us();
}

/* Figures of /proc are whole ticks, of both kinds of time. */
static int64_t slack_us(void)
{
	return 2 * 1000000 / sysconf(_SC_CLK_TCK);
}

/* One that ended stays ended; should it go on after all, what it uses is seen here. */
void ledger_see(struct ledger *l, pid_t pid, long threads, int64_t us, bool zombie)
{
	if (!l->counts)
		return;
	struct ledger_row *had = slot(&l->pages[l->current], pid);
	struct ledger_row *row = add(l, &l->pages[1 - l->current], pid);
	if (!row)
		return;
	l->born -= had->pid == 0;
	row->us = us > had->us ? us : had->us;
	row->threads = threads;
	row->at_us = l->begun_us;
	row->ended = had->ended || zombie;
	if (had->ended)
		l->known_us += row->us - had->us;
	else if (zombie)
		l->known_us += row->us + slack_us();
	else
		l->live_us += row->us;
	had->seen = true;
}

/* It had so many threads at the last look, and may have made others. */
static int64_t most_us(const struct ledger *l, int64_t us, long threads)
{
	if (l->threads_born || threads > l->processors)
		threads = l->processors;
	return us * (threads > 1 ? threads : 1);
}

/* Of those that were seen and are no more. */
static int64_t charge_missing(struct ledger *l, int64_t now)
{
	const struct ledger_page *page = &l->pages[l->current];
	int64_t charge = 0;

	for (size_t i = 0; i < SLOTS; i++) {
		const struct ledger_row *row = &page->rows[i];

		if (row->pid == 0 || row->seen || row->ended)
			continue;
		l->known_us += row->us + slack_us();
		charge += most_us(l, now - row->at_us, row->threads);
	}
	return charge;
}

/* Of those that nobody saw. A fork that was granted may not be made yet: it has
 * until the next look. */
static int64_t charge_unseen(struct ledger *l, int64_t now)
{
	if (l->born < 0) { /* more than were granted since: the late ones came */
		l->late += l->born;
		l->born = 0;
	}
	int64_t charge = l->late > 0 ? most_us(l, now - l->late_us, 1) * l->late : 0;
	l->late = l->born;
	l->late_us = l->born_us;
	l->born = 0;
	return charge;
}

void ledger_settle(struct ledger *l)
{
	int64_t now = now_us(), since = l->looked_us;

	if (!l->counts)
		return;
	if (l->late > 0 && l->late_us < since)
		since = l->late_us;
	int64_t most = l->processors * (now - since);
	int64_t charge = charge_missing(l, now) + charge_unseen(l, now);
	l->charged_us += charge < most && !l->lost ? charge : most;
	l->threads_born = false;
	l->current = 1 - l->current;
	l->looked_us = now;
}
