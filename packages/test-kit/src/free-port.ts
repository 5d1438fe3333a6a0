import { once } from 'node:events';
import { createServer } from 'node:net';

// Below the ephemeral ports of Linux (32768 and above), which it could assign to another program before
// this one has started.
const [FIRST, COUNT] = [10_240, 22_000];

/**
 * A free port of the loopback, for programs that have to know their port before they start.
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
