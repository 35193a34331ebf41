/*
 * E2B's wire (e2b.dev: its control API, envd and code interpreter), as its unmodified clients speak
 * it. What they send is in tests/integration/full; here is what its files share.
 */
#ifndef AGENT_DOORS_E2B_H
#define AGENT_DOORS_E2B_H

#include "agent/doors/e2b/box.h"
#include "agent/doors/http/http.h"

extern const struct route e2b_control_routes[]; /* with a key; ends with a NULL method */
extern const struct route e2b_routes[];		/* for a sandbox, whose token lets in */

/* --- agent/doors/e2b/guests.c --- */
/* Of a server's options; boxes is borrowed as long as that one. */
void e2b_guests(struct guests *ret, struct boxes *boxes);
static inline struct boxes *e2b_boxes(const struct exchange *x)
{
	return server_options_of(exchange_server(x))->guests->self;
}
static inline struct box *exchange_box(const struct exchange *x) /* whom it is for */
{
	return exchange_guest(x);
}

/* --- agent/doors/e2b/control.c and list.c: sandboxes, with a key --- */
bool e2b_is_text_map(const struct json *map); /* an object of texts, or not there */
void e2b_create(struct exchange *x);
void e2b_list(struct exchange *x);
struct json *e2b_describe(const struct box *box); /* caller frees */
void e2b_show(struct exchange *x);
void e2b_kill(struct exchange *x);
void e2b_timeout(struct exchange *x);
void e2b_connect(struct exchange *x);
void e2b_fork(struct exchange *x);
void e2b_pause(struct exchange *x);
void e2b_metrics(struct exchange *x);
void e2b_health(struct exchange *x);
void e2b_not_here(struct exchange *x); /* what this API has, and a sandbox here has not */

/* --- agent/doors/e2b/languages.c --- */
struct e2b_language {
	const char *name;    /* of its row in sandbox/language.c */
	bool is_default;     /* a sandbox begins with a context of it */
	bool is_shell;	     /* commands are in it */
	const char *options; /* of its interpreter, that take nothing behind them, each with a blank
				around it; NULL: no program is handed to it */
	const char *text;    /* the one behind which the program itself stands */
	bool reads_on;	     /* options behind that are the interpreter's, too */
	/* What a context begins with, in that folder; NULL: nothing. Caller frees. */
	char *(*begin)(const char *cwd);
};
const struct e2b_language *e2b_language_at(size_t i);			  /* NULL past the last */
const struct e2b_language *e2b_language(const struct language *language); /* NULL: no row */
const struct language *e2b_shell(void);
const struct language *e2b_notebook(void); /* whose cells are a notebook's */

/* --- agent/doors/e2b/files.c, folders.c and multipart.c --- */
void e2b_file_read(struct exchange *x);
void e2b_file_write(struct exchange *x);
void e2b_dir_list(struct exchange *x);
void e2b_dir_make(struct exchange *x);
void e2b_stat(struct exchange *x);
void e2b_move(struct exchange *x);
void e2b_remove(struct exchange *x);
/* What is said of one; NULL: of the home itself. Caller frees. */
struct json *e2b_entry(const struct home_node *node);
/* Of that, what its writer said of it, if anything. */
void e2b_set_metadata(struct json *object, const struct home_node *node);
bool e2b_file_take(struct exchange *x, const char *bytes, size_t len); /* route.take */
/* The parts of a multipart body (RFC 7578), told of as it comes: that one begins, with its file
 * name, which the callee then owns, or NULL; some of its bytes; that all of them were there. One
 * that is not told of as whole was cut. */
struct multipart {
	char *boundary; /* owned */
	void (*begins)(void *self, char *name);
	void (*has)(void *self, const char *bytes, size_t len);
	void (*ends)(void *self);
	void *self;
	/* Its own functions' affair. */
	enum {
		MULTIPART_BEFORE,
		MULTIPART_BEHIND,
		MULTIPART_HEADERS,
		MULTIPART_BODY,
		MULTIPART_OVER
	} at;
	struct buf held;
	char *name;
};
/* type: a Content-Type. False: it is no multipart. */
bool multipart_init(struct multipart *m, const char *type);
void multipart_release(struct multipart *m);
void multipart_add(struct multipart *m, const char *bytes, size_t len);

