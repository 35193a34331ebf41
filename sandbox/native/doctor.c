/*
 * What this host can isolate and limit, proven by trying: a handful of jobs attack each layer from
 * inside, and what came of it is the proof. No wall may count as standing because it was asked for.
 *
 * The attacker is bash, which every host that can build this has; what it may call unshare(1) for
 * is skipped where that is missing.
 */
#include "sandbox/native/doctor.h"

#include "base/mem.h"
#include "sandbox/native/connection.h"
#include "sandbox/native/describe.h"
#include "sandbox/native/doctor_ahead.h"
#include "sandbox/native/reach.h"
#include "sandbox/native/run.h"

#define SECCOMP_WANT_TEXT
#include "sandbox/native/seccomp_filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int native_wall(struct native *s, const char *wall, const char **ret_text, struct error *err)
{
	if (strcmp(wall, "seccomp"))
		return error_set(err, ERR_SANDBOX, "the native sandbox has no text of its %s",
				 wall);
	if (connection_open(s, err) < 0)
		return -1;
	*ret_text = s->hello.filter == PROTOCOL_FILTER_STANDARD ? seccomp_standard_text :
		    s->hello.filter == PROTOCOL_FILTER_PLAIN	? seccomp_plain_text :
								  seccomp_supervised_text;
	return 0;
}

static const char inside[] =
	"for n in user pid net mnt ipc uts cgroup; do\n"
	"	echo \"ns.$n=$(readlink /proc/self/ns/$n)\"\n"
	"done\n"
	"while read -r key value rest; do echo \"status.$key$value\"; done </proc/self/status\n"
	"{ : >/usr/assay-probe; } 2>/dev/null && echo root.written=1\n"
	"for d in /home/* /home/.[!.]*; do\n"
	"	[ -e $d ] && [ $d != /home/user ] && echo \"root.seen=$d\"\n"
	"done\n"
	"for d in /root /sys /run /var; do [ -e $d ] && echo \"root.seen=$d\"; done\n"
	"{ : >/proc/sys/kernel/hostname; } 2>/dev/null && echo proc.written=1\n"
	"{ exec 9<>/dev/tcp/127.0.0.1/22; } 2>/dev/null && echo net.connected=1\n"
	"type -P unshare >/dev/null && echo unshare.tried=1 && unshare -U true 2>/dev/null &&\n"
	"	echo unshare.done=1\n"
	"kill -9 1 2>/dev/null; ulimit -Hc unlimited 2>/dev/null && echo rlimit.raised=1\n"
	"echo uid.is=$UID\n"
	"{ read -r v </proc/version && echo \"kernel.is=$v\"; } 2>/dev/null\n"
	"echo end.reached=1\n";

static bool printed(const struct sandbox_result *r, const char *key)
{
	char value[64];

	return doctor_find(r->out.bytes, key, value, sizeof(value));
}

static bool was_denied(const struct sandbox_result *r, const char *syscall)
{
	for (size_t i = 0; i < r->forbidden_count; i++)
		if (!strcmp(r->forbidden[i].syscall, syscall))
			return true;
	return false;
}

/* --- what one attack from inside tells --- */

struct namespace_row {
	const char *kind, *name;
	bool required, single; /* single: where the kernel is gVisor's, too, which tells of it */
};

static const struct namespace_row namespace_rows[] = {
	{ "user", "user namespace", true },	 { "pid", "pid namespace", true, true },
	{ "net", "net namespace", true, true },	 { "mnt", "mount namespace", true },
	{ "ipc", "ipc namespace", true },	 { "uts", "uts namespace", true },
	{ "cgroup", "cgroup namespace", false },
};

/* The namespace of whoever started the keeper, here or there. */
static bool read_outside(struct doctor *d, const char *path, char *ret, size_t size)
{
	cleanup_free char *there = NULL;

	if (!d->native->far)
		return readlink(path, ret, size - 1) > 0;
	struct error ignored = ERROR_INIT;
	if (far_find(d->native, path, &there, &ignored) < 0 || !there)
		return false;
	snprintf(ret, size, "%s", there);
	return true;
}

