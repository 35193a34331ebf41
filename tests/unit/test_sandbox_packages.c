/*
 * What a program imports before all else, and what a plan speaks of, by text alone. No program
 * runs, and nothing is imported.
 */
#include "sandbox/packages.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NUMPY = 1, PANDAS = 2, PLOT = 4 };

static unsigned imported(const char *code)
{
	return packages_imported(language_find("python"), code, strlen(code));
}

static void test_leading_imports(void **state)
{
	(void)state;
	assert_int_equal(imported(""), 0);
	assert_int_equal(imported("import numpy"), NUMPY);
	assert_int_equal(imported("import numpy as np\nprint(1)\n"), NUMPY);
	assert_int_equal(imported("import os, sys\nimport pandas as pd\n"), NUMPY | PANDAS);
	assert_int_equal(imported("from pandas import (DataFrame,\n    Series)\r\nx = 1\n"),
			 NUMPY | PANDAS);
	assert_int_equal(imported("import numpy as np; import pandas as pd; print(1)"),
			 NUMPY | PANDAS);
	assert_int_equal(
		imported("\"\"\"What it\ndoes.\"\"\"\n# a comment\n\nimport numpy.linalg\n"),
		NUMPY);
	assert_int_equal(imported("import matplotlib\nmatplotlib.use('Agg')\n"
				  "import matplotlib.pyplot as plt\n"),
			 NUMPY | PLOT);
	assert_int_equal(imported("from numpy \\\n  import array\n"), NUMPY);
	assert_int_equal(imported("from __future__ import annotations\nfrom numpy import *\n"),
			 NUMPY);
}

/* What is imported after something ran may see what that did. */
static void test_others(void **state)
{
	(void)state;
	assert_int_equal(imported("x = 1\nimport numpy\n"), 0);
	assert_int_equal(imported("def f():\n    import numpy\n"), 0);
	assert_int_equal(imported("    import numpy\n"), 0);
	assert_int_equal(
		imported("import warnings\nwarnings.simplefilter('error')\nimport numpy\n"), 0);
	assert_int_equal(imported("import matplotlib\nmatplotlib.use('TkAgg')\nimport pandas\n"),
			 NUMPY | PLOT);
	assert_int_equal(imported("import numpyro, my_numpy, a.numpy\n"), 0);
	assert_int_equal(imported("import numpy if 1 else 2\n"), 0);
	assert_int_equal(imported("imports = 'import numpy'\n"), 0);
	assert_int_equal(imported("'''never closed\nimport numpy\n"), 0);
	assert_int_equal(imported("from numpy import (a,\n"), 0);
	assert_int_equal(imported("from . import numpy\n"), 0);
	assert_int_equal(imported("import"), 0);
	assert_int_equal(packages_imported(language_find("bash"), "import numpy", 12), 0);
}

/* Each text cut at each byte: nothing is read beyond. */
static void test_cut_text(void **state)
{
	static const char text[] =
		"'''a'''\nimport numpy as np, \\\n pandas\nfrom matplotlib import (a, b)\n"
		"matplotlib.use('Agg')\n";

	(void)state;
	for (size_t len = 0; len < sizeof(text); len++) {
		char *copy = mem_alloc(len + 1);

		memcpy(copy, text, len);
		copy = realloc(copy, len == 0 ? 1 : len);
		packages_imported(language_find("python"), copy, len);
		packages_spoken_of(language_find("python"), copy, len);
		free(copy);
	}
}

static unsigned spoken(const char *text)
{
	return packages_spoken_of(language_find("python"), text, strlen(text));
}

static void test_words(void **state)
{
	(void)state;
	assert_int_equal(spoken("Read sales.csv and sum it up."), NUMPY | PANDAS);
	assert_int_equal(spoken("Use NumPy for the matrix"), NUMPY);
	assert_int_equal(spoken("Draw a chart of it"), NUMPY | PLOT);
	assert_int_equal(spoken("plots and dataframes"), NUMPY | PANDAS | PLOT);
	assert_int_equal(spoken("an exploded ballot, chartered; x.csvx"), 0);
	assert_int_equal(spoken(""), 0);
}

static void test_modules(void **state)
{
	const struct language *python = language_find("python");
	char *modules = packages_modules(python, NUMPY | PLOT);

	(void)state;
	assert_string_equal(modules, "numpy,matplotlib.pyplot");
	free(modules);
	assert_null(packages_modules(python, 0));
	assert_int_equal(packages_installed(python, NUMPY | PANDAS, "numpy 1.24.2, scipy 1"),
			 NUMPY);
	assert_int_equal(packages_installed(python, NUMPY | PANDAS, "pandas 1.5"), 0);
	assert_int_equal(packages_installed(python, NUMPY, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_leading_imports), cmocka_unit_test(test_others),
		cmocka_unit_test(test_cut_text),	cmocka_unit_test(test_words),
		cmocka_unit_test(test_modules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
