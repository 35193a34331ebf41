/*
 * A program in a context: what it starts from, what it leaves, and what of that can be believed.
 * A report is a guest's word: it is told, and decides nothing but whether there is a state.
 */
#include "agent/stages/cell.h"

#include "agent/prompt/quote.h"
#include "agent/run.h"
#include "base/mem.h"
#include "verifier/lang/lang.h"
#include "verifier/tests.h"

#include <stdlib.h>
#include <string.h>

struct cell_memory {
	struct context_input *inputs; /* the task's files, for it; owned; NULL: not looked at yet */
	bool *needed;	   /* the earlier cells that its program needs; owned; NULL: all */
	struct json *left; /* the report of the final program's cell; owned; or NULL */
	char *joined;	   /* all of its cells as one program, for tests; owned; or NULL */
};

#define CELLS_BYTES ((size_t)24000) /* of the earlier programs, in a prompt */

static void tell(const struct run *r, char *line)
{
	const struct progress *p = &r->loop->progress;

	if (p->note)
		p->note(p->self, line);
	free(line);
}

static void begin_anew(struct run *r)
{
	r->context = NULL;
	r->result.anew = true;
	journal_note_anew(&r->journal);
}

void run_enter_context(struct run *r)
{
	const struct context *c = r->task->context;

	r->context = c;
	if (!c || c->from == c->count)
		return;
	r->cell->inputs = context_inputs(r->task);
	cleanup_free char *why = context_full_why(c);
	why = why ? why : context_lost(c, r->cell->inputs, r->task->file_count);
	if (why) {
		tell(r, mem_printf("the context is begun anew: %s", why));
		begin_anew(r);
		return;
	}
	cleanup_free char *there = context_there(c);
	r->there = context_fence(r, there);
}

bool run_can_follow(const struct run *r, const struct language *language)
{
	return r->task->context && tests_can_follow(language);
}

bool run_is_cell(const struct run *r)
{
	return run_can_follow(r, r->language);
}

static struct cell *cells_before(const struct run *r, size_t *ret_count)
{
	*ret_count = 0;
	return r->context && r->language ? context_cells(r->context, r->language->name, ret_count) :
					   NULL;
}

char *run_cells_text(const struct run *r, bool only_needed)
{
	struct buf out = BUF_INIT((size_t)128 << 20);
	cleanup_buf struct buf cut = BUF_INIT((size_t)8 * CELLS_BYTES);
	size_t count;
	cleanup_free struct cell *list = cells_before(r, &count);
	const bool *needed = only_needed ? r->cell->needed : NULL;

	for (size_t i = 0; i < count; i++) {
		buf_addf(&out, "[cell %zu]\n", i + 1);
		if (!needed || needed[i])
			buf_add(&out, list[i].code, list[i].len);
		else
			buf_addstr(&out, "(left out: nothing of it is used)");
		buf_addch(&out, '\n');
	}
	cleanup_free char *text = buf_take(&out, NULL);
	if (!count)
		return NULL;
	context_cut(&cut, text, strlen(text), strlen(text), CELLS_BYTES);
	return context_fence(r, cut.data);
}

int run_record_needed(struct run *r, enum stage stage, const bool *needed, size_t count,
		      const struct audit_blob *program, struct error *err)
{
	cleanup_json struct json *data = json_object();
	struct json *numbers = json_array();

	for (size_t i = 0; i < count; i++)
		if (needed[i])
			json_append(numbers, json_new_int((int64_t)i));
	json_set(data, JOURNAL_NEEDED, numbers);
	return journal_queue(&r->journal, stage_name(stage), r->attempt, "note", data, program,
			     program != NULL, err);
}

int run_find_needed(struct run *r, struct error *err)
{
	const struct execute_ops *ops = &r->loop->execute;
	cleanup_free char *forged = run_forged(r);
	size_t count;
	cleanup_free struct cell *list = cells_before(r, &count);

	free(TAKE_PTR(r->cell->needed));
	/* One that could have decided what is printed is for the judge to see, too. */
	if (!ops->needs || count < 2 || forged || !run_is_cell(r) || !r->code ||
	    !lang_find(r->language->name)->harness.slice[0])
		return 0;
	list = mem_array(list, count + 1, sizeof(*list));
	list[count] = (struct cell){ .code = r->code, .len = r->code_len };
	r->cell->needed = mem_array(NULL, count + 1, sizeof(*r->cell->needed));
	memset(r->cell->needed, true, count + 1);
	ops->needs(ops->self, stage_name(STAGE_JUDGE), r->attempt, r->language, list, count + 1,
		   r->cell->needed);
	for (size_t i = 0; i < count; i++)
		if (!r->cell->needed[i])
			return run_record_needed(r, STAGE_JUDGE, r->cell->needed, count, NULL, err);
	return 0;
}