static void check_namespaces(struct doctor *d, const struct sandbox_result *r)
{
	for (size_t i = 0; i < ARRAY_SIZE(namespace_rows); i++) {
		const struct namespace_row *row = &namespace_rows[i];
		const bool wanted = row->required && (!d->native->hello.single || row->single);
		struct sandbox_layer *l = doctor_add(d, row->name, "own", wanted);
		char path[64];

		snprintf(path, sizeof(path), "/proc/self/ns/%s", row->kind);
		char key[32];
		snprintf(key, sizeof(key), "ns.%s", row->kind);
		char ours[64] = "", theirs[64] = "";
		bool own = read_outside(d, path, ours, sizeof(ours)) &&
			   doctor_find(r->out.bytes, key, theirs, sizeof(theirs)) &&
			   strcmp(ours, theirs);
		char proof[160];
		snprintf(proof, sizeof(proof), "here %s, inside %s", ours, theirs);
		doctor_say(l, own, own ? "own" : "shared", proof, "see the error of assay exec");
	}
}

/* Of what is around the keeper: that it is not ours. */
static void check_outer(struct doctor *d)
{
	static const struct {
		const char *kind, *name;
	} rows[] = {
		{ "pid", "outer pid namespace" },   { "net", "outer net namespace" },
		{ "mnt", "outer mount namespace" }, { "ipc", "outer ipc namespace" },
		{ "uts", "outer uts namespace" },
	};

	for (size_t i = 0; d->native->far && d->native->far->has_namespaces && i < ARRAY_SIZE(rows);
	     i++) {
		struct sandbox_layer *l = doctor_add(d, rows[i].name, "own", true);
		char path[64];

		snprintf(path, sizeof(path), "/proc/self/ns/%s", rows[i].kind);
		char here[64] = "", there[64] = "";
		bool own = readlink(path, here, sizeof(here) - 1) > 0 &&
			   read_outside(d, path, there, sizeof(there)) && strcmp(here, there);
		char proof[160];
		snprintf(proof, sizeof(proof), "here %s, around the keeper %s", here, there);
		doctor_say(l, own, own ? "own" : "shared", proof, "see the error of assay exec");
	}
}

/* Namespaces have the same numbers in every kernel that was just started. */
static void check_machine(struct doctor *d)
{
	if (!d->native->far || !d->native->far->is_machine)
		return;
	struct sandbox_layer *l = doctor_add(d, "outer kernel", "own", true);
	FILE *f = fopen(PROTOCOL_BOOT_ID, "re");
	char here[64] = "";
	bool own = f && fgets(here, sizeof(here), f);
	here[strcspn(here, "\n")] = '\0';
	char there[64] = "";
	own = own && read_outside(d, PROTOCOL_BOOT_ID, there, sizeof(there)) && strcmp(here, there);
	if (f)
		fclose(f);
	char proof[160];
	snprintf(proof, sizeof(proof), "boot_id here %s, around the keeper %s", here, there);
	doctor_say(l, own, own ? "own" : "shared", proof, "see the error of assay exec");
}

/* A kernel that is a program says another version than this one's. */
static void check_kernel(struct doctor *d, const struct sandbox_result *r)
{
	char here[160] = "", there[160] = "", proof[160];
	FILE *f;

	if (!d->native->far || !d->native->far->is_kernel)
		return;
	struct sandbox_layer *l = doctor_add(d, "outer kernel", "own", true);
	f = fopen("/proc/version", "re");
	bool own = f && fgets(here, sizeof(here), f) &&
		   doctor_find(r->out.bytes, "kernel.is", there, sizeof(there)) &&
		   strncmp(here, there, strlen(there));
	if (f)
		fclose(f);
	snprintf(proof, sizeof(proof), "/proc/version here %.40s, inside %.60s", here, there);
	doctor_say(l, own, own ? "own" : "shared", proof, "see the error of assay exec");
}

static void check_privileges(struct doctor *d, const struct sandbox_result *r)
{
	const bool single = d->native->hello.single;
	char value[64] = "?", proof[160];
	static const char *const sets[] = { "status.CapInh", "status.CapPrm", "status.CapEff",
					    "status.CapBnd", "status.CapAmb" };
	bool ok = true;

	for (size_t i = 0; i < ARRAY_SIZE(sets) - single && ok; i++) {
		ok = doctor_find(r->out.bytes, sets[i], value, sizeof(value)) &&
		     !strcmp(value, "0000000000000000");
		snprintf(proof, sizeof(proof), "/proc/self/status inside: %s %s",
			 ok ? "all sets" : sets[i] + strlen("status."), value);
	}
	doctor_say(doctor_add(d, "capabilities", "none", true), ok, ok ? "none" : value, proof, "");
	ok = doctor_find(r->out.bytes, "status.NoNewPrivs", value, sizeof(value)) &&
	     !strcmp(value, "1");
	snprintf(proof, sizeof(proof), "/proc/self/status inside: NoNewPrivs %s", value);
	if (single)
		snprintf(proof, sizeof(proof), "that kernel gives none by exec, nor tells of it");
	doctor_say(doctor_add(d, "no new privileges", "yes", !single), ok,
		   ok	  ? "yes" :
		   single ? "untold" :
			    "no",
		   proof, "");
	ok = doctor_find(r->out.bytes, "uid.is", value, sizeof(value)) && strcmp(value, "0");
	snprintf(proof, sizeof(proof), "uid %s inside", value);
	doctor_say(doctor_add(d, "unprivileged user", "yes", true), ok, value, proof, "");
}

