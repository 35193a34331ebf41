/*
 * Blocks that are one program only together: those a later one needs names of, and suites that go
 * on. It moves no line; what is joined keeps the order of the reply.
 */
#include "verifier/reply/join.h"

#include "base/buf.h"
#include "base/mem.h"
#include "verifier/lang/lang.h"

#include <stdlib.h>
#include <string.h>

/* --- a suite that goes on --- */

static void add_chain(const struct join *j, size_t i, struct buf *out)
{
	if (j->head[i])
		add_chain(j, j->head[i] - 1, out);
	buf_add(out, j->blocks[i].code, j->blocks[i].code_len);
}

static void join_to(struct join *j, size_t head, size_t i)
{
	struct buf both = BUF_INIT((size_t)1 << 20);

	add_chain(j, head, &both);
	buf_add(&both, j->blocks[i].code, j->blocks[i].code_len);
	if (!both.overflow) {
		struct outline whole;

		outline_read(j->lang, both.data, both.len, &whole);
		if (whole.known && !whole.fault) {
			j->head[i] = head + 1;
			j->outlines[i].fault = NULL;
			j->outlines[i].visible = whole.visible;
			j->outlines[i].defines = true;
		}
		outline_release(&whole);
	}
	buf_release(&both);
}

static size_t tail_of(const struct join *j, size_t i)
{
	for (size_t k = i + 1; k < j->count; k++)
		if (j->head[k] == i + 1)
			return tail_of(j, k);
	return i;
}

void join_continuations(struct join *j)
{
	for (size_t i = 1; i < j->count; i++) {
		size_t k;

		if (!j->usable[i] || !j->outlines[i].indented)
			continue;
		for (k = i; k-- > 0;)
			if (j->usable[k] && j->outlines[k].open_suite && !j->outlines[k].fault)
				break;
		if (k < i)
			join_to(j, tail_of(j, k), i);
	}
}

/* --- names --- */

static void say(struct code_block *b, char *why)
{
	free(b->why);
	b->why = why;
	b->chosen = true;
}

static void take_heads(struct join *j, size_t i, bool *taken)
{
	size_t head;

	for (; j->head[i]; i = head) {
		head = j->head[i] - 1;
		if (taken[head])
			return;
		taken[head] = true;
		say(&j->blocks[head],
		    mem_printf("the block at line %zu goes on inside it", j->blocks[i].start_line));
	}
}

/* Whatever goes on inside a block that runs belongs to it. */
static void take_tails(struct join *j, size_t main, bool *taken)
{
	for (size_t i = 1; i < main; i++) {
		if (taken[i] || !j->head[i] || !taken[j->head[i] - 1])
			continue;
		taken[i] = true;
		say(&j->blocks[i], mem_printf("it goes on inside the block at line %zu, which runs",
					      j->blocks[j->head[i] - 1].start_line));
	}
}

static bool takes(struct join *j, size_t later, size_t earlier, const bool *taken)
{
	struct code_block *b = &j->blocks[earlier];

	const struct outline_name *name =
		outline_missing(j->outlines, taken, later, earlier, NAME_GIVEN);
	if (!name)
		return false;
	const struct outline_name *more =
		outline_missing(j->outlines, taken, later, earlier, NAME_DEFINED | NAME_ASSIGNED);
	/* Method 2 uses what method 1 imports: that is all it needs of it. */
	b->imports_only =
		!more && j->outlines[earlier].visible && lang_find(j->lang)->reply.imports_apart;
	const char *what = "";
	if (b->imports_only)
		what = "only its imports: ";
	name = more ? more : name;
	say(b,
	    mem_printf("%sthe block at line %zu needs its `%.*s`", what,
		       j->blocks[later].start_line, name->len > 60 ? 60 : (int)name->len, name->s));
	return true;
}

static void take_needed(struct join *j, size_t main, bool *taken)
{
	for (size_t later = main + 1; later-- > 0;) {
		if (!taken[later] || j->blocks[later].imports_only)
			continue;
		take_heads(j, later, taken);
		for (size_t earlier = later; earlier-- > 0;)
			if (j->usable[earlier] && !taken[earlier] &&
			    takes(j, later, earlier, taken))
				taken[earlier] = true;
	}
}

/* --- the program --- */

static bool is_import(const char *line, size_t len)
{
	return (len > 7 && !memcmp(line, "import ", 7)) || (len > 5 && !memcmp(line, "from ", 5));
}

/* Whole statements: an import in brackets goes on over lines. */
static void add_imports(struct buf *out, const struct code_block *b)
{
	const char *line = b->code, *end = b->code + b->code_len, *next;
	bool inside = false;

	for (; line < end; line = next) {
		const char *nl = memchr(line, '\n', (size_t)(end - line));
		next = nl ? nl + 1 : end;
		if (!inside && !is_import(line, (size_t)(next - line)))
			continue;
		if (!inside)
			inside = memchr(line, '(', (size_t)(next - line)) != NULL;
		if (inside)
			inside = !memchr(line, ')', (size_t)(next - line));
		buf_add(out, line, (size_t)(next - line));
	}
}

static void add_part(struct buf *out, const struct code_block *b)
{
	if (out->len && out->data[out->len - 1] != '\n')
		buf_addch(out, '\n');
	if (b->imports_only)
		add_imports(out, b);
	else
		buf_add(out, b->code, b->code_len);
}

static char *describe(const struct join *j, const bool *taken)
{
	struct buf out = BUF_INIT((size_t)64 << 10);

	buf_addstr(&out, "Joined from several blocks.");
	for (size_t i = 0; i < j->count; i++)
		if (taken[i])
			buf_addf(&out, " Line %zu: %s.", j->blocks[i].start_line, j->blocks[i].why);
	return buf_take(&out, NULL);
}

void join_program(struct join *j, size_t main, struct program *ret)
{
	cleanup_free bool *taken = mem_alloc(j->count * sizeof(*taken));
	struct buf code = BUF_INIT(BUF_MAX_DEFAULT);

	taken[main] = true;
	j->blocks[main].chosen = true;
	take_needed(j, main, taken);
	take_tails(j, main, taken);
	size_t parts = 0;
	for (size_t i = 0; i < j->count; i++) {
		if (!taken[i])
			continue;
		add_part(&code, &j->blocks[i]);
		parts++;
	}
	ret->joined = parts > 1 ? describe(j, taken) : NULL;
	ret->code = buf_take(&code, &ret->code_len);
}