/* --- agent/doors/e2b/kernels.c: contexts --- */
/* With the sandbox's lock held; NULL: there is none. */
struct box_context *e2b_find_context(struct box *box, const char *id);
bool e2b_execute_check(struct exchange *x);
void e2b_contexts(struct exchange *x);
void e2b_context_make(struct exchange *x);
void e2b_context_close(struct exchange *x);
void e2b_context_restart(struct exchange *x);

/* --- agent/doors/e2b/code.c and cell.c --- */
void e2b_execute(struct exchange *x, struct worker *w);
/* A cell as its language has it: lines of a shell (!command, %magic) become calls. What those
 * commands are goes to *ret_commands: each with a line end and a zero behind it, and a zero behind
 * the last one; NULL: there are none. Caller frees both. */
char *e2b_cell(const char *code, char **ret_commands);
/* A text with another in the place of a word of it. Caller frees. */
char *e2b_with_text(const char *text, const char *word, const char *other);
/* Ours, before the first cell of a notebook (begin.py); caller frees. */
char *e2b_begin_text(const struct worker *worker);

/* --- agent/doors/e2b/process.c --- */
bool e2b_start_check(struct exchange *x);
char *e2b_word(const char *word); /* of a shell, whatever is in it; caller frees */
void e2b_start(struct exchange *x, struct worker *w);
/* What a request for a command says (may be NULL: then err says why already): into p what of it is
 * borrowed, the program that runs it, and where that begins; both owned. */
int e2b_start_read(struct box *box, const struct json *request, struct box_process *p,
		   char **ret_code, char **ret_cwd, struct error *err);
void e2b_processes(struct exchange *x);
void e2b_signal(struct exchange *x);
/* The one that a request names, by pid or tag; with the sandbox's lock held. NULL: there is none.
 */
struct box_process *e2b_process(struct exchange *x);
void e2b_answer_process(struct exchange *x, bool found, const char *problem);

/* --- agent/doors/e2b/frame.c --- */
#define E2B_FRAME_END 2
/* The message of the first frame of a body; NULL with err. Caller frees. */
struct json *e2b_unframe(const char *bytes, size_t len, struct error *err);
/* A frame: a flag byte, the length in four, and JSON; takes message. */
void e2b_frame(struct buf *out, unsigned flag, struct json *message);
/* The same, as a part of the answer. */
void e2b_send_frame(struct exchange *x, unsigned flag, struct json *message);
/* The last one; code NULL: nothing is wrong. */
void e2b_send_last(struct exchange *x, const char *code, const char *problem);
struct json *e2b_last_message(const char *code, const char *problem); /* caller frees */

/* --- agent/doors/e2b/handed.c --- */
/* The one program that a command hands to an interpreter. */
struct handed {
	const struct language *language;
	char *path; /* below the home; owned; NULL: it stands in the command */
	char *code; /* owned */
	size_t len;
	uint64_t version; /* of its file */
	bool relative;	  /* path holds in that folder alone */
};
/* False: the command is another one, and there is nothing to release. cwd is where it begins. */
bool handed_read(struct handed *ret, struct box *box, const char *command, const char *cwd);
/* Whether names of programs stand for what they stand for everywhere. */
bool handed_is_usual(const char *const *env);
/* Beginnings of "NAME=" that are not so, as an array; caller frees. */
struct json *handed_unusual(void);
/* As if the program that is given variables had set them itself: ERR_DENIED. */
int handed_screen_env(struct worker *worker, int cancel_fd, const char *const *env,
		      struct error *err);
/* The first of a cell that is such a line alone, which then is to run as the returned one; NULL: it
 * is another one. Caller frees. */