static void check_walls(struct doctor *d, const struct sandbox_result *r)
{
	const bool told = !d->native->hello.single; /* which calls were refused */
	char filter[8] = "";
	bool ok = !printed(r, "root.written") && !printed(r, "root.seen") &&
		  !printed(r, "proc.written");

	doctor_say(doctor_add(d, "root", "built, read-only", true), ok,
		   ok ? "built, read-only" : "leaks",
		   ok ? "writing /usr and /proc/sys failed; no home, /root /sys /run /var are not "
			"there" :
			"a host path was reached",
		   "");
	ok = !printed(r, "net.connected") && (!told || was_denied(r, "socket"));
	doctor_say(doctor_add(d, "network", "none", true), ok, ok ? "none" : "reachable",
		   !ok	? "socket() was not refused" :
		   told ? "connecting to 127.0.0.1 was refused at socket()" :
			  "connecting to 127.0.0.1 was refused",
		   "");
	ok = !printed(r, "unshare.done") &&
	     (told ? was_denied(r, "socket") &&
			      (!printed(r, "unshare.tried") || was_denied(r, "unshare")) :
		     doctor_find(r->out.bytes, "status.Seccomp", filter, sizeof(filter)) &&
			      !strcmp(filter, "2"));
	doctor_say(doctor_add(d, "seccomp", "allowlist", true), ok, ok ? "allowlist" : "incomplete",
		   !told ? "/proc/self/status inside: Seccomp 2; unshare was refused" :
		   printed(r, "unshare.tried") ? "unshare and socket were refused and named" :
						 "socket was refused and named",
		   "the kernel needs CONFIG_SECCOMP_FILTER");
	ok = printed(r, "end.reached") && !printed(r, "rlimit.raised");
	doctor_say(doctor_add(d, "supervision", "out of reach", true), ok,
		   ok ? "out of reach" : "reached",
		   "kill -9 1 and raising a limit inside changed nothing", "");
}

static void check_landlock(struct doctor *d)
{
	int abi = d->native->hello.landlock_abi;
	char in_force[64] = "none";

	if (abi > 0)
		snprintf(in_force, sizeof(in_force), "ABI %d", abi);
	doctor_say(doctor_add(d, "landlock", "where available", false), abi > 0, in_force,
		   abi > 0 ? "a run whose ruleset is refused does not start" :
			     "landlock_create_ruleset is refused",
		   "boot a kernel >= 5.13 with landlock in the lsm= list");
}

/* --- limits: one attack each --- */

struct attack {
	const char *name, *wanted, *code;
	enum sandbox_outcome expect;
	bool required;
	void (*tighten)(struct sandbox_limits *limits);
	const char *uncounted; /* by supervision */
	bool not_single;       /* gVisor's kernel holds none: --weaker (sandbox/oci) */
};

static void tight_memory(struct sandbox_limits *l)
{
	l->memory_bytes = 48 << 20;
}

static void tight_processes(struct sandbox_limits *l)
{
	l->processes = 8;
	l->wall_ms = 400; /* bash waits and tries again, for ever */
}

static void tight_wall(struct sandbox_limits *l)
{
	l->wall_ms = 100;
}

static void tight_cpu(struct sandbox_limits *l)
{
	l->cpu_ms = 100;
}

static void tight_disk(struct sandbox_limits *l)
{
	l->disk_bytes = 1 << 20;
}

static void tight_inodes(struct sandbox_limits *l)
{
	l->inodes = 100;
}

