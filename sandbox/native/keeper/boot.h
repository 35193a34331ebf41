/*
 * A machine whose pid 1 is the keeper: what its starter (machine.c, firecracker.c) and what runs in
 * it (boot.c) have agreed on.
 */
#ifndef KEEPER_BOOT_H
#define KEEPER_BOOT_H

#include <stdbool.h>
#include <stddef.h>

#define KEEPER_INIT "/init" /* what this program is called there */

#define BOOT_MODULES	 "/modules" /* loaded in the order of their names */
#define BOOT_DISK	 "/dev/vda" /* ext4, read-only */
#define BOOT_PORT_STREAM 1	    /* of virtio's serial device, by their numbers */
#define BOOT_PORT_ERRORS 2
#define BOOT_VSOCK	 "/dev/vsock" /* where it is, it is the stream */
#define BOOT_VSOCK_PORT	 1024
#define BOOT_BEGIN	 "b" /* the first byte there, of who wants the stream */

/* This program as pid 1 of a machine. */
void boot_main(void) __attribute__((noreturn));

/* --- initramfs.c --- */

/* A memfd with an archive for the kernel: this program as KEEPER_INIT, folders to mount on, and of
 * the modules below folder ("/lib/modules/VERSION") those that a machine of that kind needs and the
 * kernel does not have built in. */
int initramfs_make(const char *folder, bool vsock, int *ret_fd);

#endif
