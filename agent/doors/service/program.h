/*
 * A program that a client asks to have run, read out of the JSON of any door: code, language,
 * files, standard input and time. What is read is checked; what a door cannot bear, or does not
 * know, is an error that says what would be right (ERR_USAGE).
 */
#ifndef AGENT_DOORS_PROGRAM_H
#define AGENT_DOORS_PROGRAM_H

#include "agent/task.h"
#include "base/json.h"

struct program {
	struct task task; /* whose program is the one below; owned, as what follows */
	struct task_program given;
	char *code;
	const char **argv;
	int64_t wall_ms;     /* asked for; 0: as the policy has it */
	const char *context; /* that it goes on in, borrowed from the object; or NULL */
};
void program_release(struct program *p);
#define cleanup_program __attribute__((cleanup(program_release)))

/*
 * The members code, language, files, stdin, timeout_ms and context of an object; lang (may be NULL)
 * stands for a language that is not named. Other members are refused, but for those of known
 * (NULL-terminated, or NULL). title becomes the run's question. ret must not move afterwards.
 */
int program_read(struct program *ret, const struct json *object, const char *lang,
		 const char *const *known, const char *title, struct error *err);

/* Whether a program is small enough for any door. */
int program_check_size(size_t len, struct error *err);

/* The code and its language, ready to be run; len bytes of code are copied. */
int program_set(struct program *p, const char *lang, const char *code, size_t len,
		const char *title, struct error *err);

/*
 * Input files: {"NAME": "text", "NAME": {"content", "encoding"}} or [{"path" or "name", "content",
 * "encoding"}], encoding utf8, base64 or hex. A name is a relative path below /in.
 */
int program_add_files(struct task *task, const struct json *files, struct error *err);
/* Whether another file may be called so. */
int program_check_name(const struct task *task, const char *name, struct error *err);
/* Only that: beside the first count files of task. */
int program_check_clash(const struct task *task, size_t count, const char *name, struct error *err);
int program_add_file(struct task *task, const char *name, const struct json *content,
		     const char *encoding, struct error *err);

/* A digest of all that decides what the program does: language, code, files and input. */
#define PROGRAM_DIGEST_LEN 64
void program_digest(const char *lang, const char *code, size_t len, const struct task *task,
		    char ret[PROGRAM_DIGEST_LEN + 1]);

#endif
