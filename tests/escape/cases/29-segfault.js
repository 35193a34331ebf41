// threat: 29 abort is reported as that
// outcome: signal
// signal: 6
// limit: memory_mib=1024
(require('os').hostname() === 'assay' && process.pid === 2) || (console.log('refuses to run outside the sandbox'), process.exit(99));
process.abort();
