// threat: 5 ten gigabytes
// outcome: memory
// limit: memory_mib=128
(require('os').hostname() === 'assay' && process.pid === 2) || (console.log('refuses to run outside the sandbox'), process.exit(99));
const all = []; for (let i = 0; i < 10240; i++) all.push(Buffer.alloc(1 << 20, 1));