const char *run_joined(struct run *r, size_t *ret_len)
{
	size_t count;
	cleanup_free struct cell *list = cells_before(r, &count);

	*ret_len = r->code_len;
	if (!count || !run_is_cell(r))
		return r->code;
	free(r->cell->joined);
	r->cell->joined = cells_join(r->language, list, count, r->code, r->code_len, ret_len);
	return r->cell->joined;
}

/* What a program of another language left where this one may take it for a module. */
static char *code_left(const struct run *r)
{
	const struct context *c = r->context;

	for (size_t i = c->from; i < c->count; i++) {
		const struct context_cell *cell = &c->cells[i];

		for (size_t f = 0; strcmp(cell->lang, r->language->name) && f < cell->file_count;
		     f++)
			if (cells_load(r->language, cell->files[f].path))
				return mem_printf("a program in %s left %.80s", cell->lang,
						  cell->files[f].path);
	}
	return NULL;
}

char *run_forged(const struct run *r)
{
	size_t count;
	cleanup_free struct cell *list = cells_before(r, &count);

	if (!list || !run_is_cell(r))
		return NULL;
	char *why = cells_forge(r->language, list, count);
	return why ? why : code_left(r);
}

static void tell_left(const struct run *r, const struct sandbox_result *x)
{
	const char *held = sandbox_fact(&x->isolation, "held");
	cleanup_free char *left = cells_left(r->cell->left);

	if (!left && *held && strcmp(held, "yes"))
		left = mem_strdup(held);
	if (left)
		tell(r,
		     mem_printf("left running or open, and made again with the state: %s", left));
	if (!cells_kept(r->cell->left))
		tell(r, mem_strdup("the program ended its interpreter itself: nothing of it is "
				   "kept for later programs"));
}

/* Why the earlier programs ran again: each time where that was not to be expected, else with the
 * first that follows one. */
static void tell_again(const struct run *r, const struct sandbox_result *x, size_t count)
{
	const char *lost = sandbox_fact(&x->isolation, "state_lost");
	const struct lang *lang = lang_find(r->language->name);

	if (*lost)
		tell(r, mem_printf("the state of the earlier programs was made again from %zu "
				   "cell%s: %s",
				   count, count == 1 ? "" : "s", lost));
	else if (count != 1 || strcmp(sandbox_fact(&x->isolation, "state"), "rebuilt"))
		return;
	else if (lang->harness.context.holds)
		tell(r, mem_printf("the earlier program was run again, as all of them will be "
				   "before each new one: no state can be kept in memory here "
				   "(assay doctor: kept states)"));
	else
		tell(r, mem_printf("the earlier program was run again, as all of them will be "
				   "before each new one: what %s has in memory cannot be copied",
				   lang->title));
}

bool run_leave_cell(struct run *r, struct sandbox_result *x, char **ret_why)
{
	size_t count;
	cleanup_free struct cell *list = cells_before(r, &count);

	json_free(r->cell->left);
	r->cell->left = tests_take_state(x);
	size_t broken = cells_broken(r->cell->left);
	size_t differs = cells_differ(r->cell->left, list, count);
	if (broken && (x->outcome != SANDBOX_EXIT || x->exit_code != 0)) {
		*ret_why = mem_printf("The state of the earlier programs could not be made again: "
				      "cell %zu, which had ended well, failed this time.",
				      broken);
		tell(r, mem_strdup(*ret_why));
		begin_anew(r);
		return true;
	}
	tell_again(r, x, count);
	if (differs)
		tell(r, mem_printf("cell %zu printed something else when it was run again: what "
				   "is in memory may not be what it was",
				   differs));
	if (x->outcome == SANDBOX_EXIT && x->exit_code == 0)
		tell_left(r, x);
	return false;
}

