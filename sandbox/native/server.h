/* Programs that are asked again and again. */
#ifndef NATIVE_SERVER_H
#define NATIVE_SERVER_H

#include "sandbox/native/internal.h"

/* As sandbox_ask and sandbox_expect_ask. */
bool server_ask(struct native *s, const struct sandbox_job *job, const void *question, size_t len,
		int cancel_fd, struct buf *ret_answer);
bool server_expect(struct native *s, const struct sandbox_job *job);
void servers_finish(const struct native *s);
void servers_release(struct native *s);

#endif
