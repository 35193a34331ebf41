/*
 * A small hostile HTTP server for tests: a forked child that answers the Nth
 * connection with the Nth canned response and keeps what it was sent in memory
 * shared with the test. Include after cmocka.h.
 */
#ifndef TEST_LLM_SERVER_H
#define TEST_LLM_SERVER_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define REQUESTS_MAX  8
#define REQUEST_BYTES 4096

struct answer {
	const char *head; /* sent as it is */
	size_t head_len;  /* 0: strlen */
	const char *tail; /* or NULL */
	int hang_ms;	  /* before closing */
	int flood;	  /* times to repeat the tail */
};

struct shared {
	int count;
	char requests[REQUESTS_MAX][REQUEST_BYTES];
};

static struct shared *shared;
static pid_t server;
static char base_url[64];

static size_t content_length(const char *request)
{
	const char *at = strcasestr(request, "content-length:");

	return at ? (size_t)atol(at + 15) : 0;
}

static void read_request(int fd, char *into)
{
	size_t len = 0;

	for (;;) {
		char *end = strstr(into, "\r\n\r\n");

		if (end && len >= (size_t)(end + 4 - into) + content_length(into))
			return;
		ssize_t n = read(fd, into + len, REQUEST_BYTES - 1 - len);
		if (n <= 0)
			return;
		len += (size_t)n;
	}
}

static void send_bytes(int fd, const char *bytes, size_t len)
{
	while (len > 0) {
		ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);

		if (n <= 0)
			return;
		bytes += n;
		len -= (size_t)n;
	}
}

static void serve(int listener, const struct answer *answers, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int fd = accept(listener, NULL, NULL);

		if (i < REQUESTS_MAX)
			read_request(fd, shared->requests[i]);
		shared->count++;
		send_bytes(fd, answers[i].head,
			   answers[i].head_len ? answers[i].head_len : strlen(answers[i].head));
		for (int n = 0; answers[i].tail && n <= answers[i].flood; n++)
			send_bytes(fd, answers[i].tail, strlen(answers[i].tail));
		usleep((useconds_t)answers[i].hang_ms * 1000);
		close(fd);
	}
}

static void start_server(const struct answer *answers, size_t count)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	memset(shared, 0, sizeof(*shared));
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(fd, 8), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	snprintf(base_url, sizeof(base_url), "http://127.0.0.1:%u/v1",
		 (unsigned int)ntohs(at.sin_port));
	server = fork();
	if (server == 0) {
		serve(fd, answers, count);
		_exit(0);
	}
	close(fd);
}

static void stop_server(void)
{
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
}

static int share_memory(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	return shared == MAP_FAILED ? -1 : 0;
}

#endif
