/*
 * Which models see is a list of names, as of their makers' documentation; one that is not on it is
 * not sent an image unless the user says so. Nothing here asks anybody.
 */
#include "llm/vision.h"

#include "base/mem.h"

#include <fnmatch.h>
#include <string.h>

/* Behind a reseller's "vendor/", too. */
static const char *const seeing[] = {
	"gpt-5*",
	"gpt-4o*",
	"gpt-4.1*",
	"chatgpt-4o*",
	"o1",
	"o3*",
	"o4-*",
	"claude-*",
	"gemini-*",
	"gemma3*",
	"gemma-3*",
	"llava*",
	"*vision*",
	"*-vl*",
	"*vl:*",
	"*vl-*",
	"pixtral*",
	"minicpm-v*",
	"llama-4*",
	"llama4*",
	"moondream*",
	"mistral-medium*",
	"mistral-small*",
};

bool llm_sees(const char *model)
{
	const char *slash = model ? strrchr(model, '/') : NULL, *name = slash ? slash + 1 : model;

	for (size_t i = 0; name && i < ARRAY_SIZE(seeing); i++)
		if (fnmatch(seeing[i], name, FNM_CASEFOLD) == 0)
			return true;
	return false;
}

static bool begins(const char *bytes, size_t len, const char *with, size_t with_len)
{
	return len >= with_len && !memcmp(bytes, with, with_len);
}

const char *llm_image_type(const char *bytes, size_t len)
{
	if (begins(bytes, len, "\x89PNG\r\n\x1a\n", 8))
		return "image/png";
	if (begins(bytes, len, "\xff\xd8\xff", 3))
		return "image/jpeg";
	if (begins(bytes, len, "GIF87a", 6) || begins(bytes, len, "GIF89a", 6))
		return "image/gif";
	if (len >= 12 && begins(bytes, len, "RIFF", 4) && !memcmp(bytes + 8, "WEBP", 4))
		return "image/webp";
	return NULL;
}
