// threat: 71 what must pass
// limit: wall_ms=20000 cpu_ms=20000 memory_mib=1024
(require('os').hostname() === 'assay' && process.pid === 2) || (console.log('refuses to run outside the sandbox'), process.exit(99));
const {Worker,isMainThread}=require('worker_threads'),cp=require('child_process'),fs=require('fs'),os=require('os');
Promise.resolve(1).then(v=>console.log('promise',v));
new Worker('require("worker_threads").parentPort.postMessage(7)',{eval:true}).on('message',m=>console.log('worker',m));
WebAssembly.instantiate(new Uint8Array([0,97,115,109,1,0,0,0])).then(()=>console.log('wasm'));
console.log(cp.execSync('echo child').toString().trim(), cp.spawnSync('node',['-e','console.log(1)']).stdout.toString());
fs.promises.writeFile('/out/x.json','{"a":1}').then(()=>console.log(fs.readFileSync('/out/x.json','utf8')));
setTimeout(()=>console.log('timer',os.tmpdir(),os.hostname(),os.userInfo().username),10);
const c=cp.fork('/work/main2.js'); c.on('error',e=>console.log(e)); c.kill();
require('zlib').gzip('x',(e,b)=>console.log('gzip',b.length)); require('crypto').scrypt('a','b',16,(e,k)=>console.log('scrypt',k.length));
