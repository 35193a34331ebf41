#include "verifier/extract.h"

#include "base/mem.h"
#include "sandbox/sandbox.h"
#include "verifier/choose.h"
#include "verifier/fence.h"
#include "verifier/newline.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *const status_names[] = {
	[EXTRACT_OK] = "ok", [EXTRACT_NONE] = "none", [EXTRACT_AMBIGUOUS] = "ambiguous",
	[EXTRACT_UNCLOSED] = "unclosed", [EXTRACT_TRUNCATED] = "truncated",
};

const char *extract_status_name(enum extract_status status)
{
	return status_names[status];
}

/* The first word of an info string: "python" of "python title=x", of
 * "{.python #id}" and of "python:main.py"; "py" of "main.py". */
static char *info_lang(const char *info)
{
	cleanup_free char *word = NULL;
	const struct language *l;
	const char *dot;
	size_t n;

	if (info[0] == '{')
		info += 1 + (info[1] == '.');
	n = strcspn(info, " \t{},:");
	word = mem_strndup(info, n);
	dot = strrchr(word, '.');
	l = language_find(word);
	if (!l && dot && dot[1])
		l = language_find(dot + 1);
	return l ? mem_strdup(l->name) : TAKE_PTR(word);
}

static void block_from_fence(struct code_block *b, struct fence *f)
{
	size_t marker = f->marker_len < 64 ? f->marker_len : 64;

	b->info = TAKE_PTR(f->info);
	b->lang = info_lang(b->info);
	b->fence = mem_alloc(marker + 1);
	memset(b->fence, f->marker, marker);
	b->start_line = f->start_line;
	b->end_line = f->end_line;
	b->start_byte = f->start_byte;
	b->end_byte = f->end_byte;
	b->closed = f->closed;
	b->code_len = f->code_len;
	b->code = TAKE_PTR(f->code);
}

/* The whole reply as one block, when it is code and nothing else. */
static void add_bare(struct extraction *x, const char *reply, size_t len, size_t from)
{
	size_t start = from, end = len;
	struct code_block *b;

	while (start < end && isspace((unsigned char)reply[start]))
		start++;
	while (end > start && isspace((unsigned char)reply[end - 1]))
		end--;
	if (!choose_guess(reply + start, end - start))
		return;
	x->blocks = mem_alloc(sizeof(*x->blocks));
	x->count = 1;
	b = &x->blocks[0];
	b->info = mem_strdup("");
	b->lang = mem_strdup("");
	b->fence = mem_strdup("");
	b->start_line = 1 + count_newlines(reply, start);
	b->end_line = 1 + count_newlines(reply, end);
	b->start_byte = start;
	b->end_byte = end;
	b->closed = true;
	b->code_len = end - start + 1;
	b->code = mem_alloc(b->code_len + 1);
	memcpy(b->code, reply + start, end - start);
	b->code[end - start] = '\n';
}

static int find_fences(const char *reply, size_t len, struct fence_list *ret, struct error *err)
{
	cleanup_fences struct fence_list list = { 0 };

	if (fence_scan(reply, len, FENCE_SKIP_THINKING, &list, err))
		return -1;
	/* By the letter, a line <answer> makes raw HTML of the fence below it.
	 * A reply without any other fence meant that one as code. */
	if (!list.count && list.tag_seen) {
		fence_list_release(&list);
		if (fence_scan(reply, len, FENCE_SKIP_THINKING | FENCE_TAGS_TRANSPARENT, &list,
			       err))
			return -1;
	}
	*ret = list;
	list = (struct fence_list){ 0 };
	return 0;
}

int extract_code(const char *reply, size_t len, const struct extract_options *options,
		 struct extraction *ret, struct error *err)
{
	static const struct extract_options no_options;
	cleanup_fences struct fence_list list = { 0 };
	struct extraction x = { 0 };
	size_t i;

	if (find_fences(reply, len, &list, err))
		return -1;
	x.count = list.count;
	x.blocks = mem_alloc(list.count * sizeof(*x.blocks));
	for (i = 0; i < list.count; i++)
		block_from_fence(&x.blocks[i], &list.fences[i]);
	if (!x.count && !list.thinking_open) {
		free(x.blocks);
		x.blocks = NULL;
		add_bare(&x, reply, len, list.answer_byte);
	}
	x.status = choose_block(x.blocks, x.count, options ? options : &no_options);
	*ret = x;
	return 0;
}

void extraction_release(struct extraction *x)
{
	size_t i;

	for (i = 0; i < x->count; i++) {
		free(x->blocks[i].lang);
		free(x->blocks[i].info);
		free(x->blocks[i].fence);
		free(x->blocks[i].why);
		free(x->blocks[i].code);
	}
	free(x->blocks);
	*x = (struct extraction){ 0 };
}

const struct code_block *extraction_chosen(const struct extraction *x)
{
	size_t i;

	for (i = 0; i < x->count; i++)
		if (x->blocks[i].chosen)
			return &x->blocks[i];
	return NULL;
}

const struct code_block *extraction_tests(const struct extraction *x)
{
	size_t i;

	/* The last, as for the program. */
	for (i = x->count; i-- > 0;)
		if (x->blocks[i].tests && x->blocks[i].closed)
			return &x->blocks[i];
	return NULL;
}

static struct json *block_json(const struct code_block *b)
{
	struct json *o = json_object();

	json_set_string(o, "lang", b->lang);
	json_set_bytes(o, "info", b->info, strlen(b->info));
	json_set_string(o, "fence", b->fence);
	json_set_int(o, "start_line", (int64_t)b->start_line);
	json_set_int(o, "end_line", (int64_t)b->end_line);
	json_set_bool(o, "closed", b->closed);
	json_set_bool(o, "tests", b->tests);
	json_set_bool(o, "chosen", b->chosen);
	json_set_string(o, "run_as", b->run_as);
	json_set_string(o, "why", b->why);
	json_set_bytes(o, "code", b->code, b->code_len);
	return o;
}

struct json *extraction_json(const struct extraction *x)
{
	struct json *o = json_object(), *blocks = json_array();
	size_t i;

	json_set_string(o, "status", extract_status_name(x->status));
	for (i = 0; i < x->count; i++)
		json_append(blocks, block_json(&x->blocks[i]));
	json_set(o, "blocks", blocks);
	return o;
}
