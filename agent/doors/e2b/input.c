/*
 * The input of commands of E2B's envd that take some: it comes with requests of its own, and the
 * program is given it when it asks (terminal.py), as a call that is recorded, and served again in a
 * replay. It is data, as it is everywhere: a command that would run it, as a terminal's shell does,
 * is screened as one that does so. Terminals have a size, too. Nothing here may wait for input to
 * come.
 */
#include "agent/doors/e2b/input.h"

#include "base/base64.h"
#include "base/mem.h"
#include "verifier/screen/screen.h"

#include <stdlib.h>
#include <string.h>

#define TOOL	  "input"
#define PIECE_MAX ((size_t)1 << 20) /* of input, in one answer */
#define CALLS_MAX 20000
#define BYTES_MAX ((int64_t)64 << 20)
#define SIDE_MAX  10000 /* of a terminal */

/* --- the end of the program's calls --- */

static int action(void *self, const char *name, struct error *err)
{
	(void)self;
	return !strcmp(name, TOOL) ?
		       SCREEN_ALLOW :
		       error_set(err, ERR_USAGE, "a command is given its input alone");
}

static const struct json *list(void *self, struct error *err)
{
	(void)err;
	return ((struct live_input *)self)->tools;
}

/* The next piece of what came, taken; NULL: there is none. Caller frees. */
static char *next_piece(struct live_input *in, size_t *ret_len)
{
	struct box_process *p = in->process;

	pthread_mutex_lock(&in->box->lock);
	*ret_len = p->input.len < PIECE_MAX ? p->input.len : PIECE_MAX;
	char *piece = *ret_len ? mem_strndup(p->input.data, *ret_len) : NULL;
	box_keep_less(in->box, &p->input, *ret_len);
	pthread_mutex_unlock(&in->box->lock);
	return piece;
}

/* Nothing of it waits: the program's output would, too. */
static int give(void *self, const char *name, const struct json *arguments, const struct stop *stop,
		struct json **ret, struct error *err)
{
	struct live_input *in = self;
	struct box_process *p = in->process;
	struct json *o = json_object();

	(void)name;
	(void)arguments;
	(void)stop;
	(void)err;
	size_t len;
	cleanup_free char *piece = next_piece(in, &len);
	cleanup_free char *text = base64_text(piece ? piece : "", len);
	if (piece)
		json_set_string(o, "data", text);
	pthread_mutex_lock(&in->box->lock);
	if (p->resized) {
		json_set_int(o, "cols", p->cols);
		json_set_int(o, "rows", p->rows);
		p->resized = false;
	}
	if (p->input_ended && !p->input.len)
		json_set_bool(o, "end", true);
	pthread_mutex_unlock(&in->box->lock);
	*ret = o;
	return 0;
}

void live_input_init(struct live_input *in, struct box *box, struct box_process *process)
{
	struct json *tool = json_object();

	json_set_string(tool, "name", TOOL);
	*in = (struct live_input){ .box = box, .process = process, .tools = json_array() };
	json_append(in->tools, tool);
	in->ops = (struct tool_ops){ .list = list,
				     .action = action,
				     .call = give,
				     .self = in,
				     .calls = CALLS_MAX,
				     .bytes = BYTES_MAX };
}

void live_input_release(struct live_input *in)
{
	json_free(TAKE_PTR(in->tools));
}

/* --- requests --- */

/* What is not said is as most have it; what is no whole number is none. */
static int64_t side(const struct json *size, const char *name, int64_t usual)
{
	bool said = json_type(json_get(size, name)) != JSON_NULL;

	return said ? json_get_int(size, name, 0) : usual;
}

bool input_read_size(const struct json *pty, struct box_process *p)
{
	const struct json *size = json_get(pty, "size");
	int64_t cols = side(size, "cols", 80), rows = side(size, "rows", 24);

	if (json_type(size) != JSON_OBJECT || cols < 1 || rows < 1 || cols > SIDE_MAX ||
	    rows > SIDE_MAX)
		return false;
	p->cols = cols;
	p->rows = rows;
	return true;
}

/* With the sandbox's lock held; NULL: it is taken. */
static const char *add(struct box *box, struct box_process *p, const char *text, bool *ret_full)
{
	cleanup_buf struct buf bytes = BUF_INIT(BOX_STDIN_MAX);

	if (!p->takes_input || p->input_ended)
		return "its input is closed";
	if (base64_decode(&bytes, text, strlen(text)) < 0)
		return "the input is no base64, or more than is taken";
	*ret_full = !box_keep(box, &p->input, bytes.data, bytes.len);
	return *ret_full ? "as much input waits as may: the command has not asked for it yet" :
			   NULL;
}

void e2b_input(struct exchange *x)
{
	const struct json *input = json_get(exchange_json(x), "input");
	const char *text = json_get_string(input, "stdin");
	struct box *box = exchange_box(x);
	const char *problem = NULL;
	bool full = false;

	pthread_mutex_lock(&box->lock);
	struct box_process *p = e2b_process(x);
	if (p && p->is_terminal)
		text = json_get_string(input, "pty");
	if (!text)
		problem = p && p->is_terminal ? "input.pty is missing" : "input.stdin is missing";
	else if (p)
		problem = add(box, p, text, &full);
	pthread_mutex_unlock(&box->lock);
	if (full)
		e2b_refuse(x, 429, "resource_exhausted", problem);
	else
		e2b_answer_process(x, p != NULL, problem);
}

void e2b_input_end(struct exchange *x)
{
	struct box *box = exchange_box(x);

	pthread_mutex_lock(&box->lock);
	struct box_process *p = e2b_process(x);
	if (p)
		p->input_ended = true;
	pthread_mutex_unlock(&box->lock);
	e2b_answer_process(x, p != NULL, NULL);
}

void e2b_resize(struct exchange *x)
{
	struct box *box = exchange_box(x);
	const char *problem = NULL;

	pthread_mutex_lock(&box->lock);
	struct box_process *p = e2b_process(x);
	if (p && !p->is_terminal)
		problem = "it has no terminal";
	else if (p && !input_read_size(json_get(exchange_json(x), "pty"), p))
		problem = "pty.size is cols and rows, each above zero";
	else if (p)
		p->resized = true;
	pthread_mutex_unlock(&box->lock);
	e2b_answer_process(x, p != NULL, problem);
}
