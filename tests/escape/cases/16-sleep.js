// threat: 16 wait for ever
// outcome: timeout_wall
// limit: wall_ms=500 memory_mib=1024
// cpu-below: 450
// overshoot: 10
(require('os').hostname() === 'assay' && process.pid === 2) || (console.log('refuses to run outside the sandbox'), process.exit(99));
setInterval(() => {}, 1e6);
