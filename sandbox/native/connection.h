/* A connection: the keeper's start and end, messages. */
#ifndef NATIVE_CONNECTION_H
#define NATIVE_CONNECTION_H

#include "sandbox/native/internal.h"

/* Starts the keeper when none is running, and does not wait for it. */
int connection_start(struct native *s, struct error *err);
/* Starts it when needed and waits until it has set itself up: hello is valid. */
int connection_open(struct native *s, struct error *err);
/* Ends the keeper and everything it started; it has a second to do so itself. */
void connection_close(struct native *s);
/* After a job: the keeper goes, where none is to wait for another. */
void connection_leave(struct native *s);
/* The same, at once. *ret_guest_ran: a guest ran since the last connection_forget_guest. */
void connection_kill(struct native *s, bool *ret_guest_ran);
void connection_forget_guest(const struct native *s);
int connection_send(const struct native *s, const void *message, size_t len, const int *fds,
		    size_t nfds);
/* As recvmsg: bytes, 0 at the end, -1. *ret_fd is -1 or a passed descriptor. */
ssize_t connection_receive(const struct native *s, void *ret_message, size_t size, int *ret_fd);
/* Turns the keeper's failure into an error; -1. */
int connection_failure(const struct protocol_failure *failure, struct error *err);

#endif