char *handed_cell(struct handed *ret, struct box *box, const char *cell, const char *cwd);
void handed_release(struct handed *h);
#define cleanup_handed __attribute__((cleanup(handed_release)))
/* Whether what was screened is what the command is given. */
bool handed_is_given(const struct handed *h, const struct home_given *given);
/* Screens it, by the rules of its language (ERR_DENIED). *ret_allow: what is approved then of the
 * command; caller frees. */
int handed_screen(const struct handed *h, struct worker *worker, int cancel_fd, char **ret_allow,
		  struct error *err);

/* --- agent/doors/e2b/input.c --- */
void e2b_input(struct exchange *x);
void e2b_input_end(struct exchange *x);
void e2b_resize(struct exchange *x);

/* --- agent/doors/e2b/follow.c --- */
void e2b_follow(struct exchange *x, struct worker *w);
/* e2b_send_frame of a command's own request, which its followers have, too. */
void e2b_tell(struct exchange *x, struct box_process *p, unsigned flag, struct json *message);
/* To its followers alone. */
void e2b_tell_followers(struct exchange *x, struct box_process *p, unsigned flag,
			struct json *message);
struct json *e2b_keepalive(void); /* of a command; caller frees */
/* It has ended; with the sandbox's lock held. */
void e2b_told(struct box *box, struct box_process *p);

/* --- agent/doors/e2b/watch.c --- */
void e2b_watch(struct exchange *x, struct worker *w);
void e2b_watcher_make(struct exchange *x);
void e2b_watcher_ask(struct exchange *x);
void e2b_watcher_remove(struct exchange *x);

/* --- agent/doors/e2b/left.c: what programs and files share --- */
/* Merges what a run left into the sandbox's files, by what it was given of them. *ret_lost: what
 * was not kept, in words, or NULL; owned. The changes of the home that are then in what ran, too;
 * 0: others made some meanwhile. */
uint64_t e2b_take_files(struct box *box, const struct loop_result *result,
			const struct home_given *given, const char *context, size_t cell,
			char **ret_lost);
/* Whether a program of that language may run, as far as its rules see: ERR_DENIED says why not, of
 * what. allow: rules that are approved beforehand, or NULL. */
int e2b_screen(struct worker *worker, int cancel_fd, const struct language *language,
	       const char *what, const char *code, size_t len, const char *allow,
	       struct error *err);
/* The same of each of a cell's lines of a shell, as e2b_cell has them: each is a program of its
 * own. */
int e2b_screen_commands(struct worker *worker, int cancel_fd, const char *commands,
			const char *allow, struct error *err);
/* What the cell is told of them, that they may run, as a file of this name (begin.py): handed, in
 * this cell alone. commands may be NULL. */
void e2b_add_commands(struct task *task, const char *name, const char *commands, bool handed);
/* What a cell says of its results and its error (begin.py), secrets taken out; NULL: nothing.
 * *ret_lost: why it is not told, in words, or NULL. Caller frees the first. */
struct json *e2b_report(const struct worker *worker, const struct loop_result *result,
			const char **ret_lost);
/* The same of the bytes that it left, with whatever secrets they have. */
struct json *e2b_read_report(const char *bytes, size_t len, const char **ret_lost);
/* A file that is too large for a copy (home_shows): what it is called below /in, owned, and as an
 * input of a task. */
char *e2b_shown_name(const struct home_node *node);
int e2b_show_file(struct task *task, const char *name, const struct home_node *node,
		  struct error *err);
/* The bytes of a file that it left. */
const char *e2b_artifact(const struct loop_result *result, const char *path, size_t *ret_len);
/* A time as their documents have it, in UTC. */
void e2b_set_time(struct json *object, const char *key, int64_t ms);
/* That output was cut, as a line; NULL: it was not. Caller frees. */
char *e2b_cut(const struct loop_result *r);
void e2b_free_variables(char **list); /* with a NULL behind them, and itself; NULL allowed */
/* An error as Connect has it: of a unary call. */
void e2b_refuse(struct exchange *x, unsigned status, const char *code, const char *message);

#endif
