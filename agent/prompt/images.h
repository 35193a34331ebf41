/* Which of a task's files a call sends as images. */
#ifndef AGENT_IMAGES_H
#define AGENT_IMAGES_H

#include "agent/stage.h"
#include "llm/vision.h"

#include <stddef.h>

struct run; /* agent/run.h */

/* So many, of so many bytes each at most; others are files for the program alone. */
#define IMAGES_MAX	8
#define IMAGE_BYTES_MAX ((size_t)5 << 20)
/* A call with one costs about so many bytes of prompt more. */
#define IMAGE_COST_BYTES ((size_t)6000)

/* What the open file is, as llm_image_type; nothing is moved in it. */
const char *image_type_of(int fd);

/* Those that the role's model is sent: how many, in ret. What is not sent is told once, and why. */
size_t run_images(struct run *r, enum role role, struct llm_image ret[IMAGES_MAX]);
void run_images_begin(struct run *r);
void run_images_release(struct run *r);

#endif