static void add_files(struct context_cell *cell, const struct sandbox_result *x)
{
	cell->files = mem_array(NULL, x->artifact_count, sizeof(*cell->files));
	for (size_t i = 0; i < x->artifact_count; i++) {
		const struct sandbox_artifact *a = &x->artifacts[i];

		cell->files[cell->file_count++] = (struct task_file){
			.path = mem_strdup(a->path),
			.bytes = a->kept ? mem_strndup(a->bytes, (size_t)a->size) : NULL,
			.len = (size_t)a->size,
		};
	}
}

/* --- files that are no news --- */

/* What the programs before it left there last; NULL: nothing. */
static const struct task_file *find_left(const struct run *r, const struct language *language,
					 const char *path)
{
	const struct context *c = r->context;

	for (size_t i = c->count; i > c->from; i--) {
		const struct context_cell *cell = &c->cells[i - 1];

		for (size_t f = 0; !strcmp(cell->lang, language->name) && f < cell->file_count; f++)
			if (!strcmp(cell->files[f].path, path))
				return &cell->files[f];
	}
	return NULL;
}

static bool is_as_left(const struct run *r, const struct language *language,
		       const struct sandbox_artifact *a)
{
	const struct task_file *left = find_left(r, language, a->path);

	return left && left->len == a->size && !left->bytes == !a->kept &&
	       (!a->kept || !memcmp(left->bytes, a->bytes, left->len));
}

void run_drop_known(const struct run *r, const struct language *language, struct sandbox_result *x)
{
	cleanup_json struct json *report = tests_look_at_state(x);
	size_t kept = 0;

	for (size_t i = 0; r->context && i < x->artifact_count; i++) {
		struct sandbox_artifact *a = &x->artifacts[i];

		if (!is_as_left(r, language, a) || cells_wrote(report, a->path)) {
			x->artifacts[kept++] = *a;
			continue;
		}
		free(a->path);
		free(a->bytes);
		free(a->why_not);
	}
	if (r->context)
		x->artifact_count = kept;
}

void run_allow_known(const struct run *r, struct sandbox_limits *limits)
{
	const struct context *c = r->context;

	limits->artifacts++; /* the harness's report */
	for (size_t i = c ? c->from : 0; c && i < c->count; i++) {
		const struct context_cell *cell = &c->cells[i];

		if (strcmp(cell->lang, r->language->name))
			continue;
		limits->artifacts += (int64_t)cell->file_count;
		for (size_t f = 0; f < cell->file_count; f++)
			limits->artifact_bytes +=
				cell->files[f].bytes ? (int64_t)cell->files[f].len : 0;
	}
}

static int64_t took_ms(const struct run *r)
{
	bool again = !strcmp(sandbox_fact(&r->execution.isolation, "state"), "rebuilt");
	int64_t before = r->context && again ? context_took_ms(r->context, r->language->name) : 0;
	int64_t all = (int64_t)r->execution.metrics.wall_ms + 1;

	return all > before ? all - before : 1;
}

void run_keep_cell(struct run *r)
{
	bool well = r->result.status == RUN_SUCCESS || r->result.status == RUN_UNVERIFIED;

	if (!well || !r->executed || !r->code || !run_is_cell(r) || !cells_kept(r->cell->left))
		return;
	struct context_cell *cell = mem_alloc(sizeof(*cell));
	*cell = (struct context_cell){
		.id = mem_printf("%s/%d", r->result.run, r->attempt),
		.lang = r->language->name,
		.code = mem_strndup(r->code, r->code_len),
		.len = r->code_len,
		.stdin_len = r->task->stdin_len,
		.limits = r->policy->limits,
		.took_ms = took_ms(r),
		.there = cells_describe(r->cell->left, CONTEXT_THERE_BYTES),
	};
	cell->calls = TAKE_PTR(r->calls);
	if (r->task->stdin_bytes)
		cell->stdin_bytes = mem_strndup(r->task->stdin_bytes, r->task->stdin_len);
	hash_sha256(r->execution.out.bytes ? r->execution.out.bytes : "", r->execution.out.len,
		    cell->printed);
	cell->inputs = r->cell->inputs ? TAKE_PTR(r->cell->inputs) : context_inputs(r->task);
	cell->input_count = r->task->file_count;
	add_files(cell, &r->execution);
	r->result.cell = cell;
}

void run_cell_begin(struct run *r)
{
	r->cell = mem_alloc(sizeof(*r->cell));
}

void run_cell_release(struct run *r)
{
	context_inputs_free(r->cell->inputs, r->task->file_count);
	free(r->cell->needed);
	json_free(r->cell->left);
	free(r->cell->joined);
	free(r->cell);
}
