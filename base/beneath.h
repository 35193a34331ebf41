/*
 * Files that somebody else names: opened below a folder and nowhere else,
 * whatever links, ".." or mounts of the kernel's own a path leads through.
 */
#ifndef BASE_BENEATH_H
#define BASE_BENEATH_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>

/*
 * As openat for reading; -1 with errno EXDEV when path leads out of the folder
 * (openat2's RESOLVE_BENEATH, without the links of /proc). Where there is no
 * openat2, a link or ".." in path is taken for a way out.
 */
int beneath_open(int folder, const char *path, int flags);

/* Whether an open file is the kernel's word and not somebody's bytes: of /proc,
 * /sys, a control group and the like. */
bool beneath_is_kernels(int fd);

#endif
