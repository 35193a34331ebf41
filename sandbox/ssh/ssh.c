/*
 * The keeper at the other end of ssh. Which host, port, user and key is ssh's own business and that
 * of its configuration; what a run brings, its code, files and names, never becomes an argument of
 * ssh.
 *
 * There the command looks for an installed keeper and else asks for a copy, which it runs from a
 * file of its own that is gone once it runs. An installed one of another version is refused, not
 * replaced. When the connection ends, for whatever reason, so does the keeper there, and all of its
 * run with it.
 */
#include "sandbox/ssh/ssh.h"

#include "base/mem.h"
#include "sandbox/native/far.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SSH "/usr/bin/ssh"

/* In single quotes for whatever shell the user has there; %lld is the size of a copy. A copy
 * that is not whole, or a folder where nothing may be executed, is an error of this script. */
#define THERE                                                                                  \
	"exec /bin/sh -c '"                                                                    \
	"for k in /usr/local/libexec/assay/assay-keeper /usr/libexec/assay/assay-keeper; do "  \
	"[ ! -x $k ] || exec $k --stream; done; "                                              \
	"umask 077; "                                                                          \
	"for d in \"$XDG_RUNTIME_DIR\" \"$TMPDIR\" /tmp /var/tmp \"$HOME\"; do "               \
	"[ -n \"$d\" ] && f=$(mktemp \"$d/assay-keeper-XXXXXXXX\" 2>/dev/null) || continue; "  \
	"printf \"#!/bin/sh\\n\" >\"$f\" && chmod 700 \"$f\" && \"$f\" 2>/dev/null && break; " \
	"rm -f \"$f\"; f=; done; "                                                             \
	"[ -n \"$f\" ] || { echo no folder here takes a program >&2; exit 1; }; "              \
	"trap \"rm -f \\\"$f\\\"; exit 1\" HUP INT TERM; "                                     \
	"echo assay-copy; head -c %lld >\"$f\"; "                                              \
	"if [ \"$(wc -c <\"$f\")\" -eq %lld ] && chmod 700 \"$f\"; "                           \
	"then exec \"$f\" --stream-once; fi; "                                                 \
	"rm -f \"$f\"; echo the copy of the keeper broke off >&2; exit 1'"

/* Whatever it finds in its environment; none of it is a key of ours. */
static const char *const inherited[] = {
	"HOME", "USER", "LOGNAME", "PATH", "LANG", "SSH_AUTH_SOCK", "XDG_RUNTIME_DIR",
};

/* Nothing asks a person, and nothing is forwarded; all else is as ssh's configuration has it. */
static const char *const options_of_ssh[] = {
	"-T",
	"-o",
	"BatchMode=yes",
	"-o",
	"ClearAllForwardings=yes",
	"-o",
	"ForwardAgent=no",
	"-o",
	"ForwardX11=no",
	"-o",
	"PermitLocalCommand=no",
	"-o",
	"ServerAliveInterval=15",
	"-o",
	"ServerAliveCountMax=3",
	"-o",
	"ConnectTimeout=20",
};

/* A name that ssh could take for an option, or a shell for more than a word, is none. */
static bool is_host(const char *host)
{
	return host[0] != '-' && host[0] != '\0' &&
	       host[strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				 ".-_@:/[]%")] == '\0';
}

static int open_ssh(void **ret_self, const struct sandbox_options *options, struct error *err)
{
	cleanup_free char *keeper = native_keeper_path(options, err);
	const char *file = getenv("ASSAY_SSH_CONFIG");

	if (!keeper)
		return -1;
	if (!is_host(options->target))
		return error_set(err, ERR_USAGE,
				 "\"%.100s\" is no host: --sandbox ssh:HOST takes a name of ssh's "
				 "configuration, USER@HOST or ssh://USER@HOST:PORT",
				 options->target);
	if (access(SSH, X_OK) < 0)
		return error_set_known(err, ERR_SANDBOX, errno,
				       SSH " is not here: install openssh-client");
	struct stat st;
	if (stat(keeper, &st) < 0)
		return error_set_errno(err, ERR_SANDBOX, errno, "%s", keeper);
	struct native_far *far = mem_alloc(sizeof(*far));
	native_far_add(&far->command, mem_strdup(SSH));
	for (size_t i = 0; i < ARRAY_SIZE(options_of_ssh); i++)
		native_far_add(&far->command, mem_strdup(options_of_ssh[i]));
	if (file && *file != '\0') {
		native_far_add(&far->command, mem_strdup("-F"));
		native_far_add(&far->command, mem_strdup(file));
	}
	native_far_add(&far->command, mem_strdup("--"));
	native_far_add(&far->command, mem_strdup(options->target));
	native_far_add(&far->command,
		       mem_printf(THERE, (long long)st.st_size, (long long)st.st_size));
	for (size_t i = 0; i < ARRAY_SIZE(inherited); i++)
		native_far_inherit(far, inherited[i]);
	sandbox_fact_add(&far->outer, "machine", options->target, "outer");
	sandbox_fact_add(&far->outer, "reached_by", "ssh", "outer");
	return native_open_far(ret_self, far, options, err);
}

const struct backend ssh_backend = {
	.name = "ssh",
	.summary = "the native sandbox of another machine, reached by ssh",
	.place = "on another machine",
	.target = ":[USER@]HOST",
	.needs_target = true,
	.elsewhere = true,
	.open = open_ssh,
	NATIVE_ROWS,
};
