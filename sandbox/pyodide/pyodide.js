// Runs a Python program in Pyodide, with the run's folders, streams, words and variables. What is started is the
// first word; where it ends is where this process ends. Written for the sandbox: it protects nothing.
const fs = require('fs');
const home = '/env/node_modules/pyodide';

function writeAll(fd, bytes) {
  for (let done = 0; done < bytes.length;) {
    try {
      done += fs.writeSync(fd, bytes, done);
    } catch (e) {
      if (e.code !== 'EAGAIN') throw e;
    }
  }
  return bytes.length;
}

const run = `
def make():
    import atexit, builtins, os, sys, traceback
    def start(words):
        os.chdir('/work')
        sys.argv = list(words)
        sys.path.insert(0, '/work')
        sys.stdout.reconfigure(encoding='utf-8'), sys.stderr.reconfigure(encoding='utf-8', errors='backslashreplace')
        main = sys.modules['__main__']
        main.__dict__.clear()
        name = os.path.join('/work', words[0])
        main.__dict__.update(__name__='__main__', __file__=name, __builtins__=builtins, __doc__=None,
                             __package__=None, __spec__=None, __loader__=None)
        code = 0
        try:
            with open(name, 'rb') as f:
                program = compile(f.read(), name, 'exec', dont_inherit=True)
            exec(program, main.__dict__)
        except SystemExit as e:
            code = e.code if isinstance(e.code, int) else 0 if e.code is None else 1
            if code == 1 and not isinstance(e.code, int):
                print(e.code, file=sys.stderr)
        except BaseException as e:
            code = 1
            if isinstance(e, SyntaxError):
                traceback.print_exception(type(e), e, None)
            else:
                traceback.print_exception(type(e), e, e.__traceback__.tb_next)
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                code = code or 120
        return code & 255
    return start
make()
`;

// What the program imports of the packages whose wheels lie in Pyodide's folder, by the list of them that is there.
async function load(py, program) {
  const packages = Object.values(JSON.parse(fs.readFileSync(home + '/pyodide-lock.json', 'utf8')).packages)
    .filter((one) => fs.existsSync(home + '/' + one.file_name));
  if (!packages.length) return;
  const found = py.pyimport('pyodide.code').find_imports(fs.readFileSync(program, 'utf8')).toJs();
  const names = packages.filter((one) => one.imports.some((name) => found.includes(name))).map((one) => one.name);
  if (names.length) await py.loadPackage(names, { messageCallback() {}, errorCallback() {} });
}

(async () => {
  const { loadPyodide } = await import(home + '/pyodide.mjs');
  const py = await loadPyodide({ env: { ...process.env }, jsglobals: globalThis });
  for (const folder of ['/work', '/in', '/out', '/tmp']) {
    py.FS.mkdirTree(folder);
    py.FS.mount(py.FS.filesystems.NODEFS, { root: folder }, folder);
  }
  py.setStdout({ write: (bytes) => writeAll(1, bytes), isatty: false });
  py.setStderr({ write: (bytes) => writeAll(2, bytes), isatty: false });
  py.setStdin({ read: (bytes) => { try { return fs.readSync(0, bytes); } catch (e) { return 0; } }, isatty: false });
  await load(py, '/work/' + process.argv[2]).catch((e) => process.stderr.write(`pyodide: ${e && e.message}\n`));
  const start = py.runPython(run);
  process.exit(start(py.toPy(process.argv.slice(2))));
})().catch((e) => {
  process.stderr.write(`pyodide: ${e && e.message}\n`);
  process.exit(70);
});
