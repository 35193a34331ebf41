// threat: 20 stdout floods: cut, told so, our memory flat
// outcome: output_limit
// truncated: stdout
// limit: memory_mib=1024
// our-memory-mib: 8
// slower: 6000
(require('os').hostname() === 'assay' && process.pid === 2) || (console.log('refuses to run outside the sandbox'), process.exit(99));
for (;;) try { require('fs').writeSync(1, 'flood '.repeat(10000)); } catch (e) { }
