/*
 * A program is compiled by RestrictedPython (restricted.py), with guards and a short list of
 * builtins and modules, and runs so in the native sandbox. What it is not allowed is refused as it
 * is compiled or when it is reached. It is a screen and never a wall: those are the native ones
 * around it.
 */
#include "sandbox/restricted/restricted.h"

#include "sandbox/guest/guest.h"

static int open_restricted(void **ret_self, const struct sandbox_options *options,
			   struct error *err)
{
	static const struct guest_try tries[] = {
		{ "module os", "import os\n" },
		{ "files", "open('/work/main.py')\n" },
		{ "names that begin with _", "().__class__\n" },
		{ "exec", "exec('1')\n" },
		{ .name = NULL },
	};
	static const struct guest_mode mode = {
		.name = "restricted",
		.language = "python",
		.driver = "python",
		.source = "sandbox/restricted/restricted.py",
		.program = "main.guest",
		.describes = true,
		.only_guests = true,
		.tries = tries,
		.remedy =
			"install the Debian package python3-restrictedpython, or RestrictedPython "
			"into the environment of --python",
	};

	return guest_open(ret_self, &mode, options, err);
}

const struct backend restricted_backend = {
	.name = "restricted",
	.summary = "RestrictedPython, in the native sandbox",
	.place = "a mode of Python's",
	.takes_own = true,
	.takes_sources = true,
	.open = open_restricted,
	GUEST_ROWS,
};
