/*
 * From a reply to its program: fences first, other conventions where those hold none, then the
 * choice. It takes bytes as they stand and runs nothing.
 */
#include "verifier/reply/extract.h"

#include "base/mem.h"
#include "sandbox/sandbox.h"
#include "verifier/reply/choose.h"
#include "verifier/reply/convention.h"
#include "verifier/reply/fence.h"

#include <stdlib.h>
#include <string.h>

static const char *const status_names[] = {
	[EXTRACT_OK] = "ok",
	[EXTRACT_NONE] = "none",
	[EXTRACT_AMBIGUOUS] = "ambiguous",
	[EXTRACT_UNCLOSED] = "unclosed",
	[EXTRACT_TRUNCATED] = "truncated",
};

const char *extract_status_name(enum extract_status status)
{
	return status_names[status];
}

/* The first word of an info string: "python" of "python title=x", of
 * "{.python #id}" and of "python:main.py"; "py" of "main.py". */
static char *info_lang(const char *info)
{
	if (info[0] == '{')
		info += 1 + (info[1] == '.');
	size_t n = strcspn(info, " \t{},:");
	cleanup_free char *word = mem_strndup(info, n);
	const char *dot = strrchr(word, '.');
	const struct language *l = language_find(word);
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
	b->convention = CONVENTION_FENCE;
	b->code_len = f->code_len;
	b->code = TAKE_PTR(f->code);
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

/* Whether the fences leave something to be asked of the other conventions: they
 * hold no program, or what follows an opening that is perhaps a closing one. */
static bool fences_suffice(const struct extraction *x)
{
	const struct code_block *b = extraction_chosen(x);

	return b && (x->status == EXTRACT_OK || x->status == EXTRACT_TRUNCATED);
}

static void program_release(struct program *p)
{
	free(p->code);
	free(p->joined);
	*p = (struct program){ .code = NULL };
}

/* Blocks of another convention come after those of the fences, which stay as
 * they are; the choice falls among the new ones. */
static void take_blocks(struct extraction *x, const char *convention, struct code_block *blocks,
			size_t count, const struct extract_options *options)
{
	struct program program = { .code = NULL };
	enum extract_status status = choose_block(blocks, count, options, &program);

	x->blocks = mem_array(x->blocks, x->count + count, sizeof(*x->blocks));
	memcpy(x->blocks + x->count, blocks, count * sizeof(*blocks));
	if (program.code) {
		for (size_t i = 0; i < x->count; i++)
			x->blocks[i].chosen = false;
		program_release(&x->program);
		x->program = program;
		x->status = status;
		x->convention = convention;
	} else if (!x->program.code) {
		x->status = EXTRACT_AMBIGUOUS;
		x->convention = convention;
	}
	x->count += count;
}

static void read_conventions(struct extraction *x, const char *reply, size_t len,
			     const struct fence_list *list, const struct extract_options *options)
{
	struct convention_text text = {
		.reply = reply,
		.len = len,
		.from = list->answer_byte,
		.thinking_open = list->thinking_open,
		.fenced = x->blocks,
		.fenced_count = x->count,
		.has_program = x->program.code != NULL,
	};
	cleanup_free struct code_block *blocks = NULL;
	size_t count;

	const char *convention = convention_read(&text, &blocks, &count);
	if (count)
		take_blocks(x, convention, blocks, count, options);
	else if (!x->program.code && convention)
		x->convention = convention;
}

int extract_code(const char *reply, size_t len, const struct extract_options *options,
		 struct extraction *ret, struct error *err)
{
	static const struct extract_options no_options;
	cleanup_fences struct fence_list list = { 0 };
	struct extraction x = { 0 };

	options = options ? options : &no_options;
	if (find_fences(reply, len, &list, err))
		return -1;
	x.count = list.count;
	x.blocks = mem_alloc(list.count * sizeof(*x.blocks));
	for (size_t i = 0; i < list.count; i++)
		block_from_fence(&x.blocks[i], &list.fences[i]);
	x.status = choose_block(x.blocks, x.count, options, &x.program);
	x.convention = x.program.code ? CONVENTION_FENCE : NULL;
	if (!fences_suffice(&x))
		read_conventions(&x, reply, len, &list, options);
	*ret = x;
	return 0;
}

void extraction_release(struct extraction *x)
{
	for (size_t i = 0; i < x->count; i++) {
		free(x->blocks[i].lang);
		free(x->blocks[i].info);
		free(x->blocks[i].fence);
		free(x->blocks[i].why);
		free(x->blocks[i].code);
	}
	free(x->blocks);
	program_release(&x->program);
	*x = (struct extraction){ 0 };
}

const struct code_block *extraction_chosen(const struct extraction *x)
{
	for (size_t i = x->count; i-- > 0;)
		if (x->blocks[i].chosen)
			return &x->blocks[i];
	return NULL;
}

const struct code_block *extraction_tests(const struct extraction *x)
{
	/* The last, as for the program. */
	for (size_t i = x->count; i-- > 0;)
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
	json_set_string(o, "convention", b->convention);
	json_set_int(o, "start_line", (int64_t)b->start_line);
	json_set_int(o, "end_line", (int64_t)b->end_line);
	json_set_bool(o, "closed", b->closed);
	json_set_bool(o, "tests", b->tests);
	json_set_bool(o, "chosen", b->chosen);
	json_set_string(o, "run_as", b->run_as);
	json_set_string(o, "why", b->why);
	if (b->imports_only)
		json_set_bool(o, "imports_only", true);
	json_set_bytes(o, "code", b->code, b->code_len);
	return o;
}

struct json *extraction_json(const struct extraction *x)
{
	struct json *o = json_object(), *blocks = json_array();
	cleanup_json struct json *program = json_object();

	json_set_string(o, "status", extract_status_name(x->status));
	json_set_string(o, "convention", x->convention);
	for (size_t i = 0; i < x->count; i++)
		json_append(blocks, block_json(&x->blocks[i]));
	json_set(o, "blocks", blocks);
	/* Of one block it would only say again what the block does. */
	if (x->program.joined) {
		json_set_string(program, "lang", x->program.lang);
		json_set_string(program, "why", x->program.joined);
		json_set_bytes(program, "code", x->program.code, x->program.code_len);
		json_set(o, "program", TAKE_PTR(program));
	}
	return o;
}
