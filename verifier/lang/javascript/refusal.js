// What the interpreter says of a program that is none, which stands in /in/program: it is
// compiled under its own name, as a module's text is, and nothing of it runs.
const { compileFunction } = require("vm");

compileFunction(require("fs").readFileSync("/in/program", "utf8").replace(/^\ufeff/, "").replace(/^#!.*/, ""),
	["exports", "require", "module", "__filename", "__dirname"], { filename: "/work/main.js" });
