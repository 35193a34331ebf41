/*
 * Languages are rows. Adding one is a row here, and one in verifier/lang (its README.md says how).
 * A row is data, and may start nothing.
 *
 * Python's flags are -s and -B, not -I: -I implies -E, which would discard PYTHONHASHSEED. The
 * environment is entirely ours and HOME is the work folder, so nothing -I protects from can be
 * there.
 */
#include "sandbox/probe.h"

#include "base/mem.h"

#include <strings.h>

#define LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define NOTHING	  ((const char *const[]){ NULL })

/* Each imports what those it needs do. */
static const struct language_package python_packages[] = {
	{ "numpy", 0, "numpy", LIST("numpy", ".npy", ".npz") },
	{ "pandas", 1, "pandas", LIST("pandas", "DataFrame", ".csv", ".tsv", ".xlsx", ".parquet") },
	{ "matplotlib", 1, "matplotlib.pyplot",
	  LIST("matplotlib", "pyplot", "plot", "chart", "histogram") },
	{ NULL, 0, NULL, NULL },
};

/* Interpreters are real paths that the guest's root has: /usr first, because a shim of
 * a version manager on PATH costs more than the interpreter. */
static const struct row {
	struct language language;
	struct language_probe probe;
} rows[] = {
	{ { "python", LIST("py", "python3", "python3.11"),
	    LIST("/usr/bin/python3", "/usr/local/bin/python3"), LIST("-s", "-B"), "main.py",
	    ".py" },
	  { .code = "import json, os, platform, sys\n"
		    "try:\n"
		    "    import importlib.metadata as m\n"
		    "    had = list(m.distributions())\n"
		    "except ImportError:\n"
		    "    had = []\n"
		    "found = sorted({(d.metadata['Name'] or '', d.version or '') for d in had})\n"
		    "watch = [p for p in sys.path if p.startswith(('/usr', '/env')) and "
		    "os.path.isdir(p)]\n"
		    "answer = {'version': platform.python_version(), 'packages': found, 'watch': "
		    "watch}\n"
		    /* Of an environment of the user's own, what leads out of it. */
		    "notes = []\n"
		    "for d in had:\n"
		    "    url = json.loads(d.read_text('direct_url.json') or '{}')\n"
		    "    if url.get('dir_info', {}).get('editable'):\n"
		    "        notes.append('%s is an editable install of %s, which is outside of "
		    "the '\n"
		    "                     'environment' % (d.metadata['Name'], url.get('url')))\n"
		    "for p in watch:\n"
		    "    if not p.startswith('/env'):\n"
		    "        continue\n"
		    "    for n in sorted(os.listdir(p)):\n"
		    "        f = os.path.join(p, n)\n"
		    "        if os.path.islink(f) and not os.path.exists(f):\n"
		    "            notes.append('%s is a link to %s, outside of the environment' % "
		    "(n, os.readlink(f)))\n"
		    "        elif n.endswith(('.pth', '.egg-link')):\n"
		    "            for line in open(f, errors='replace'):\n"
		    "                line = line.strip()\n"
		    "                if line and line[0] != '#' and not line.startswith('import') "
		    "and not "
		    "os.path.exists(os.path.join(p, line)):\n"
		    "                    notes.append('%s leads to %s, outside of the environment' "
		    "% (n, line))\n"
		    "if notes:\n"
		    "    answer['notes'] = notes[:20]\n"
		    "print(json.dumps(answer))\n",
	    .dpkg = LIST("python3", "libpython3"),
	    .notable = LIST("numpy", "pandas", "scipy", "matplotlib", "scikit-learn", "sympy",
			    "statsmodels", "seaborn", "networkx", "pillow", "openpyxl",
			    "beautifulsoup4", "lxml", "PyYAML", "python-dateutil", "pytz", "Jinja2",
			    "regex", "pyarrow", "polars", "plotly", "tabulate", "mpmath", "numba",
			    "pytest", "hypothesis"),
	    .env = LIST("PYTHONHASHSEED=0", "PYTHONDONTWRITEBYTECODE=1", "MPLBACKEND=Agg",
			"MPLCONFIGDIR=/tmp", "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1"),
	    /* To read another encoding than UTF-8 it seeks. */
	    .waits = LIST("-s", "-B", "-S"),
	    .waits_not_with = LIST("coding"),
	    .waits_not_beside = NOTHING,
	    /* An archive is run as one, and not opened where a template waits. */
	    .forks_not_with =
		    LIST("PK\5\6", "__subclasses__", "sys.modules", "path_importer_cache"),
	    .packages = python_packages,
	    .own = LANGUAGE_OWN_INTERPRETER } },
	{ { "javascript", LIST("js", "node", "nodejs", "mjs"),
	    LIST("/usr/bin/node", "/usr/bin/nodejs", "/usr/local/bin/node"), LIST("--no-warnings"),
	    "main.js", ".js" },
	  { .code = "const fs = require('fs'), top = '/env/node_modules', p = [], notes = [];\n"
		    "const list = (d) => fs.readdirSync(d).filter((n) => n[0] !== '.').sort();\n"
		    "const has = fs.existsSync(top);\n"
		    "for (const n of has ? list(top) : [])\n"
		    "  for (const x of n[0] === '@' ? list(`${top}/${n}`).map((y) => `${n}/${y}`) "
		    ": [n])\n"
		    "    try {\n"
		    "      p.push([x, "
		    "JSON.parse(fs.readFileSync(`${top}/${x}/package.json`)).version || '']);\n"
		    "    } catch {\n"
		    "      if (!fs.existsSync(`${top}/${x}`))\n"
		    "        notes.push(`${x} is a link to ${fs.readlinkSync(`${top}/${x}`)}, "
		    "outside of the folder`);\n"
		    "    }\n"
		    "const answer = { version: process.versions.node, packages: p, watch: has ? "
		    "[top] : [] };\n"
		    "if (notes.length) answer.notes = notes.slice(0, 20);\n"
		    "console.log(JSON.stringify(answer));\n",
	    .dpkg = LIST("nodejs", "libnode"),
	    .notable = NOTHING,
	    .env = NOTHING,
	    /* What a package.json says is known before the program is opened. */
	    .waits = LIST("--no-warnings", "--expose-internals", "--stack-size=6000"),
	    .waits_not_with = NOTHING,
	    .waits_not_beside = LIST("package.json", "node_modules"),
	    .own = LANGUAGE_OWN_MODULES } },
	{ { "bash", LIST("sh", "shell", "zsh", "console"),
	    LIST("/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"),
	    LIST("--norc", "--noprofile"), "main.sh", ".sh" },
	  { .code = "printf '{\"version\":\"%s\",\"packages\":[],\"watch\":[]}' "
		    "\"${BASH_VERSION%%(*}\"\n",
	    .dpkg = LIST("bash", "coreutils", "mawk", "sed"),
	    .notable = NOTHING,
	    .env = NOTHING,
	    .waits = LIST("--norc", "--noprofile"),
	    .waits_not_with = NOTHING,
	    .waits_not_beside = NOTHING,
	    .waits_for_file = true,
	    .waits_not_in = LIST("SECONDS", "declare", "typeset", "local -p", "compgen", ")T",
				 "set\n", "set;", "set |", "set|", "set >", "set)", "set &") } },
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
	    .env = LIST("PERL_HASH_SEED=0", "PERL_PERTURB_KEYS=0"),
	    .waits = NOTHING,
	    .waits_not_with = NOTHING,
	    .waits_not_beside = NOTHING,
	    .waits_for_file = true,
	    .waits_not_in = LIST("$^T", "${^T", "BASETIME", "English", "-M", "-A", "-C",
				 "%main::", "times") } },
};

const struct language *language_at(size_t index)
{
	return index < ARRAY_SIZE(rows) ? &rows[index].language : NULL;
}

const struct language *language_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct language *l = &rows[i].language;

		if (!strcasecmp(l->name, name))
			return l;
		for (const char *const *a = l->aliases; *a; a++)
			if (!strcasecmp(*a, name))
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
