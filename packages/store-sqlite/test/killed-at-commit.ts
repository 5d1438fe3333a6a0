// Preloaded: kills its process before or after its nth commit of a call, as the query of its URL says.
import { DatabaseSync } from 'node:sqlite';

const { searchParams } = new URL(import.meta.url);
const nth = Number(searchParams.get('nth'));
const { exec } = DatabaseSync.prototype;
let count = 0;
let isLoaded = false;
process.on('message', (message) => {
  isLoaded ||= message === 'go';
});

DatabaseSync.prototype.exec = function (sql) {
  const isNext = isLoaded && sql === 'COMMIT' && ++count === nth;
  if (!isNext || searchParams.get('how') === 'after') exec.call(this, sql);
  if (isNext) process.kill(process.pid, 'SIGKILL');
};
