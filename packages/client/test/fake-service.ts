import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ErrorCode, errorTable } from '@latchkey/schema';

/** A request as it arrived. */
export interface Recorded {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export type Reply = (response: ServerResponse, request: Recorded) => void;

/** A server with Latchkey's tRPC interface, which replies as a test tells it to. */
export interface FakeService {
  readonly url: string;
  readonly requests: Recorded[];
  reply: Reply;
  close(): Promise<void>;
}

/** @param service - the object to turn into the fake service */
export async function startFakeService(
  reply: Reply,
  service = {} as FakeService,
): Promise<FakeService> {
  const server = createServer(async (request, response) => {
    let body = '';
    request.setEncoding('utf8');
    for await (const chunk of request) body += chunk;
    const { method = '', url = '', headers } = request;
    const recorded = { method, url, headers, body };
    service.requests.push(recorded);
    service.reply(response, recorded);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(service, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    reply,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

function send(response: ServerResponse, status: number, envelope: object, headers: object = {}) {
  response.writeHead(status, {
    'content-type': 'application/json; charset=UTF-8',
    'cache-control': 'no-store',
    'x-request-id': 'request-1',
    ...headers,
  });
  response.end(JSON.stringify(envelope));
}

/** Replies with a result. */
export const result =
  (data: unknown, headers: object = {}): Reply =>
  (response) =>
    send(response, 200, { result: { data } }, headers);

/** Replies with an error over tRPC: the whole REST body in `error.data`. */
export const failure =
  (status: number, body: object, headers: object = {}): Reply =>
  (response, { url }) =>
    send(
      response,
      status,
      {
        error: {
          message: 'An error',
          code: -32600,
          data: { ...body, code: 'BAD_REQUEST', httpStatus: status, path: url.split('/').pop() },
        },
      },
      headers,
    );

/** The REST body of an error from the table. */
export const errorBody = (code: ErrorCode, members: object = {}) => ({
  error: errorTable[code].error,
  error_description: errorTable[code].description,
  error_code: code,
  error_uri: `https://latchkey.example/docs/errors#${code}`,
  request_id: 'request-1',
  ...members,
});

/** Replies with an error from the table. */
export const refusal = (code: ErrorCode, members: object = {}, headers: object = {}): Reply =>
  failure(errorTable[code].status, errorBody(code, members), headers);
