/*
 * The filter compiler: a program of the build, not of the product.
 *
 *	seccomp-compile x86_64|aarch64 > seccomp_filter.h
 *
 * It writes the finished filters as C arrays (binary tree, loaded raw with
 * seccomp(2)), their text form, and the names of the system calls, so that
 * nothing at run time needs libseccomp. Any host can compile for any of the
 * architectures.
 *
 * What is allowed is seccomp_policy.c's: nothing here names a call but those whose rule is no row.
 */
#include "sandbox/native/seccomp_policy.h"

#include <errno.h>
#include <seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define COUNT(a)   (sizeof(a) / sizeof((a)[0]))
#define NAMES_MAX  1024
#define NAME_BYTES 32 /* as in protocol_forbidden */

static void fail(int status, const char *what)
{
	fprintf(stderr, "seccomp-compile: %s: %s\n", what, strerror(-status));
	exit(1);
}

/*
 * What seccomp_rule_add wants: the number this host has for the name (possibly
 * a negative stand-in), which it translates for the filter's architecture.
 * False when that architecture has no such call.
 */
static int resolve(uint32_t arch, const char *name, int *ret_number)
{
	int there = seccomp_syscall_resolve_name_arch(arch, name);

	if (there == __NR_SCMP_ERROR)
		fail(-EINVAL, name);
	if (there < 0)
		return 0;
	*ret_number = seccomp_syscall_resolve_name(name);
	return 1;
}

static void add(scmp_filter_ctx ctx, uint32_t arch, const char *name,
		const struct scmp_arg_cmp *when, unsigned count)
{
	int number;

	if (!resolve(arch, name, &number))
		return;
	int status = seccomp_rule_add_exact_array(ctx, SCMP_ACT_ALLOW, number, count, when);
	if (status < 0)
		fail(status, name);
}

static void allow(scmp_filter_ctx ctx, uint32_t arch, const char *name)
{
	add(ctx, arch, name, NULL, 0);
}

static void allow_when(scmp_filter_ctx ctx, uint32_t arch, const struct seccomp_row *a)
{
	struct scmp_arg_cmp when[2] = {
		{ .arg = a->arg,
		  .op = SCMP_CMP_MASKED_EQ,
		  .datum_a = a->mask,
		  .datum_b = a->value },
		{ .arg = a->second,
		  .op = SCMP_CMP_MASKED_EQ,
		  .datum_a = LOW32,
		  .datum_b = a->second_value },
	};

	add(ctx, arch, a->name, when, a->second ? 2 : 1);
}

/*
 * Limits: of oneself, all but RLIMIT_CORE, whose value is what keeps the kernel from
 * starting the host's handler of crashes (crash.c): nobody sets that, and what is
 * answered to who tries the keeper knows. The kernel looks at 32 bits of a resource
 * and a pid, and at all of a pointer.
 */
static void allow_limits(scmp_filter_ctx ctx, uint32_t arch)
{
	enum { PID, RESOURCE, NEW };
	const struct scmp_arg_cmp own = SCMP_A0_64(SCMP_CMP_MASKED_EQ, LOW32, 0);
	const struct scmp_arg_cmp read[] = { own, { .arg = NEW, .op = SCMP_CMP_EQ } };

	add(ctx, arch, "prlimit64", read, COUNT(read));
	for (uint32_t r = 0; r < RLIM_NLIMITS; r++) {
		const struct scmp_arg_cmp here[] = { SCMP_A0_64(SCMP_CMP_MASKED_EQ, LOW32, r) },
					  write[] = { own,
						      { .arg = RESOURCE,
							.op = SCMP_CMP_MASKED_EQ,
							.datum_a = LOW32,
							.datum_b = r } };

		if (r == RLIMIT_CORE)
			continue;
		add(ctx, arch, "setrlimit", here, COUNT(here));
		add(ctx, arch, "prlimit64", write, COUNT(write));
	}
}

static void refuse_as_absent(scmp_filter_ctx ctx, uint32_t arch)
{
	for (const char *const *name = seccomp_absent; *name; name++) {
		int number;

		if (!resolve(arch, *name, &number))
			continue;
		int status = seccomp_rule_add_exact(ctx, SCMP_ACT_ERRNO(ENOSYS), number, 0);
		if (status < 0)
			fail(status, *name);
	}
}

static void allow_all(scmp_filter_ctx ctx, uint32_t arch, const char *const *names)
{
	for (; *names; names++)
		allow(ctx, arch, *names);
}

static void allow_rows(scmp_filter_ctx ctx, uint32_t arch, const struct seccomp_row *rows)
{
	for (; rows->name; rows++)
		allow_when(ctx, arch, rows);
}

/* plain: nobody is asked about what is not allowed. */
static scmp_filter_ctx build(uint32_t arch, int with_groups, int plain)
{
	scmp_filter_ctx ctx = seccomp_init(plain ? SCMP_ACT_ERRNO(EPERM) : SCMP_ACT_NOTIFY);

	if (!ctx)
		fail(-ENOMEM, "seccomp_init");
	int status = seccomp_arch_add(ctx, arch);
	if (status < 0 && status != -EEXIST)
		fail(status, "seccomp_arch_add");
	if (arch != seccomp_arch_native())
		status = seccomp_arch_remove(ctx, seccomp_arch_native());
	if (status < 0 && status != -EEXIST)
		fail(status, "seccomp_arch_remove");
	status = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH,
				  plain ? SCMP_ACT_ERRNO(EPERM) : SCMP_ACT_NOTIFY);
	if (status < 0)
		fail(status, "bad architecture action");
	status = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (status < 0)
		fail(status, "binary tree");
	allow_all(ctx, arch, seccomp_allowed);
	if (with_groups)
		allow_all(ctx, arch, seccomp_allowed_with_groups);
	allow_rows(ctx, arch, seccomp_conditional);
	allow_limits(ctx, arch);
	allow_rows(ctx, arch,
		   with_groups ? seccomp_conditional_with_groups : seccomp_conditional_supervised);
	refuse_as_absent(ctx, arch);
	return ctx;
}

