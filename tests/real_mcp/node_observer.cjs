// Loaded before server-everything, which is not changed: prints its port, reports its
// open sessions and its memory on a port of its own, and stops when stdin is closed.

const http = require("node:http");
const net = require("node:net");

let sessions = 0;
const changes = {
  "Session initialized": 1,
  "Transport closed": -1,
  "Client Connected": 1,
  "Client Disconnected": -1,
};

for (const name of ["log", "error"]) {
  const write = console[name];
  console[name] = (...args) => {
    const change = Object.keys(changes).find((start) => String(args[0]).startsWith(start));
    sessions += changes[change] ?? 0;
    write(...args);
  };
}

function readMemory() {
  global.gc();
  return process.memoryUsage().heapUsed;
}

const observer = http.createServer((request, response) => {
  response.end(JSON.stringify({ sessions, memory: readMemory() }));
});
observer.listen(0, "127.0.0.1", () => {
  process.stdout.write(`state ${observer.address().port}\n`);
});

const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (...args) {
  this.once("listening", () => process.stdout.write(`port ${this.address().port}\n`));
  return listen.apply(this, args);
};

process.stdin.on("end", () => process.exit()).resume();
