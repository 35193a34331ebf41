/*
 * The end of an interpreter: Python lets go of every module, which writes to all of their memory,
 * and so copies it where it is a fork's. Nobody can tell but one whose own objects are let go of
 * with them (python.c). So the modules of the template are taken from the table of modules when
 * Python has begun to end and the program can run no more, and stay as they are till the process is
 * gone. No module of the program's own may be kept so.
 *
 * That moment is known by sys.__interactivehook__, which is let go of right before the modules, and
 * to which an object of ours is tied. Where there is none, all is let go of, which takes longer.
 */
#include "sandbox/native/warm/warm.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of a dict, in bytes; where it is another size, modules are let go of as ever. */
#define HEAD_BYTES 16
#define DICT_BYTES 48

typedef void destructor_fn(void *capsule);
typedef void *capsule_fn(void *pointer, const char *name, destructor_fn *destructor);
typedef void *no_argument_fn(void);
typedef void *by_object_fn(void *object);
typedef void *by_name_fn(const char *name);
typedef void *get_item_fn(void *dict, void *key);
typedef int set_object_fn(void *dict, void *key, void *value);
typedef int del_named_fn(void *dict, const char *key);
typedef int set_named_fn(void *object, const char *name, void *value);
typedef int next_fn(void *dict, ptrdiff_t *at, void **key, void **value);
typedef void *attribute_fn(void *object, const char *name);
typedef long number_fn(void *object);
typedef void forget_fn(void *object);
typedef int is_fn(void);
typedef void plain_fn(void);

static struct {
	capsule_fn *capsule;
	no_argument_fn *modules, *new_dict;
	by_object_fn *copy;
	by_name_fn *of_sys;
	get_item_fn *get_item;
	set_object_fn *set_object;
	del_named_fn *del_named;
	set_named_fn *set_item, *set_attribute;
	next_fn *next;
	attribute_fn *attribute;
	number_fn *number;
	forget_fn *forget;
	is_fn *is_ending;
	plain_fn *clear_error;
} py;

static void *kept; /* modules by name; NULL: none */

static bool look_all_up(void)
{
	return python_look_up(&py.capsule, "PyCapsule_New") &&
	       python_look_up(&py.modules, "PyImport_GetModuleDict") &&
	       python_look_up(&py.new_dict, "PyDict_New") &&
	       python_look_up(&py.copy, "PyDict_Copy") &&
	       python_look_up(&py.of_sys, "PySys_GetObject") &&
	       python_look_up(&py.get_item, "PyDict_GetItem") &&
	       python_look_up(&py.set_object, "PyDict_SetItem") &&
	       python_look_up(&py.del_named, "PyDict_DelItemString") &&
	       python_look_up(&py.set_item, "PyDict_SetItemString") &&
	       python_look_up(&py.set_attribute, "PyObject_SetAttrString") &&
	       python_look_up(&py.next, "PyDict_Next") &&
	       python_look_up(&py.attribute, "PyObject_GetAttrString") &&
	       python_look_up(&py.number, "PyLong_AsLong") &&
	       python_look_up(&py.forget, "Py_DecRef") &&
	       python_look_up(&py.clear_error, "PyErr_Clear") &&
	       (python_look_up(&py.is_ending, "Py_IsFinalizing") ||
		python_look_up(&py.is_ending, "_Py_IsFinalizing"));
}

/* What a dict is but its head (the count of who knows it, its type) is the same for one and
 * another: each has then what the other had, and no object in them was written to. */
static void exchange(void *one, void *another)
{
	char was[DICT_BYTES - HEAD_BYTES];

	memcpy(was, (char *)one + HEAD_BYTES, sizeof(was));
	memcpy((char *)one + HEAD_BYTES, (char *)another + HEAD_BYTES, sizeof(was));
	memcpy((char *)another + HEAD_BYTES, was, sizeof(was));
}

/* The program may have let go of it itself, and goes on; or have put another module there. */
static void on_end(void *capsule)
{
	(void)capsule;
	if (!kept || !py.is_ending())
		return;
	void *modules = py.modules();
	void *rest = py.new_dict();
	if (!modules || !rest)
		return;
	void *key, *value;
	ptrdiff_t at = 0;
	while (py.next(modules, &at, &key, &value))
		if (py.get_item(kept, key) != value && py.set_object(rest, key, value) < 0)
			py.clear_error();
	exchange(modules, rest);
}

/* What libraries do at the end of a process is done for nobody, and writes to the memory of all of
 * them; C's own output is not lost. Those that came after run before this. */
static void on_exit_of_process(int status, void *unused)
{
	(void)unused;
	fflush(NULL);
	_exit(status);
}

/* By what the interpreter says of its own dicts. */
static bool dict_is_as_known(void)
{
	void *type = py.attribute(py.modules(), "__class__");
	void *size = !type ? NULL : py.attribute(type, "__basicsize__");
	bool known = size && py.number(size) == DICT_BYTES;

	if (type)
		py.forget(type);
	if (size)
		py.forget(size);
	py.clear_error();
	return known;
}

void ending_keep(void)
{
	static const char *const others[] = { "__main__", "sys", "builtins" };
	void *modules = look_all_up() && dict_is_as_known() ? py.modules() : NULL;

	kept = !modules ? NULL : py.copy(modules);
	for (size_t i = 0; kept && i < sizeof(others) / sizeof(others[0]); i++)
		if (py.del_named(kept, others[i]) < 0)
			py.clear_error();
}

void ending_arm(void)
{
	void *hook = !kept ? NULL : py.of_sys("__interactivehook__");
	void *capsule = !hook ? NULL : py.capsule(&py, NULL, on_end);
	void *dict = !capsule ? NULL : py.new_dict();

	/* Where functions have what is theirs alone and nobody sees who does not ask for it. */
	if (!dict || py.set_item(dict, "", capsule) < 0 ||
	    py.set_attribute(hook, "__kwdefaults__", dict) < 0)
		py.clear_error();
	else
		on_exit(on_exit_of_process, NULL);
	if (capsule)
		py.forget(capsule);
	if (dict)
		py.forget(dict);
}

void ending_forget(void)
{
	if (kept)
		py.forget(kept);
	kept = NULL;
}
