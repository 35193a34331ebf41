/* The keeper as the only program of a virtual machine: QEMU's microvm. */
#ifndef SANDBOX_MICROVM_H
#define SANDBOX_MICROVM_H

#include "sandbox/backend.h"

extern const struct backend microvm_backend, firecracker_backend;

/* --- kernel.c --- */

struct guest_kernel {
	char *image;   /* its path; owned */
	char *modules; /* the folder of its modules; owned */
	char *version; /* owned */
};

/* The newest below folder ("boot/vmlinuz-VERSION" beside "lib/modules/VERSION"), as Debian's
 * linux-image packages lay it, installed or only extracted; one made for clouds before others.
 * NULL: wherever one is looked for. */
int guest_kernel_find(const char *folder, struct guest_kernel *ret, struct error *err);
/* The same as an ELF file, which Firecracker wants: "boot/vmlinux-VERSION". */
int guest_kernel_unpacked(struct guest_kernel *kernel, struct error *err);
void guest_kernel_release(struct guest_kernel *kernel);

#endif
