/*
 * An environment of the user's own: a Python (an interpreter, a virtual environment, a conda
 * folder), a node_modules. Its folders are seen by every run below /env, read-only; nothing that
 * leads out of them is followed. Nothing of it is executed here: what is in it says the
 * interpreter, in the sandbox.
 *
 * A virtual environment is its folder and the installation it was made of. Where that is the
 * system's, the guest has it at its place; where it is another, that is a second folder, and two
 * files of the virtual environment that name it say where it is in the guest.
 */
#include "sandbox/native/environment.h"

#include "base/io.h"
#include "base/mem.h"
#include "sandbox/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CFG_MAX ((size_t)64 << 10)

/* --- paths --- */

static bool is_systems(const char *path)
{
	static const char *const roots[] = { "/usr/", "/bin/", "/lib/", "/lib64/" };

	for (size_t i = 0; i < ARRAY_SIZE(roots); i++)
		if (!strncmp(path, roots[i], strlen(roots[i])))
			return true;
	return false;
}

/* The folder that path is in, count levels up. Caller frees; NULL: there is none but the root. */
static char *above(const char *path, int count)
{
	cleanup_free char *copy = mem_strdup(path);

	for (; count > 0; count--) {
		char *slash = strrchr(copy, '/');

		if (!slash || slash == copy)
			return NULL;
		*slash = '\0';
	}
	return TAKE_PTR(copy);
}

static char *real_path(const char *path)
{
	char real[PATH_MAX];

	return !realpath(path, real) ? NULL : mem_strdup(real);
}

/* The program of a folder, by the name it is started with. Caller frees; NULL: none. */
static char *find_python(const char *folder)
{
	static const char *const names[] = { "bin/python3", "bin/python" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		cleanup_free char *path = mem_printf("%s/%s", folder, names[i]);

		if (access(path, X_OK) == 0)
			return TAKE_PTR(path);
	}
	return NULL;
}

/* --- what is seen --- */

/* Whether what a person keeps of his own, keys among it, would be seen: his home, what it lies in,
 * or the folder in it that has data of all programs beside their installation. */
static bool is_home(const char *path)
{
	const char *home = getenv("HOME");
	cleanup_free char *real = !home ? NULL : real_path(home);
	size_t len = strlen(path);

	if (!real)
		return false;
	if (!strncmp(real, path, len) && (real[len] == '/' || real[len] == '\0'))
		return true;
	len = strlen(real);
	return !strncmp(path, real, len) && !strcmp(path + len, "/.local");
}

static int add_folder(struct own_environment *e, const char *seen, const char *path,
		      struct error *err)
{
	struct own_folder *f = &e->folders[e->count];
	int fd = io_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);

	if (fd < 0)
		return error_set_errno(err, ERR_USAGE, errno, "%s", path);
	*f = (struct own_folder){ .seen = seen, .path = real_path(path), .fd = fd };
	e->count++;
	if (f->path && is_home(f->path))
		return error_set(
			err, ERR_USAGE,
			"%s: all that is in it would be seen by the program; make a virtual "
			"environment (python3 -m venv) and name that",
			path);
	if (!f->path || !strcmp(f->path, "/"))
		return error_set(err, ERR_USAGE, "%s: is no folder of an environment", path);
	return 0;
}

/* The lines of a pyvenv.cfg but those that say where its base is. */
static char *other_lines(const struct buf *cfg)
{
	static const char *const keys[] = { "home", "executable", "base-", "command" };
	struct buf out = BUF_INIT(CFG_MAX);
	cleanup_free char *copy = mem_strndup(cfg->data, cfg->len);
	char *rest = copy, *line;

	while (rest && (line = strsep(&rest, "\n"))) {
		bool named = *line == '\0';

		for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
			named |= !strncmp(line, keys[i], strlen(keys[i]));
		if (!named)
			buf_addf(&out, "%s\n", line);
	}
	return buf_take(&out, NULL);
}

/* An installation whose program looks for its library where it was installed: said in the guest.
 * A conda folder knows better. */
