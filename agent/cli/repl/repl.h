/* The conversation of a terminal session. Internal to agent/cli/. */
#ifndef AGENT_REPL_H
#define AGENT_REPL_H

#include "agent/cli/session.h"
#include "agent/cli/terminal/line.h"
#include "agent/cli/terminal/picture.h"

#define REPL_WHOLE_OUTPUT "/show output"

/* What the turns of /run and /edit are called, as far as their names begin. */
#define REPL_RAN    "The person ran the last program again"
#define REPL_EDITED "The person edited the last program, and ran it as it is below"

/* What a turn replaced, as it was. */
struct repl_before {
	struct task_file *files; /* owned; one without bytes: there was none */
	size_t count;
	size_t cells, from;	       /* of the context, before it */
	char run[ULID_LEN + 1];	       /* of the turn; "": not known */
	struct context_cell *replaced; /* in the context, by the turn's; owned; or NULL */
	bool asked;		       /* a question; else a /run or /edit, which has no last */
	bool unknown; /* what was in the context in place of this turn's is not known any more */
	struct loop_result last; /* the last result; owned */
	bool has_last;
	size_t before_last;
	char *code; /* the last program, before it was edited; owned; NULL: it was not */
};

struct lent;

struct repl {
	const struct settings *given;
	struct terminal *term; /* of its app */
	struct lent *lent;     /* owned; NULL: it lends nothing */
	struct session session;
	struct line_source lines; /* what the person types */
	char session_id[ULID_LEN + 1];
	struct task_turn *turns;    /* owned */
	struct repl_before *before; /* owned; of each turn */
	size_t turn_count;
	bool undone;		 /* the last question was taken back */
	bool own_turn;		 /* the last one is a /run or /edit, not a question */
	struct task files;	 /* attached, and the artifacts of turns before */
	struct context context;	 /* what their programs left */
	size_t before_last;	 /* how many cells it had before the last question */
	bool replaces;		 /* the turn to be kept stands for the last question's */
	bool fresh;		 /* each program starts from nothing */
	char *last_question;	 /* owned */
	struct loop_result last; /* of the last question that was not taken back */
	bool has_last;
	char *tag;	     /* owned */
	const char *tags[2]; /* it, as the loop is given it */
	int64_t cost_micro_usd;
	bool uncounted; /* a reply's tokens were not reported */
	struct llm_usage usage;
	bool asked_form; /* the terminal was asked how it shows pictures: */
	enum picture_form form;
	bool quit;
};

/* One question through the loop; the answer on stdout. */
void repl_ask(struct repl *r, const char *question);

/* "/name argument" */
void repl_command(struct repl *r, const char *line);

/* The nth command's name without its "/"; NULL after the last. */
const char *repl_command_name(size_t n);

/* --- agent/cli/repl/lend.c --- */

/* What --socket names; *ret is NULL without. To be opened before the session is, closed after. */
int lent_open(struct lent **ret, const struct settings *settings, struct error *err);
/* Waits for what runs there, unless a signal has come. NULL allowed. */
void lent_close(struct lent *l);

/* --- agent/cli/repl/context.c --- */

/* /context: what is sent, in tokens. */
void repl_context(struct repl *r, const char *argument);
/* The turn that /undo takes back is named. */
void repl_tell_undone(struct terminal *term, const struct task_turn *turn);
/* Takes up a conversation of the log as it was after that run, NULL: the last one; -1 with err when
 * there is none. */
int repl_continue(struct repl *r, const char *run, struct error *err);

/* --- agent/cli/repl/saved.c --- */

/* /open: a file that was saved of the last program, with the person's own opener. */
/* /save: the program of the last turn that was not taken back, to a file. */
void repl_save(struct repl *r, const char *path);
void repl_open(struct repl *r, const char *argument);
/* The figures that a result has, in the terminal. */
void repl_show_pictures(struct repl *r, const struct loop_result *result);
/* /copy: the answer, the code or the output to the clipboard. */
void repl_copy(struct repl *r, const char *argument);
void repl_offer_saved(struct repl *r, struct choices *c, const char *word);

/* --- agent/cli/repl/tools.c --- */

/* /tools: lists them; on, off. */
void repl_tools(struct repl *r, const char *argument);

/* --- agent/cli/repl/complete.c --- */

/* What Tab offers for the end of the line: a chooser's find, of a struct repl. */
void repl_choices(void *self, const char *line, struct choices *ret);

/* --- agent/cli/repl/files.c --- */

/* Every path that text names is attached; one that is already there is renewed. */
void repl_attach(struct repl *r, const char *text);
/* The file of that name, or those that a wildcard fits. */
void repl_detach(struct repl *r, const char *name);
void repl_list_file(struct terminal *term, const struct task_file *f);
/* What is attached is read again; false, with the error shown, when one cannot be. */
bool repl_renew_files(struct repl *r);
/* The question with each @FILE attached and called by its name under /in; who
 * names a file without is given a hint. NULL when one cannot be read. Owned. */
char *repl_take_files(struct repl *r, const char *question);
/* The line is nothing but paths of files that are there: dropped on the terminal. */
bool repl_is_dropped(const char *line);
/* Its place, or file_count. */
size_t repl_find_file(const struct repl *r, const char *name);
void repl_drop_file(struct repl *r, size_t at);

/* --- agent/cli/repl/turns.c --- */

/* The turn, and the files it wrote, for the questions to come. */
void repl_keep_turn(struct repl *r, const char *question, struct loop_result *result);
/* That turn was a question's, and this its result, taken: the one before waits for /undo. */
void repl_keep_last(struct repl *r, struct loop_result *result, size_t cells_before);
/* Without a last result, says why there is none. */
bool repl_need_last(const struct repl *r, const char *none);
/* The last turn is forgotten, and the files and the last result are as before it; false when
 * there is none. */
bool repl_undo_turn(struct repl *r);
/* The conversation and its files are forgotten. */
void repl_reset(struct repl *r);
/* What a program starts from that takes the place of the last question's: the context, as it
 * was before that; NULL: from nothing. *view is borrowed from r. */
const struct context *repl_before_last(const struct repl *r, struct context *view);

#endif
