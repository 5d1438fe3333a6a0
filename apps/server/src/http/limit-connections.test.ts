import { EventEmitter, once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
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

test('who hangs up has its place until its request was handled', async () => {
  const server = createServer();
  const { handled, leave } = limitConnections(server, {
    ...{ log: pino({ enabled: false }), routes: 'all', trustProxy: false },
  });
  const open = () => {
    const connection = connectionFrom('2001:db8::1') as Duplex as Socket;
    server.emit('connection', connection);
    return connection;
  };
  const asked = Array.from({ length: shareOfAddress(server) }, open);
  const hungUp = asked.map(async (connection) => {
    const response = new EventEmitter() as ServerResponse;
    server.emit('request', { socket: connection }, response);
    handled.set(connection, response);
    connection.destroy();
    await once(connection, 'close');
    response.emit('close');
  });
  await Promise.all(hungUp);
  expect(open().destroyed).toBe(true);
  const [first] = asked as [Socket];
  handled.delete(first);
  leave(first);
  expect(open().destroyed).toBe(false);
});

test('who never sends the body that it told of has its place until its request was handled', () => {
  const server = createServer();
  const { handled } = limitConnections(server, {
    ...{ log: pino({ enabled: false }), routes: 'all', trustProxy: true },
  });
  const open = () => {
    const socket = connectionFrom('2001:db8::1') as Duplex as Socket;
    server.emit('connection', socket);
    const response = new EventEmitter() as ServerResponse;
    if (!socket.destroyed) server.emit('request', { socket, complete: false }, response);
    handled.set(socket, response);
    return socket;
  };
  for (let count = 0; count < server.maxConnections; count++) open();
  expect(open().destroyed).toBe(true);
});
