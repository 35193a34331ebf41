/*
 * Which pages a short life of an interpreter needs: most of those that Python writes to are written
 * when it ends, for it lets go of all it has, and each would cost a fault while somebody waits. A
 * child of the template lives such a life, runs nothing but two lines of ours, and says what it
 * wrote to; who waits for a program has those made ready. Without it all works, but slower.
 */
#include "sandbox/native/warm/warm.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define RANGES_MAX 4096
#define PAGE	   4096u
#define AT_ONCE	   512 /* pages looked at */

/* From the kernel's pagemap: the page is there, and no other process has it. What is only read is
 * mapped sixteen pages at a time when it is needed, which costs less than to have all of it here.
 */
#define PRESENT	  (1ull << 63)
#define EXCLUSIVE (1ull << 56)

/* Newer than the headers of the oldest build host; before 5.14 refused. */
#define POPULATE_WRITE 23

struct range {
	uintptr_t start;
	size_t pages;
};

static struct range ranges[RANGES_MAX];
static size_t range_count;

/* In the child: the next page, to what is being put together. */
static void add(struct range *last, int out, uintptr_t page)
{
	if (last->start + last->pages * (uintptr_t)PAGE == page) {
		last->pages++;
		return;
	}
	if (last->pages > 0)
		(void)!write(out, last, sizeof(*last));
	*last = (struct range){ .start = page, .pages = page != 0 };
}

static void look_at_map(struct range *last, int out, int pagemap, const char *line)
{
	static uint64_t entries[AT_ONCE];
	unsigned long from, to;
	char mode[8];

	if (sscanf(line, "%lx-%lx %7s", &from, &to, mode) != 3 || mode[3] != 'p' || mode[1] != 'w')
		return;
	while (from < to) {
		size_t want = (to - from) / PAGE < AT_ONCE ? (to - from) / PAGE : AT_ONCE;
		ssize_t n = pread(pagemap, entries, want * sizeof(entries[0]),
				  (off_t)(from / PAGE * sizeof(entries[0])));

		if (n <= 0)
			return;
		for (size_t i = 0; i < (size_t)n / sizeof(entries[0]); i++, from += PAGE)
			if ((entries[i] & (PRESENT | EXCLUSIVE)) == (PRESENT | EXCLUSIVE))
				add(last, out, from);
	}
}

static void live(int out) __attribute__((noreturn));
static void live(int out)
{
	static char line[512];
	struct range last = { .pages = 0 };

	python_live();
	int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	FILE *maps = fopen("/proc/self/maps", "re");
	while (pagemap >= 0 && maps && fgets(line, sizeof(line), maps))
		look_at_map(&last, out, pagemap, line);
	add(&last, out, 0);
	_exit(0);
}

void rehearse(void)
{
	char *next = (char *)ranges;
	size_t left = sizeof(ranges);
	int tell[2];

	if (pipe2(tell, O_CLOEXEC) < 0)
		return;
	python_before_fork();
	pid_t pid = fork();
	if (pid == 0)
		live(tell[1]);
	python_after_fork();
	close(tell[1]);
	ssize_t n;
	while (pid > 0 && left > 0 && (n = read(tell[0], next, left)) > 0) {
		next += n;
		left -= (size_t)n;
	}
	close(tell[0]);
	range_count = (sizeof(ranges) - left) / sizeof(ranges[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

void rehearsed_make_ready(void)
{
	for (size_t i = 0; i < range_count; i++) {
		void *start;

		memcpy(&start, &ranges[i].start, sizeof(start));
		madvise(start, (size_t)ranges[i].pages * PAGE, POPULATE_WRITE);
	}
}
