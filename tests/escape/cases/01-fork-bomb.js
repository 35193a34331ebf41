// threat: 1 fork bomb
// outcome: process_limit
// limit: processes=32 wall_ms=1500 memory_mib=1024
// slower: 4000
(require('os').hostname() === 'assay' && process.pid === 2) || (console.log('refuses to run outside the sandbox'), process.exit(99));
for (;;) try { require('child_process').spawn('sleep', ['60']).on('error', () => {}); } catch (e) { }
