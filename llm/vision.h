/* Images in a request, and which models see. */
#ifndef LLM_VISION_H
#define LLM_VISION_H

#include <stdbool.h>
#include <stddef.h>

struct llm_image {
	const char *media_type; /* "image/png" */
	const char *bytes;	/* borrowed */
	size_t len;
};

/* The media type of bytes that are an image of a kind that models are sent (PNG, JPEG, GIF, WebP);
 * NULL: they are none. */
const char *llm_image_type(const char *bytes, size_t len);

/* Whether a model of that name is known to see, whoever serves it; NULL is none. */
bool llm_sees(const char *model);

#endif
