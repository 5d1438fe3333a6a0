import { createServer } from 'node:http';
import { Duplex } from 'node:stream';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { limitConnections, shareOfAddress } from './limit-connections.ts';

/** A connection that sends nothing. */
const connectionFrom = (remoteAddress: string) =>
  Object.assign(new Duplex({ read() {}, write() {} }), { remoteAddress });

test('networks of one site share what one address may hold', () => {
  const server = createServer();
  limitConnections(server, {
    ...{ log: pino({ enabled: false }), routes: 'all', trustProxy: false },
  });
  const share = shareOfAddress(server);
  const open = (network: (index: number) => string) =>
    Array.from({ length: share + 1 }, (_, index) => {
      const connection = connectionFrom(network(index));
      server.emit('connection', connection);
      return connection;
    });
  const closed = (connections: Duplex[]) => connections.filter(({ destroyed }) => destroyed);

  const ofSite = open((index) => `2001:db8:1:${index.toString(16)}::1`);
  expect(closed(ofSite)).toEqual([ofSite[0]]);
  const ofSites = open((index) => `2001:db8:${(index + 2).toString(16)}::1`);
  expect(closed(ofSites)).toEqual([]);
});
