/*
 * A v2 group that was delegated to us while we are in it, as by `systemd-run
 * --scope -p Delegate=yes assay` or a service with User= and Delegate=. It hands
 * no controller down, and cannot as long as it has processes of its own (the
 * rule of cgroups(7) that only leaves have any). So, as systemd's
 * CGROUP_DELEGATION says, all of them move into a leaf, and then it can.
 *
 * Only a group that is marked as delegated, or that belongs to us when we are
 * not root, is touched: root could rearrange every session of the host.
 */
#include "sandbox/native/keeper/delegation.h"

#include "sandbox/native/keeper/hierarchy.h"
#include "sandbox/native/keeper/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define LEAF	   "members"
#define MOVE_TRIES 20 /* processes fork while they are moved */

static bool is_delegated(int group)
{
	static const char *const marks[] = { "user.delegate", "trusted.delegate" };

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		char value = '0';

		if (fgetxattr(group, marks[i], &value, 1) == 1 && value == '1')
			return true;
	}
	struct stat st;
	return geteuid() != 0 && fstat(group, &st) == 0 && st.st_uid == geteuid();
}

/* Moves every process of the group that is there now; how many, or -1. */
static int move_members(int group, int leaf)
{
	static char text[HIERARCHY_TEXT];

	if (file_read(group, "cgroup.procs", text, sizeof(text)) < 0)
		return -1;
	int count = 0;
	for (char *at = text, *end; *at != '\0'; at = end + (*end != '\0')) {
		end = strchrnul(at, '\n');
		/* One that ended meanwhile is no failure: it is not there next time. */
		if (end > at && write(leaf, at, (size_t)(end - at)) < 0 && errno != ESRCH)
			return -1;
		count += end > at;
	}
	return count;
}

static bool empty_into_leaf(int group)
{
	if (mkdirat(group, LEAF, 0755) < 0 && errno != EEXIST)
		return false;
	int leaf = openat(group, LEAF "/cgroup.procs", O_WRONLY | O_CLOEXEC);
	int moved = -1;
	for (int try = 0; leaf >= 0 && try < MOVE_TRIES; try++) {
		moved = move_members(group, leaf);
		if (moved <= 0)
			break;
	}
	if (leaf >= 0)
		close(leaf);
	return moved == 0;
}

/* Each on its own: one that is refused costs only itself. */
static bool hand_down(int group, const char *available)
{
	static const char *const controllers[] = { "memory", "pids", "cpu" };
	int limits = 0;

	for (size_t i = 0; i < sizeof(controllers) / sizeof(controllers[0]); i++) {
		char order[32];

		snprintf(order, sizeof(order), "+%s", controllers[i]);
		if (hierarchy_list_has(available, strlen(available), controllers[i]) &&
		    file_write(group, "cgroup.subtree_control", order) == 0)
			limits += i < 2;
	}
	return limits > 0;
}

bool delegation_take(const char *path)
{
	static char available[HIERARCHY_TEXT];
	int group = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool done = group >= 0 && is_delegated(group) &&
		    faccessat(group, "cgroup.subtree_control", W_OK, AT_EACCESS) == 0 &&
		    file_read(group, "cgroup.controllers", available, sizeof(available)) > 0 &&
		    (hierarchy_list_has(available, strlen(available), "memory") ||
		     hierarchy_list_has(available, strlen(available), "pids")) &&
		    empty_into_leaf(group) && hand_down(group, available);

	if (group >= 0)
		close(group);
	return done;
}
