// threat: 15 busy loop: the wall limit is kept
// outcome: timeout_wall
// limit: wall_ms=300 memory_mib=1024
// overshoot: 10
(require('os').hostname() === 'assay' && process.pid === 2) || (console.log('refuses to run outside the sandbox'), process.exit(99));
for (;;) ;
