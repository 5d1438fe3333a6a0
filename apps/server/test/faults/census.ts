// Loaded into a process of the service (`--import`): on SIGUSR2 it says how many objects it has, after
// collecting its garbage.
import { Socket } from 'node:net';
import { queryObjects } from 'node:v8';

process.on('SIGUSR2', () => {
  const count = (kind: () => void) => queryObjects(kind as () => unknown, { format: 'count' });
  const found = {
    objects: count(Object),
    promises: count(Promise as never),
    sockets: count(Socket as never),
  };
  process.stdout.write(`census ${JSON.stringify(found)}\n`);
});
