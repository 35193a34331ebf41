/*
 * Pyodide of the user's own node_modules, seen by the run below /env: its Python is WebAssembly, so
 * that what a program breaks out of first is that, and then the native walls, which are around
 * node. The driver (pyodide.js) gives it the run's folders and streams. `js` leads a program out of
 * it by design. It counts as no wall.
 */
#include "sandbox/pyodide/pyodide.h"

#include "sandbox/guest/guest.h"

static int open_pyodide(void **ret_self, const struct sandbox_options *options, struct error *err)
{
	static const struct guest_try tries[] = {
		{ "processes", "import subprocess\nsubprocess.run(['true'])\n" },
		{ "files outside of the run's folders", "open('/etc/passwd')\n" },
		{ .name = NULL },
	};
	static const struct guest_mode mode = {
		.name = "pyodide",
		.language = "python",
		.driver = "javascript",
		.source = "sandbox/pyodide/pyodide.js",
		.program = "main.py",
		.wheels = "pyodide",
		.tries = tries,
		.remedy = "npm install pyodide (or @pyodide/pyodide, which has numpy), and name "
			  "the folder by --node-modules",
	};

	if (!options->node_modules)
		return error_set(err, ERR_CONFIG,
				 "the pyodide sandbox needs the npm package pyodide: npm install "
				 "pyodide (or @pyodide/pyodide, which has numpy), and "
				 "--node-modules node_modules (or node-modules = DIR of the "
				 "configuration)");
	return guest_open(ret_self, &mode, options, err);
}

const struct backend pyodide_backend = {
	.name = "pyodide",
	.summary = "Python as WebAssembly, in the native sandbox",
	.place = "a mode of Python's",
	.takes_own = true,
	.takes_sources = true,
	.open = open_pyodide,
	.run_pair = guest_run_pair,
	GUEST_ROWS,
};
