/* Screening any program with any answer of a parser (after "\n\1\n"): it ends,
 * its findings are places of the program, and garbage is never allowed. */
#include "verifier/lang/lang.h"
#include "verifier/screen/screen.h"
#include "verifier/screen/tree.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_findings(const struct screening *s, size_t len)
{
	for (size_t i = 0; i < s->count; i++)
		if (!s->findings[i].line || s->findings[i].line > len + 1 ||
		    !s->findings[i].column || s->findings[i].column > len + 1)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct lang *lang = size && lang_at(data[0] & 3) ? lang_at(data[0] & 3) : lang_at(0);
	struct screen_options options = { .profile = SCREEN_STANDARD };
	struct screening s = { .lang = NULL };
	struct tree tree = { .state = TREE_NONE };
	struct error err = ERROR_INIT;
	const char *code = (const char *)data + 1, *answer;
	size_t len = size ? size - 1 : 0;

	if (!size)
		return 0;
	options.profile = data[0] & 4 ? SCREEN_STRICT : SCREEN_STANDARD;
	answer = memmem(code, len, "\n\1\n", 3);
	if (answer) {
		tree_parse(answer + 3, len - (size_t)(answer + 3 - code), &tree);
		options.tree = &tree;
		len = (size_t)(answer - code);
	}
	if (screen_code(lang->name, code, len, &options, &s, &err) < 0)
		abort();
	if (tree.state == TREE_FAILED && s.verdict != SCREEN_DENY)
		abort();
	check_findings(&s, len);
	json_free(screening_json(&s));
	json_free(tree_json(&tree));
	screening_release(&s);
	tree_release(&tree);
	return 0;
}
