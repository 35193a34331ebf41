// Runs a Python program in Pyodide, with the run's folders, streams, words and variables. What is started is the
// first word; where it ends is where this process ends. Written for the sandbox: it protects nothing.
//
// Two npm packages are known: pyodide, and @pyodide/pyodide, which is of 2021, made for browsers, and the one that
// carries numpy and its like.
const fs = require('fs');
const home = '/env/node_modules/pyodide';
const carrier = '/env/node_modules/@pyodide/pyodide/dist/';

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
    import atexit, builtins, importlib.util, marshal, os, posix, sys, traceback
    def start(words, leave):
        posix._exit = os._exit = lambda code: leave(code & 255)
        os.chdir('/work')
        sys.argv = list(words)
        sys.path.insert(0, '/work')
        sys.stdout.reconfigure(encoding='utf-8', line_buffering=False), sys.stderr.reconfigure(encoding='utf-8', errors='backslashreplace')
        main = sys.modules['__main__']
        main.__dict__.clear()
        name = os.path.join('/work', words[0])
        main.__dict__.update(__name__='__main__', __file__=name, __builtins__=builtins, __doc__=None,
                             __package__=None, __spec__=None, __loader__=None)
        code = 0
        try:
            with open(name, 'rb') as f:
                text = f.read()
            # as Python does with a file that it compiled before: assay's own come so
            program = marshal.loads(text[16:]) if text[:4] == importlib.util.MAGIC_NUMBER else compile(text, name, 'exec', dont_inherit=True)
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

// --- pyodide ---

const folders = ['/work', '/in', '/out', '/tmp'];

async function start(program) {
  const { loadPyodide } = await import(home + '/pyodide.mjs');
  const py = await loadPyodide({ env: { ...process.env }, jsglobals: globalThis });
  for (const folder of folders) {
    py.FS.mkdirTree(folder);
    py.FS.mount(py.FS.filesystems.NODEFS, { root: folder }, folder);
  }
  py.setStdout({ write: (bytes) => writeAll(1, bytes), isatty: false });
  py.setStderr({ write: (bytes) => writeAll(2, bytes), isatty: false });
  py.setStdin({ read: (bytes) => { try { return fs.readSync(0, bytes); } catch (e) { return 0; } }, isatty: false });
  await load(py, program).catch((e) => process.stderr.write(`pyodide: ${e && e.message}\n`));
  return { py, leave() {} };
}

// --- @pyodide/pyodide ---

// What a worker of a browser has, as far as that package asks for it. Every address is a file's name.
function seemWorker() {
  const vm = require('vm');
  const bytes = (path) => fs.readFileSync(path);
  Object.assign(globalThis, {
    self: globalThis, require, __filename: carrier + 'pyodide.asm.js', __dirname: carrier, location: { pathname: carrier },
    importScripts: (path) => vm.runInThisContext(bytes(path), { filename: path }),
    fetch: async (path) => new Response(bytes(path), { headers: { 'content-type': path.endsWith('.wasm') ? 'application/wasm' : '' } }),
    XMLHttpRequest: class {
      open(method, path) { this.path = path; }
      send() {
        this.response = new Uint8Array(bytes(this.path)).buffer;
        this.status = 200;
        setImmediate(() => this.onload({}));
      }
    },
  });
}

function setStream(FS, fd, ops) {
  const device = FS.makedev(64, fd), path = `/dev/assay${fd}`;
  FS.registerDevice(device, { open(stream) { stream.seekable = false; }, close() {}, ...ops });
  FS.mkdev(path, device);
  if (FS.streams[fd]) FS.close(FS.streams[fd]);
  if (FS.open(path, readable(fd) ? 'r' : 'w').fd !== fd) throw new Error(`descriptor ${fd} is not free`); // it takes the lowest
}

const readable = (fd) => fd === 0 || fd === 3;
const reads = (fd) => ({ read: (stream, to, at, len) => fs.readSync(fd, to, at, len) });
const writes = (fd) => ({ write: (stream, from, at, len) => writeAll(fd, from.subarray(at, at + len)) });

// What the other of a pair is reached by (sandbox.h): a program and its judge, each in a process of node's own.
function join(FS) {
  setStream(FS, 3, reads(3));
  setStream(FS, 4, writes(4));
}

// It has no way to mount a folder: what is there is copied in, but for links, of which one leads to node_modules.
function copyIn(FS, path) {
  const found = fs.lstatSync(path, { throwIfNoEntry: false });
  if (found && found.isFile()) FS.writeFile(path, fs.readFileSync(path));
  if (!found || !found.isDirectory()) return;
  if (!FS.analyzePath(path).exists) FS.mkdir(path);
  for (const name of fs.readdirSync(path)) copyIn(FS, `${path}/${name}`);
}

// And what has changed is copied out at the end, so that nothing comes of a program that was ended.
function copyOut(FS, path) {
  const { mode } = FS.stat(path);
  if (FS.isFile(mode)) {
    const bytes = Buffer.from(FS.readFile(path));
    if (!fs.existsSync(path) || !bytes.equals(fs.readFileSync(path))) fs.writeFileSync(path, bytes);
    return;
  }
  if (!FS.isDir(mode)) return;
  fs.mkdirSync(path, { recursive: true });
  const names = FS.readdir(path).filter((name) => name !== '.' && name !== '..');
  for (const one of fs.readdirSync(path, { withFileTypes: true }))
    if (!one.isSymbolicLink() && !names.includes(one.name)) fs.rmSync(`${path}/${one.name}`, { recursive: true });
  for (const name of names) copyOut(FS, `${path}/${name}`);
}

async function startCarrier(program) {
  const said = { log: console.log, error: console.error, warn: console.warn };
  console.log = console.error = console.warn = () => {};
  seemWorker();
  importScripts(carrier + 'pyodide.js');
  const py = await loadPyodide({ indexURL: carrier });
  const FS = py._module.FS;
  setStream(FS, 0, { read: (stream, to, at, len) => { try { return fs.readSync(0, to, at, len); } catch (e) { return 0; } } });
  for (const fd of [1, 2]) setStream(FS, fd, writes(fd));
  for (const folder of folders) {
    if (!FS.analyzePath(folder).exists) FS.mkdir(folder);
    copyIn(FS, folder);
  }
  py._module.init_dict.set('given', py.toPy({ ...process.env }));
  py._module.runPythonSimple('import os; os.environ.clear(); os.environ.update(given); del given');
  await py.loadPackagesFromImports(fs.readFileSync(program, 'utf8'), () => {}, () => {}).catch(() => {});
  Object.assign(console, said);
  return { py, leave() { for (const folder of ['/work', '/out']) copyOut(FS, folder); } };
}

(async () => {
  const words = process.argv.slice(2);
  const paired = words[0] === '--pair' && words.shift();
  const { py, leave } = await (fs.existsSync(home) || !fs.existsSync(carrier) ? start : startCarrier)('/work/' + words[0]);
  if (paired) join(py.FS || py._module.FS);
  const end = (code) => {
    leave();
    process.exit(code);
  };
  end(py.runPython(run)(py.toPy(words), end));
})().catch((e) => {
  process.stderr.write(`pyodide: ${e && e.message}\n`);
  process.exit(70);
});
