/*
 * Languages are rows. Adding one is a row here, and one in verifier/lang (its README.md
 * says how).
 *
 * Python's flags are -s and -B, not -I: -I implies -E, which would discard
 * PYTHONHASHSEED. The environment is entirely ours and HOME is the work
 * folder, so nothing -I protects from can be there.
 */
#include "sandbox/probe.h"

#include "base/mem.h"

#include <strings.h>

#define LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define NOTHING	  ((const char *const[]){ NULL })

/* Interpreters are real paths that the guest's root has: /usr first, because a shim of
 * a version manager on PATH costs more than the interpreter. */
static const struct row {
	struct language language;
	struct language_probe probe;
} rows[] = {
	{ { "python", LIST("py", "python3", "python3.11"),
	    LIST("/usr/bin/python3", "/usr/local/bin/python3"), LIST("-s", "-B"), "main.py",
	    ".py" },
	  { .code = "import importlib.metadata as m, json, os, platform, sys\n"
		    "found = sorted({(d.metadata['Name'] or '', d.version or '')\n"
		    "                for d in m.distributions()})\n"
		    "watch = [p for p in sys.path if p.startswith('/usr') and os.path.isdir(p)]\n"
		    "print(json.dumps({'version': platform.python_version(), 'packages': found,\n"
		    "                  'watch': watch}))\n",
	    .dpkg = LIST("python3", "libpython3"),
	    .notable = LIST("numpy", "pandas", "scipy", "matplotlib", "scikit-learn", "sympy",
			    "statsmodels", "seaborn", "networkx", "pillow", "openpyxl",
			    "beautifulsoup4", "lxml", "PyYAML", "python-dateutil", "pytz", "Jinja2",
			    "regex", "pyarrow", "polars", "plotly", "tabulate", "mpmath", "numba",
			    "pytest", "hypothesis"),
	    .env = LIST("PYTHONHASHSEED=0", "PYTHONDONTWRITEBYTECODE=1", "MPLBACKEND=Agg",
			"MPLCONFIGDIR=/tmp", "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1"),
	    /* To read another encoding than UTF-8 it seeks. */
	    .waits = LIST("-s", "-B"),
	    .waits_not_with = LIST("coding"),
	    .waits_not_beside = NOTHING,
	    /* An archive is run as one, and not opened where a template waits. */
	    .forks_not_with =
		    LIST("PK\5\6", "__subclasses__", "sys.modules", "path_importer_cache") } },
	{ { "javascript", LIST("js", "node", "nodejs", "mjs"),
	    LIST("/usr/bin/node", "/usr/bin/nodejs", "/usr/local/bin/node"), LIST("--no-warnings"),
	    "main.js", ".js" },
	  { .code = "console.log(JSON.stringify({ version: process.versions.node, packages: [],\n"
		    "                             watch: [] }));\n",
	    .dpkg = LIST("nodejs", "libnode"),
	    .notable = NOTHING,
	    .env = NOTHING,
	    /* What a package.json says is known before the program is opened. */
	    .waits = LIST("--no-warnings", "--expose-internals", "--stack-size=6000"),
	    .waits_not_with = NOTHING,
	    .waits_not_beside = LIST("package.json", "node_modules") } },
	{ { "bash", LIST("sh", "shell", "zsh", "console"),
	    LIST("/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"),
	    LIST("--norc", "--noprofile"), "main.sh", ".sh" },
	  { .code = "printf '{\"version\":\"%s\",\"packages\":[],\"watch\":[]}' "
		    "\"${BASH_VERSION%%(*}\"\n",
	    .dpkg = LIST("bash", "coreutils", "mawk", "sed"),
	    .notable = NOTHING,
	    .env = NOTHING } },
	/* The order of a hash's keys is the same in every run, as replay needs it. */
	{ { "perl", LIST("pl", "perl5"), LIST("/usr/bin/perl", "/usr/local/bin/perl"), NOTHING,
	    "main.pl", ".pl" },
	  { .code = "my @has = map { (my $p = $_) =~ s{::}{/}g; my $v = eval { require \"$p.pm\"; "
		    "$_->VERSION };\n"
		    "  defined $v ? qq([\"$_\",\"$v\"]) : () } qw(Text::CSV DateTime JSON);\n"
		    "printf qq({\"version\":\"%vd\",\"packages\":[%s],\"watch\":[%s]}\\n), $^V,\n"
		    "  join(',', @has), join(',', map { qq(\"$_\") } grep { m{^/usr/[\\w./-]+\\z} "
		    "&& -d } @INC);\n",
	    .dpkg = LIST("perl", "libperl5"),
	    .notable = LIST("Text::CSV", "DateTime", "JSON"),
	    .env = LIST("PERL_HASH_SEED=0", "PERL_PERTURB_KEYS=0") } },
};

const struct language *language_at(size_t index)
{
	return index < ARRAY_SIZE(rows) ? &rows[index].language : NULL;
}

const struct language *language_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct language *l = &rows[i].language;

		if (strcasecmp(l->name, name) == 0)
			return l;
		for (const char *const *a = l->aliases; *a != NULL; a++)
			if (strcasecmp(*a, name) == 0)
				return l;
	}
	return NULL;
}

const struct language_probe *language_probe(const struct language *language)
{
	size_t i = 0;

	while (&rows[i].language != language)
		i++;
	return &rows[i].probe;
}
