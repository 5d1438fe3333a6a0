import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { MongoInvalidArgumentError, MongoNetworkError } from 'mongodb';
import { expect, test } from 'vitest';
import { unavailable } from '../src/errors.ts';

/** The error of a write to a connection that the server has just ended. */
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

// Regression: the response was a 500.
test('a connection that the database ended is unavailable, not a bug', async () => {
  const error = await errorOfWriteAfterEnd();
  expect(error).toMatchObject({ code: 'EPIPE' });
  expect(unavailable(error)).toMatchObject({ code: 'store_unavailable', cause: error });
});

test('a network error of the driver is unavailable', () => {
  expect(unavailable(new MongoNetworkError('closed'))).toMatchObject({ code: 'store_unavailable' });
});

test.each([
  new TypeError('x is not a function'),
  Object.assign(new TypeError('The argument is wrong.'), { code: 'ERR_INVALID_ARG_TYPE' }),
  new MongoInvalidArgumentError('There is no such option.'),
])('a bug stays what it is: %s', (error) => {
  expect(unavailable(error)).toBe(error);
});
