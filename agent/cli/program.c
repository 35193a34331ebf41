/*
 * The program around the commands: from argv to a row of the table, and from its exit code and
 * error to what the person reads. It knows no command by name but "help" and "version".
 */
#include "agent/cli/program.h"

#include "agent/cli/command.h"
#include "agent/cli/help/help.h"
#include "agent/cli/terminal/term.h"
#include "base/mem.h"

#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

/*
 * A descriptor 0, 1 or 2 that is closed would be given to the next file
 * opened, and an answer could end up in the log. /dev/null fills the gaps;
 * as standard output it is opened for reading, so that writing still fails.
 */
static void fill_standard_descriptors(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

/* Keys live in this process: no other process of the user may read its memory. */
static void protect_memory(void)
{
#ifndef SANITIZED
	prctl(PR_SET_DUMPABLE, 0);
#endif
}

static int unknown_command(struct terminal *term, const char *word)
{
	const char *names[32];
	size_t n = 0;

	names[n++] = "help"; /* no row of the table, but a word that is known */
	for (const struct command *c = command_table; c->name && n < ARRAY_SIZE(names); c++)
		if (*c->name)
			names[n++] = c->name;
	const char *nearest = option_nearest(word, names, n);
	if (strchr(word, ' '))
		term_error(term, "unknown command; to ask a question: assay ask \"%.60s\"", word);
	else if (nearest)
		term_error(term, "unknown command \"%.60s\"; did you mean \"%s\"?", word, nearest);
	else
		term_error(term, "unknown command \"%.60s\"; assay --help lists the commands",
			   word);
	return EXIT_USAGE;
}

/* The first report of an error, before any setting of colour is known. */
static int tell(struct terminal *term, const struct command *c, const struct error *err)
{
	const char *space = *c->name ? " " : "";

	term_error(term, "%s", err->message);
	if (err->kind == ERR_USAGE)
		term_note(term, TERM_DIM, "assay%s%s --help tells more\n", space, c->name);
	return exit_code_of_error(err);
}

static int finish(struct terminal *term, const struct command *c, int code, struct error *err)
{
	term_status(term, NULL);
	struct error last = ERROR_INIT;
	if (term_out_end(term, &last) < 0 && err->kind == ERR_NONE) {
		*err = last;
		code = EXIT_FAILED;
	}
	if (err->kind != ERR_NONE && !(err->kind == ERR_FAILED && term_reader_left(term)))
		tell(term, c, err);
	return code;
}

/* A sandbox's credential is a key like a model's: found, kept and redacted as those are. */
static int find_secret(void *self, const char *name, const char **ret, struct error *err)
{
	const struct settings *s = self;

	return keys_find(&s->app->keys, &s->config, name, ret, NULL, err);
}

static int run_with_options(struct app *app, const struct command *c, const struct options *options)
{
	struct error err = ERROR_INIT;
	struct terminal *term = &app->terminal;

	if (options->given[OPT_HELP].count)
		return finish(term, c,
			      help_subcommand(term, c, options->arg_count ? options->args[0] : NULL,
					      &err) < 0 ?
				      EXIT_FAILED :
				      EXIT_OK,
			      &err);
	if (options->given[OPT_VERSION].count)
		return finish(term, c, help_version(term, &err) < 0 ? EXIT_FAILED : EXIT_OK, &err);
	struct settings settings;
	if (settings_load(&settings, options, &err) < 0)
		return tell(term, c, &err);
	settings.app = app;
	settings.means.secret = find_secret;
	settings.means.secret_self = &settings;
	term_set(term, settings.color, settings.quiet);
	term_set_out(term, settings.color_out);
	int code = c->run(&settings, &err);
	settings_release(&settings);
	return finish(term, c, code, &err);
}

static int run_command(struct app *app, const struct command *c, int argc, char **argv)
{
	struct error err = ERROR_INIT;
	struct options options;
	struct terminal *term = &app->terminal;

	if (options_parse(&options, argc, argv, c->bit, &err) < 0)
		return tell(term, c, &err);
	int code;
	if (!*c->name && options.arg_count && command_find(options.args[0])) {
		term_error(term, "options go after the command: assay %s ...", options.args[0]);
		code = EXIT_USAGE;
	} else if (!*c->name && options.arg_count) {
		code = unknown_command(term, options.args[0]);
	} else {
		code = run_with_options(app, c, &options);
	}
	options_release(&options);
	return code;
}

/* "assay help [COMMAND]" is what people type first. */
static int run_help(struct terminal *term, int argc, char **argv)
{
	const struct command *c = argc ? command_find(argv[0]) : command_find("");

	if (!c)
		return unknown_command(term, argv[0]);
	struct error err = ERROR_INIT;
	int rc = *c->name ? help_subcommand(term, c, argc > 1 ? argv[1] : NULL, &err) :
			    help_program(term, &err);
	return finish(term, c, rc < 0 ? EXIT_FAILED : EXIT_OK, &err);
}

static int run_words(struct app *app, int argc, char **argv)
{
	if (argc < 2)
		return run_command(app, command_find(""), 0, argv);
	if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return run_help(&app->terminal, argc - 2, argv + 2);
	if (!strcmp(argv[1], "version") && argc == 2)
		return run_command(app, command_find(""), 1, (char *[]){ (char[]){ "--version" } });
	if (argv[1][0] == '-')
		return run_command(app, command_find(""), argc - 1, argv + 1);
	const struct command *c = *argv[1] ? command_find(argv[1]) : NULL;
	return c ? run_command(app, c, argc - 2, argv + 2) :
		   unknown_command(&app->terminal, argv[1]);
}

int program_main(int argc, char **argv)
{
	fill_standard_descriptors();
	protect_memory();
	struct app app;
	app_open(&app);
	int code = run_words(&app, argc, argv);
	app_close(&app);
	return code;
}
