import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { MongoInvalidArgumentError, MongoNetworkError } from 'mongodb';
import { expect, test } from 'vitest';
import { unavailable } from './errors.ts';

/** What the driver gets, and passes on, when it writes to a connection that was just ended. */
async function errorOfWriteAfterEnd(): Promise<unknown> {
  const server = createServer((socket) => socket.end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const failed = once(socket, 'error');
  socket.once('finish', () => socket.write('a command'));
  socket.resume();
  const [error] = await failed;
  server.close();
  return error;
}

// It was answered with 500, as if it were a fault of the service.
test('a connection that the database ended is unavailable, not a fault of the code', async () => {
  const error = await errorOfWriteAfterEnd();
  expect(error).toMatchObject({ code: 'EPIPE' });
  expect(unavailable(error)).toMatchObject({ code: 'store_unavailable', cause: error });
});

test('what the driver reports of the network is, too', () => {
  expect(unavailable(new MongoNetworkError('closed'))).toMatchObject({ code: 'store_unavailable' });
});

test.each([
  new TypeError('x is not a function'),
  Object.assign(new TypeError('The argument is wrong.'), { code: 'ERR_INVALID_ARG_TYPE' }),
  new MongoInvalidArgumentError('There is no such option.'),
])('a fault of the code stays what it is: %s', (fault) => {
  expect(unavailable(fault)).toBe(fault);
});
