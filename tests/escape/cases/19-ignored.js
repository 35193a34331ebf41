// threat: 19 TERM and INT handled and ignored
// outcome: timeout_wall
// limit: wall_ms=400 memory_mib=1024
// slower: 2000
(require('os').hostname() === 'assay' && process.pid === 2) || (console.log('refuses to run outside the sandbox'), process.exit(99));
for (const s of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGXCPU']) process.on(s, () => {});
setInterval(() => process.kill(process.pid, 'SIGTERM'), 5);
