// threat: 56 setuid bits and file capabilities gain nothing
// limit: wall_ms=5000
#include "probe.h"
#include <sys/xattr.h>
int main(int argc, char **argv)
{
	static const unsigned char caps[20] = { 1, 0, 0, 2, 0xff, 0xff, 0xff, 0xff };
	must(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
	for (int c = 0; c < 41; c++)
		must(prctl(PR_CAPBSET_READ, c) == 0 || errno == EINVAL); /* there is no such */
	must(setxattr("/work/probe", "security.capability", caps, sizeof(caps), 0) < 0);
	must(getuid() == 65534 && geteuid() == 65534);
	must(chown("/work/probe", 0, 0) < 0);
	must(chmod("/work/probe", 06755) == 0); /* our own: nothing to gain */
}
