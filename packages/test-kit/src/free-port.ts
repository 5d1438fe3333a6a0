import { once } from 'node:events';
import { createServer } from 'node:net';

// Below the ports that Linux gives to whoever asks for any (32768 and above): it would give them away
// before the program has started.
const [FIRST, COUNT] = [10_240, 22_000];

/**
 * A port of the loopback that nobody listens on, for programs that have to know theirs before they
 * start.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    const server = createServer();
    const listening = once(server, 'listening');
    server.listen(port, '127.0.0.1');
    try {
      await listening;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') continue;
      throw error;
    }
    server.close();
    await once(server, 'close');
    return port;
  }
}
