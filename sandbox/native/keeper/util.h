/* What every file of the keeper uses: failures, files, messages, the clock. */
#ifndef SANDBOX_KEEPER_UTIL_H
#define SANDBOX_KEEPER_UTIL_H

#include "sandbox/native/protocol.h"

#include <stdint.h>
#include <sys/types.h>

/* Names the step and returns -1, keeping errno in the failure. */
int failure_set(struct protocol_failure *failure, const char *step, const char *remedy);
ssize_t file_read(int dirfd, const char *path, char *ret_text, size_t size);
int file_write(int dirfd, const char *path, const char *text);
/* A message with up to PROTOCOL_FDS_MAX descriptors; never raises SIGPIPE. */
int message_send(int fd, const void *message, size_t len, const int *fds, size_t nfds);
/* Bytes received, 0 at the end. Descriptors that did not come are -1. */
ssize_t message_receive(int fd, void *ret_message, size_t size, int *ret_fds, size_t nfds);
int64_t now_us(void);
void close_all(int *fds, size_t count);

#endif
