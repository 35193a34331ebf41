/* Programming languages that do not run here, told apart from data and output. One that
 * has a row in sandbox/language.c runs, and is passed over. */
#include "verifier/reply/choose.h"

#include "base/mem.h"
#include "sandbox/sandbox.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

struct foreign {
	const char *name;
	const char *marks;    /* in info strings, between blanks */
	const char *signs[4]; /* a line starts with one of them, in code without a mark */
};

static const struct foreign foreigns[] = {
	{ "C++",
	  " c++ cpp cxx cc hpp ",
	  { "#include <iostream>", "#include <vector>", "#include <bits/stdc++.h>",
	    "using namespace " } },
	{ "C", " c h ", { "#include <", "#include \"", "int main(" } },
	{ "Java", " java ", { "public class ", "import java.", "package com." } },
	{ "Rust", " rust rs ", { "fn main()", "use std::" } },
	{ "Go", " go golang ", { "package main", "func main()" } },
	{ "C#", " c# csharp cs ", { "using System", "namespace " } },
	{ "TypeScript", " typescript ts tsx jsx ", { NULL } },
	{ "Ruby", " ruby rb ", { NULL } },
	{ "PHP", " php ", { "<?php" } },
	{ "R", " r ", { "library(" } },
	{ "Julia", " julia jl ", { NULL } },
	{ "Swift", " swift ", { NULL } },
	{ "Kotlin", " kotlin kt ", { "fun main(" } },
	{ "Scala", " scala ", { NULL } },
	{ "Haskell", " haskell hs ", { "main :: IO" } },
	{ "Lua", " lua ", { NULL } },
	{ "MATLAB", " matlab octave ", { NULL } },
	{ "SQL", " sql mysql postgresql sqlite tsql plsql ", { NULL } },
	{ "PowerShell", " powershell ps1 pwsh ", { NULL } },
	{ "batch", " batch bat cmd ", { "@echo off" } },
	{ "assembly", " asm assembly nasm ", { "section .text" } },
	{ "Fortran", " fortran f90 ", { NULL } },
	{ "Pascal", " pascal delphi ", { NULL } },
	{ "Visual Basic", " vb vba vbnet vb.net ", { NULL } },
	{ "Dart", " dart ", { NULL } },
	{ "Elixir", " elixir ex exs ", { "defmodule " } },
	{ "Erlang", " erlang erl ", { NULL } },
	{ "Clojure", " clojure clj ", { NULL } },
	{ "Lisp", " lisp commonlisp scheme racket ", { NULL } },
	{ "OCaml", " ocaml ml ", { NULL } },
	{ "F#", " f# fsharp fs ", { NULL } },
	{ "Objective-C", " objective-c objectivec objc ", { "#import <" } },
	{ "COBOL", " cobol ", { NULL } },
	{ "Solidity", " solidity sol ", { "pragma solidity" } },
};

static bool is_marked(const struct foreign *f, const char *lang)
{
	char word[32];
	int n = snprintf(word, sizeof(word), " %s ", lang);

	return n > 2 && (size_t)n < sizeof(word) && strcasestr(f->marks, word);
}

/* Looked for at the starts of the first lines. */
#define LINES_LOOKED_AT 12

static bool shows(const struct foreign *f, const char *code, size_t len)
{
	const char *line = code, *end = code + len;

	for (int lines = 0; lines < LINES_LOOKED_AT && line < end; lines++) {
		for (size_t i = 0; i < ARRAY_SIZE(f->signs) && f->signs[i]; i++) {
			size_t n = strlen(f->signs[i]);
			if ((size_t)(end - line) >= n && !memcmp(line, f->signs[i], n))
				return true;
		}
		const char *nl = memchr(line, '\n', (size_t)(end - line));
		line = nl ? nl + 1 : end;
	}
	return false;
}

const char *foreign_find(const char *lang, const char *code, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(foreigns); i++)
		if (!language_find(foreigns[i].name) &&
		    (lang[0] ? is_marked(&foreigns[i], lang) : shows(&foreigns[i], code, len)))
			return foreigns[i].name;
	return NULL;
}
