// threat: 67 nothing planted by an earlier run has an effect
// limit: memory_mib=1024
// out: clean
(require('os').hostname() === 'assay' && process.pid === 2) || (console.log('refuses to run outside the sandbox'), process.exit(99));
const fs = require('fs');
if (fs.readdirSync('/work').join() === 'main.js' && !fs.readdirSync('/tmp').length) console.log('clean');
