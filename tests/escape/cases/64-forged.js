// threat: 64 an exit code is an exit code
// limit: memory_mib=1024
// exit: 137
(require('os').hostname() === 'assay' && process.pid === 2) || (console.log('refuses to run outside the sandbox'), process.exit(99));
process.exit(137);
