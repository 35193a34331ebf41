/*
 * Languages are rows. Adding one is a row here and an error parser in
 * verifier/.
 *
 * Python's flags are -s and -B, not -I: -I implies -E, which would discard
 * PYTHONHASHSEED. The environment is entirely ours and HOME is the work
 * folder, so nothing -I protects from can be there.
 */
#include "sandbox/sandbox.h"

#include "base/mem.h"

#include <strings.h>

#define LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* Real paths the guest's root has: /usr first, because a shim of a version
 * manager on PATH costs more than the interpreter. */
static const struct language languages[] = {
	{ "python", LIST("py", "python3", "python3.11"),
	  LIST("/usr/bin/python3", "/usr/local/bin/python3"), LIST("-s", "-B"), "main.py", ".py" },
	{ "javascript", LIST("js", "node", "nodejs", "mjs"),
	  LIST("/usr/bin/node", "/usr/bin/nodejs", "/usr/local/bin/node"), LIST("--no-warnings"),
	  "main.js", ".js" },
	{ "bash", LIST("sh", "shell", "zsh", "console"), LIST("/bin/bash", "/usr/bin/bash",
	  "/usr/local/bin/bash"), LIST("--norc", "--noprofile"), "main.sh", ".sh" },
};

const struct language *language_at(size_t index)
{
	return index < ARRAY_SIZE(languages) ? &languages[index] : NULL;
}

const struct language *language_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(languages); i++) {
		if (strcasecmp(languages[i].name, name) == 0)
			return &languages[i];
		for (const char *const *a = languages[i].aliases; *a != NULL; a++)
			if (strcasecmp(*a, name) == 0)
				return &languages[i];
	}
	return NULL;
}