static void find_library(struct own_environment *e, const struct own_folder *f)
{
	cleanup_free char *pattern = mem_printf("%s/lib/libpython3*.so*", f->path);
	cleanup_free char *conda = mem_printf("%s/conda-meta", f->path);
	glob_t found;

	if (access(conda, F_OK) == 0 || glob(pattern, GLOB_NOSORT, NULL, &found) != 0)
		return;
	globfree(&found);
	e->library_path = mem_printf("LD_LIBRARY_PATH=%s/lib", f->seen);
}

/* Of an installation that the guest has not: a folder of its own, and where it is there. */
static int take_base(struct own_environment *e, const char *program, const struct buf *cfg,
		     struct error *err)
{
	cleanup_free char *base = above(program, 2), *lines = other_lines(cfg);
	const char *name = strrchr(program, '/') + 1;

	if (!base || add_folder(e, OWN_BASE, base, err) < 0)
		return !base ? error_set(err, ERR_USAGE, "%s: is in no folder", program) : -1;
	find_library(e, &e->folders[1]);
	e->folders[0].cfg = mem_printf("home = " OWN_BASE "/bin\n%s", lines);
	e->folders[0].link = mem_printf(OWN_BASE "/bin/%s", name);
	return 0;
}

static int no_python(const char *folder, struct error *err)
{
	cleanup_free char *program = mem_printf("%s/bin/python3", folder);
	char to[PATH_MAX] = "";

	if (readlink(program, to, sizeof(to) - 1) > 0 && access(program, F_OK) < 0)
		return error_set(err, ERR_USAGE,
				 "--python %s: its bin/python3 leads to %s, which is not there: "
				 "make the environment again",
				 folder, to);
	return error_set(err, ERR_USAGE,
			 "--python %s: has no bin/python3: name an interpreter, a virtual "
			 "environment or a conda folder",
			 folder);
}

/* The folder of a Python: with a pyvenv.cfg it is a virtual environment. named: the one of its
 * programs that was asked for; NULL: the usual one. */
static int take_python_folder(struct own_environment *e, const char *folder, const char *named,
			      struct error *err)
{
	cleanup_free char *program = named ? mem_strdup(named) : find_python(folder);
	cleanup_buf struct buf cfg = BUF_INIT(CFG_MAX);

	if (!program)
		return no_python(folder, err);
	e->binary = real_path(program);
	cleanup_free char *cfg_path = mem_printf("%s/pyvenv.cfg", folder);
	struct error ignored = ERROR_INIT;
	e->is_venv = io_read_file(cfg_path, &cfg, &ignored) == 0;
	if (!e->binary)
		return error_set_errno(err, ERR_USAGE, errno, "%s", program);
	if (add_folder(e, OWN_PYTHON, folder, err) < 0)
		return -1;
	e->python = e->is_venv ? mem_strdup(OWN_PYTHON "/bin/python") :
				 mem_printf(OWN_PYTHON "/bin/%s", strrchr(program, '/') + 1);
	if (!e->is_venv)
		find_library(e, &e->folders[0]);
	if (!e->is_venv || is_systems(e->binary))
		return 0;
	return take_base(e, e->binary, &cfg, err);
}

/* One that starts what no text of it says: pyenv has such for all its versions. */
static bool is_script(const char *path)
{
	int fd = io_open(path, O_RDONLY | O_CLOEXEC, 0);
	char begin[2] = "";

	if (fd < 0)
		return false;
	bool is_read = pread(fd, begin, 2, 0) == 2;
	io_close(fd);
	return is_read && !memcmp(begin, "#!", 2);
}

/* The one its bin is in. Caller frees. */
static char *folder_of_program(const char *path)
{
	const char *slash = strrchr(path, '/');
	cleanup_free char *bin =
		!slash ? mem_strdup(".") : mem_strndup(path, (size_t)(slash - path) + 1);
	cleanup_free char *real = real_path(bin);

	return !real ? NULL : above(real, 1);
}

