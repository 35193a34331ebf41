/*
 * A task, and what may be in one: no more than what a run can bear. Names of inputs are made safe
 * for /in; the bytes stay as they are.
 */
#include "agent/task.h"

#include "base/mem.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

#define PROMPT_BYTES_MAX ((size_t)1 << 20)

void task_turn_release(struct task_turn *turn)
{
	free(turn->question);
	free(turn->code);
	free(turn->output);
	free(turn->answer);
	free(turn->notes);
	*turn = (struct task_turn){ .question = NULL };
}

size_t task_text_len(const char *text)
{
	size_t len = strlen(text);

	while (len && strchr("\r\n", text[len - 1]))
		len--;
	return len;
}

bool task_turn_is_printed(const struct task_turn *turn)
{
	size_t len = turn->answer ? task_text_len(turn->answer) : 0;

	return turn->answer && turn->output && len == task_text_len(turn->output) &&
	       !memcmp(turn->answer, turn->output, len);
}

void task_file_release(struct task_file *file)
{
	free(file->path);
	free(file->bytes);
	free(file->from);
	input_close(file->input);
	json_free(file->was);
	*file = (struct task_file){ .path = NULL };
}

void task_release(struct task *task)
{
	free(task->id);
	free(task->mark);
	free(task->prompt);
	free(task->stdin_bytes);
	free(task->tests);
	for (size_t i = 0; i < task->file_count; i++)
		task_file_release(&task->files[i]);
	free(task->files);
	for (size_t i = 0; i < task->turn_count; i++)
		task_turn_release(&task->turns[i]);
	free(task->turns);
	check_list_release(&task->checks);
	json_free(task->extra);
	*task = (struct task){ .id = NULL };
}

struct sandbox_file *task_inputs(const struct task *task)
{
	struct sandbox_file *inputs = mem_array(NULL, task->file_count, sizeof(*inputs));

	for (size_t i = 0; i < task->file_count; i++) {
		const struct task_file *f = &task->files[i];

		inputs[i] = (struct sandbox_file){ f->path, f->bytes, f->len,
						   f->input ? &f->input->source : NULL };
	}
	return inputs;
}

struct input **task_kept_inputs(const struct task *task, size_t *ret_count)
{
	*ret_count = 0;
	struct input **inputs = NULL;
	for (size_t i = 0; i < task->file_count; i++)
		if (task->files[i].input) {
			inputs = mem_one_more(inputs, *ret_count, sizeof(*inputs));
			inputs[(*ret_count)++] = task->files[i].input;
		}
	return inputs;
}

int task_set_prompt(struct task *task, const char *text, size_t len, const char *where,
		    struct error *err)
{
	if (len > PROMPT_BYTES_MAX)
		return error_set(err, ERR_USAGE,
				 "%s: the prompt has %zu bytes; the limit is %zu. Give data as a "
				 "file with -f",
				 where, len, PROMPT_BYTES_MAX);
	if (memchr(text, '\0', len))
		return error_set(err, ERR_USAGE, "%s: the prompt holds a NUL byte: not text",
				 where);
	if (!utf8_valid(text, len))
		return error_set(err, ERR_USAGE, "%s: the prompt is not valid UTF-8 (byte %zu)",
				 where, utf8_valid_prefix(text, len) + 1);
	if (strspn(text, " \t\r\n") >= len)
		return error_set(err, ERR_USAGE, "%s: the prompt is empty", where);
	free(task->prompt);
	task->prompt = mem_strndup(text, len);
	return 0;
}

struct task_file *task_add_bytes(struct task *task, const char *name, char *bytes, size_t len)
{
	task->files = mem_array(task->files, task->file_count + 1, sizeof(*task->files));
	struct task_file *file = &task->files[task->file_count++];
	*file = (struct task_file){ .path = mem_strdup(name), .bytes = bytes, .len = len };
	return file;
}

struct task_file *task_add_input(struct task *task, const char *name, struct input *input)
{
	struct task_file *file = task_add_bytes(task, name, NULL, (size_t)input->bytes);

	file->input = input;
	return file;
}