/* What export wrote to a memory file, whole. */
static unsigned char *exported(int (*export)(const scmp_filter_ctx, int), scmp_filter_ctx ctx,
			       size_t *ret_len)
{
	int fd = memfd_create("filter", MFD_CLOEXEC);

	if (fd < 0 || export(ctx, fd) < 0)
		fail(-errno, "export");
	off_t len = lseek(fd, 0, SEEK_END);
	unsigned char *bytes = malloc((size_t)len + 1);
	if (!bytes || pread(fd, bytes, (size_t)len, 0) != len)
		fail(-EIO, "read back");
	close(fd);
	*ret_len = (size_t)len;
	return bytes;
}

static void print_program(const char *name, scmp_filter_ctx ctx)
{
	struct {
		uint16_t code;
		uint8_t jt, jf;
		uint32_t k;
	} insn;
	size_t len;
	unsigned char *bytes = exported(seccomp_export_bpf, ctx, &len);

	printf("static const struct sock_filter seccomp_%s[] = {\n", name);
	for (size_t at = 0; at + sizeof(insn) <= len; at += sizeof(insn)) {
		memcpy(&insn, bytes + at, sizeof(insn));
		printf("\t{ 0x%02x, %u, %u, 0x%08x },\n", insn.code, insn.jt, insn.jf, insn.k);
	}
	printf("};\n\n");
	free(bytes);
}

/* As numbers: ISO C promises string literals of 4095 bytes only. */
static void print_text(const char *name, scmp_filter_ctx ctx)
{
	static const char head[] =
		"# action 0x7fc00000: notify the keeper, which names the call and refuses it\n";
	size_t len;
	unsigned char *bytes = exported(seccomp_export_pfc, ctx, &len);

	printf("static const char seccomp_%s_text[] = {", name);
	for (size_t i = 0; i < sizeof(head) - 1; i++)
		printf("%s%d,", i % 24 == 0 ? "\n\t" : " ", head[i]);
	for (size_t i = 0; i < len; i++)
		printf("%s%d,", i % 24 == 0 ? "\n\t" : " ", bytes[i]);
	printf("\n\t0 };\n\n");
	free(bytes);
}

static void print_names(const char *table, uint32_t arch)
{
	/* Bytes, not pointers: nothing to relocate when the keeper starts. */
	printf("static const char seccomp_%s[][%d] = {\n", table, NAME_BYTES);
	for (int number = 0; number < NAMES_MAX; number++) {
		char *name = seccomp_syscall_resolve_num_arch(arch, number);

		if (name && strlen(name) < NAME_BYTES)
			printf("\t[%d] = \"%s\",\n", number, name);
		free(name);
	}
	printf("};\n\n");
}

int main(int argc, char **argv)
{
	int arm = argc > 1 && !strcmp(argv[1], "aarch64");
	uint32_t arch = arm ? SCMP_ARCH_AARCH64 : SCMP_ARCH_X86_64;
	uint32_t foreign = arm ? SCMP_ARCH_ARM : SCMP_ARCH_X86;

	if (argc != 2 || (!arm && strcmp(argv[1], "x86_64"))) {
		fprintf(stderr, "usage: seccomp-compile x86_64|aarch64\n");
		return 2;
	}
	/* Exporting notifications must not depend on the kernel of the build host. */
	seccomp_api_set(6);
	scmp_filter_ctx standard = build(arch, 1, 0);
	scmp_filter_ctx supervised = build(arch, 0, 0);
	scmp_filter_ctx plain = build(arch, 1, 1);
	printf("/* Made by sandbox/native/seccomp.c for %s. */\n", argv[1]);
	printf("#define SECCOMP_ARCH_NAME \"%s\"\n", argv[1]);
	printf("#define SECCOMP_ARCH_NATIVE 0x%xu\n", arch);
	printf("#define SECCOMP_FOREIGN_NAME \"%s\"\n", arm ? "arm" : "i386");
	printf("#define SECCOMP_ARCH_FOREIGN 0x%xu\n\n", foreign);
	printf("#ifdef SECCOMP_WANT_PROGRAMS\n");
	print_program("standard", standard);
	print_program("supervised", supervised);
	print_program("plain", plain);
	printf("#endif\n#ifdef SECCOMP_WANT_TEXT\n");
	print_text("standard", standard);
	print_text("supervised", supervised);
	print_text("plain", plain);
	printf("#endif\n#ifdef SECCOMP_WANT_NAMES\n");
	print_names("names", arch);
	print_names("foreign_names", foreign);
	printf("#endif\n");
	seccomp_release(standard);
	seccomp_release(supervised);
	seccomp_release(plain);
	return fflush(stdout) == 0 ? 0 : 1;
}
