/*
 * Finding a model server on this machine. A plain connect tells whether the
 * port is open; only then is an HTTP request made (and libcurl loaded).
 */
#include "llm/llm.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define OLLAMA_PORT    11434
#define LLAMA_CPP_PORT 8080

static bool port_open(uint16_t port, int64_t timeout_ms)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons(port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct pollfd p = { .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0),
			    .events = POLLOUT };
	int failure = 0;
	socklen_t len = sizeof(failure);

	if (p.fd < 0)
		return false;
	bool open = false;
	if (connect(p.fd, (struct sockaddr *)&to, sizeof(to)) == 0)
		open = true;
	else if (errno == EINPROGRESS && poll(&p, 1, (int)timeout_ms) == 1)
		open = getsockopt(p.fd, SOL_SOCKET, SO_ERROR, &failure, &len) == 0 && failure == 0;
	io_close(p.fd);
	return open;
}

/* The port of OLLAMA_HOST ("host:port", "http://host:port") when it is this machine's. */
static uint16_t ollama_port(void)
{
	static const char *const hosts[] = { "", "127.0.0.1", "localhost", "0.0.0.0" };
	const char *host = getenv("OLLAMA_HOST");

	if (!host)
		return OLLAMA_PORT;
	if (!strncmp(host, "http://", 7))
		host += 7;
	const char *colon = strrchr(host, ':');
	unsigned int port;
	if (!colon || sscanf(colon, ":%5u", &port) != 1 || port == 0 || port > 65535)
		return OLLAMA_PORT;
	for (size_t i = 0; i < ARRAY_SIZE(hosts); i++)
		if (strlen(hosts[i]) == (size_t)(colon - host) &&
		    !strncmp(host, hosts[i], strlen(hosts[i])))
			return (uint16_t)port;
	return OLLAMA_PORT;
}

static int ask(uint16_t port, int64_t timeout_ms, char **ret_base_url, char **ret_model)
{
	cleanup_free char *base = mem_printf("http://127.0.0.1:%u/v1", (unsigned int)port);
	struct llm_http_options options = {
		.wire = LLM_WIRE_OPENAI_CHAT,
		.provider = "local",
		.base_url = base,
		.connect_timeout_ms = timeout_ms,
		.first_byte_timeout_ms = timeout_ms,
	};
	struct error err = ERROR_INIT;
	struct json *models = NULL;

	if (llm_http_models(&options, -1, &models, &err) < 0)
		return 0;
	const char *id = json_get_string(json_first(models), "id");
	if (id) {
		*ret_base_url = mem_strdup(base);
		*ret_model = mem_strdup(id);
	}
	json_free(models);
	return id ? 1 : 0;
}

int llm_find_local(int64_t timeout_ms, char **ret_base_url, char **ret_model)
{
	const uint16_t ports[] = { ollama_port(), LLAMA_CPP_PORT };
	int64_t until_ms = clock_mono_ms() + timeout_ms;

	for (size_t i = 0; i < ARRAY_SIZE(ports); i++) {
		int64_t left = until_ms - clock_mono_ms();

		if (left <= 0)
			break;
		if (!port_open(ports[i], left))
			continue;
		left = until_ms - clock_mono_ms();
		if (left > 0 && ask(ports[i], left, ret_base_url, ret_model) == 1)
			return 1;
	}
	return 0;
}
