// What the user lets this program call: require('./assay.js').call('name', { argument: 1 }).
// The result is what JSON can say. What was not done throws an Error that has a kind: denied, unknown,
// invalid, limit, failed, timeout, diverged.
'use strict';
const fs = require('fs');
const READ = 3;
const WRITE = 4;

class AssayError extends Error {
  constructor(kind, message) {
    super(message);
    this.name = 'AssayError';
    this.kind = kind;
  }
}

function send(data) {
  for (let at = 0; at < data.length;) at += fs.writeSync(WRITE, data, at);
}

function receive(size) {
  const data = Buffer.alloc(size);
  for (let at = 0; at < size;) {
    const more = fs.readSync(READ, data, at, size - at, null);
    if (!more) throw new AssayError('limit', 'nothing more can be called in this run');
    at += more;
  }
  return data;
}

function call(name, args = {}) {
  if (typeof name !== 'string' || typeof args !== 'object' || args === null || Array.isArray(args))
    throw new TypeError('assay.call(name, arguments): a string and an object');
  const frame = Buffer.from(JSON.stringify({ tool: name, arguments: args }));
  const head = Buffer.alloc(4);
  head.writeUInt32BE(frame.length);
  try {
    send(Buffer.concat([head, frame]));
  } catch (e) {
    if (e.code !== 'EPIPE') throw e; // there may be an answer that says why
  }
  const answer = JSON.parse(receive(receive(4).readUInt32BE()).toString());
  if (answer.error) throw new AssayError(answer.error.kind, answer.error.message);
  return answer.result;
}

module.exports = { call, AssayError };