static int take_python(struct own_environment *e, const char *path, struct error *err)
{
	cleanup_free char *real = real_path(path), *folder = NULL, *cfg = NULL;
	struct stat st;

	if (!real || stat(path, &st) < 0)
		return error_set_errno(err, ERR_USAGE, errno, "--python %s", path);
	e->python_from = mem_strdup(path);
	if (S_ISDIR(st.st_mode))
		return take_python_folder(e, real, NULL, err);
	if (!S_ISREG(st.st_mode) || access(path, X_OK) < 0)
		return error_set(err, ERR_USAGE, "--python %s: is no program", path);
	if (is_script(path))
		return error_set(err, ERR_USAGE,
				 "--python %s: is a script that starts an interpreter: name what "
				 "it says to \"import sys; print(sys.executable)\"",
				 path);
	/* bin/python of a virtual environment is a link: where it is named counts first. */
	folder = folder_of_program(path);
	cfg = folder ? mem_printf("%s/pyvenv.cfg", folder) : NULL;
	if (cfg && access(cfg, R_OK) == 0)
		return take_python_folder(e, folder, NULL, err);
	if (is_systems(real)) {
		e->python = mem_strdup(real);
		e->binary = mem_strdup(real);
		return 0;
	}
	free(folder);
	folder = above(real, 2);
	return folder ? take_python_folder(e, folder, real, err) :
			error_set(err, ERR_USAGE, "--python %s: is in no folder", path);
}

static int take_node_modules(struct own_environment *e, const char *path, struct error *err)
{
	cleanup_free char *inner = mem_printf("%s/node_modules", path);
	cleanup_free char *real = real_path(path);
	const char *name = real ? strrchr(real, '/') : NULL;

	if (name && strcmp(name, "/node_modules") && access(inner, F_OK) == 0)
		return error_set(err, ERR_USAGE,
				 "--node-modules %s: what has modules is its folder node_modules: "
				 "name %s",
				 path, inner);
	if (add_folder(e, OWN_MODULES, path, err) < 0)
		return error_wrap(err, "--node-modules");
	e->node_from = mem_strdup(e->folders[e->count - 1].path);
	return 0;
}

int environment_open(struct own_environment *ret, const struct sandbox_options *options,
		     struct error *err)
{
	*ret = (struct own_environment){ .count = 0 };
	if ((options->python && take_python(ret, options->python, err) < 0) ||
	    (options->node_modules && take_node_modules(ret, options->node_modules, err) < 0)) {
		environment_release(ret);
		return -1;
	}
	return 0;
}

void environment_release(struct own_environment *e)
{
	for (size_t i = 0; i < e->count; i++) {
		if (e->folders[i].fd >= 0)
			io_close(e->folders[i].fd);
		free(e->folders[i].path);
		free(e->folders[i].cfg);
		free(e->folders[i].link);
	}
	free(e->python);
	free(e->binary);
	free(e->python_from);
	free(e->node_from);
	free(e->library_path);
	*e = (struct own_environment){ .count = 0 };
}

bool environment_is_python(const struct native *s, const struct language *language)
{
	return s->own.python && language_probe(language)->own == LANGUAGE_OWN_INTERPRETER;
}

const char *environment_from(const struct native *s, const struct language *language)
{
	switch (language_probe(language)->own) {
	case LANGUAGE_OWN_INTERPRETER:
		return s->own.python_from;
	case LANGUAGE_OWN_MODULES:
		return s->own.node_from;
	case LANGUAGE_OWN_NOTHING:
	default:
		return NULL;
	}
}

/* What the guest sees as path below /env, here. Caller frees; NULL: it is none of those. */
char *environment_host_path(const struct native *s, const char *path)
{
	for (size_t i = 0; i < s->own.count; i++) {
		const struct own_folder *f = &s->own.folders[i];
		size_t len = strlen(f->seen);

		if (!strncmp(path, f->seen, len) && (path[len] == '/' || path[len] == '\0'))
			return mem_printf("%s%s", f->path, path + len);
	}
	return NULL;
}