static const struct attack attacks[] = {
	{ "memory limit", "cgroup", "x=$(head -c 200000000 /dev/zero | tr '\\0' x); echo ${#x}",
	  SANDBOX_MEMORY, false, tight_memory,
	  "counted every 10 ms, without pipe buffers and small kernel objects" },
	{ "process limit", "cgroup", "for i in {1..30}; do sleep 5 & done; wait",
	  SANDBOX_PROCESS_LIMIT, false, tight_processes },
	{ "wall time limit", "yes", "trap '' TERM INT; sleep 5", SANDBOX_TIMEOUT_WALL, true,
	  tight_wall },
	{ "CPU time limit", "cgroup", "while :; do :; done", SANDBOX_TIMEOUT_CPU, false,
	  tight_cpu },
	{ "disk limit", "yes", "head -c 8000000 /dev/zero >/tmp/fill", SANDBOX_DISK_LIMIT, true,
	  tight_disk },
	{ "inodes limit", "yes", "for i in {1..200}; do : >/tmp/$i || exit; done",
	  SANDBOX_DISK_LIMIT, true, tight_inodes, .not_single = true },
};

static int attempt(struct doctor *d, const char *code, void (*tighten)(struct sandbox_limits *),
		   struct sandbox_result *ret, struct error *err)
{
	struct sandbox_job job = { .language = language_find("bash"),
				   .code = code,
				   .code_len = strlen(code) };
	cleanup_free char *interpreter = NULL;

	if (native_interpreter(d->native, job.language, &interpreter, err) < 0)
		return -1;
	if (!interpreter)
		return error_set(err, ERR_SANDBOX, "bash is not installed: nothing can be tried");
	sandbox_limits_default(&job.limits);
	if (tighten)
		tighten(&job.limits);
	return run_bare(d->native, &job, interpreter, NULL, ret, err);
}

static bool is_by_cgroup(const struct sandbox_result *r, const char *name)
{
	const char *fact = !strcmp(name, "memory limit")  ? "memory_limit" :
			   !strcmp(name, "process limit") ? "pids_limit" :
							    "cpu_limit";

	return !strcmp(sandbox_fact(&r->isolation, fact), "cgroup");
}

static int check_limit(struct doctor *d, const struct attack *a, struct error *err)
{
	cleanup_sandbox_result struct sandbox_result r = { .exit_code = -1 };
	const bool lacks = a->not_single && d->native->hello.single;
	struct sandbox_layer *l = doctor_add(d, a->name, a->wanted, a->required && !lacks);
	bool wants_cgroup = !strcmp(a->wanted, "cgroup");

	if (attempt(d, a->code, a->tighten, &r, err) < 0)
		return -1;
	bool held = r.outcome == a->expect;
	bool cgroup = is_by_cgroup(&r, a->name);
	char proof[160];
	snprintf(proof, sizeof(proof), "an attack ended as %s after %.0f ms%s%s",
		 sandbox_outcome_name(r.outcome), r.metrics.wall_ms,
		 cgroup || !a->uncounted ? "" : "; ", cgroup || !a->uncounted ? "" : a->uncounted);
	char in_force[64];
	if (!held)
		snprintf(in_force, sizeof(in_force), lacks ? "not held" : "no");
	else if (!wants_cgroup)
		snprintf(in_force, sizeof(in_force), "yes");
	else if (cgroup)
		snprintf(in_force, sizeof(in_force), "cgroup %s",
			 sandbox_fact(&r.isolation, "cgroup"));
	else
		snprintf(in_force, sizeof(in_force), "supervision and rlimit");
	doctor_say(l, held && (cgroup || !wants_cgroup), in_force, proof,
		   lacks ? "--weaker runs without, and records that" : REMEDY_CGROUP);
	return 0;
}

static int examine(struct doctor *d, struct error *err)
{
	cleanup_sandbox_result struct sandbox_result r = { .exit_code = -1 };

	if (attempt(d, inside, NULL, &r, err) < 0)
		return -1;
	check_outer(d);
	check_machine(d);
	check_kernel(d, &r);
	check_namespaces(d, &r);
	check_privileges(d, &r);
	check_walls(d, &r);
	check_landlock(d);
	for (size_t i = 0; i < ARRAY_SIZE(attacks); i++)
		if (check_limit(d, &attacks[i], err) < 0)
			return -1;
	doctor_ahead(d);
	return 0;
}

int native_doctor(struct native *s, struct sandbox_layer **ret_layers, size_t *ret_count,
		  struct error *err)
{
	struct doctor d = { .native = s };

	d.layers = mem_array(NULL, DOCTOR_LAYERS_MAX, sizeof(*d.layers));
	if (examine(&d, err) < 0) {
		free(d.layers);
		return -1;
	}
	*ret_layers = d.layers;
	*ret_count = d.count;
	return 0;
}
