/* The CPU time of a run's processes, where no control group counts it. */
#ifndef SANDBOX_KEEPER_LEDGER_H
#define SANDBOX_KEEPER_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define LEDGER_SLOTS 4096 /* of processes between two looks: more, and nothing is known */

struct ledger_row {
	pid_t pid; /* of the run's namespace; 0: none */
	long threads;
	int64_t us, at_us; /* what it had used then */
	bool ended;	   /* and it can use no more */
	bool seen;	   /* at the look that is going on */
};

struct ledger_page {
	struct ledger_row rows[LEDGER_SLOTS];
	size_t count;
};

enum ledger_asked { LEDGER_NOTHING, LEDGER_BIRTH, LEDGER_THREAD, LEDGER_END };

/* The CPU time of a run's processes, where no control group counts it. */
struct ledger {
	bool counts;
	bool reads; /* /proc has the numbers we have */
	bool lost;  /* there were too many */
	long processors;
	int64_t started_us, looked_us, begun_us; /* the last look; that going on */
	int64_t live_us;			 /* of those that live */
	int64_t known_us;			 /* of those that do not */
	int64_t charged_us;			 /* what these may have used besides */
	int64_t born, born_us; /* granted since the last look, less those met; the first's time */
	int64_t late, late_us; /* the same of the look before */
	bool threads_born;
	enum ledger_asked asked; /* what is about to be granted */
	struct ledger_row ending;
	struct ledger_page pages[2]; /* what the last look saw, and ends since; the next's */
	int current;
};

void ledger_start(struct ledger *l, long processors, int64_t now);
/* A call that will be let go on: what it says counts when it was, by commit. */
void ledger_propose(struct ledger *l, pid_t thread, const char *call, uint64_t flags);
void ledger_commit(struct ledger *l);
/* A look: each process but init between begin and settle. */
void ledger_begin(struct ledger *l);
void ledger_see(struct ledger *l, pid_t pid, long threads, int64_t us, bool zombie);
void ledger_settle(struct ledger *l);
/* At least what the processes used till the last look. */
int64_t ledger_us(const struct ledger *l);
/* The next look should be now. */
bool ledger_is_filling(const struct ledger *l);

#endif
