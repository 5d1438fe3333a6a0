import type { IncomingMessage, RequestListener } from 'node:http';
import { uuidV7 } from '../credentials.ts';
import { runProgram } from '../program.ts';
import type { Records } from './records.ts';
import { account, authenticateApplication, convert, Refused, revoke, setUp } from './rules.ts';

// The contract's limit on bodies.
const LARGEST_BODY = 16 * 1024;

/** With events: `for await` over the request costs more CPU than the rest of this server. */
function readBody(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => {
      text += chunk;
      if (text.length > LARGEST_BODY) reject(new Refused(413, 'body_too_large'));
    });
    request.on('end', () => resolve(text));
    request.on('error', reject);
  });
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) {
    throw new Refused(415, 'media_type_unsupported');
  }
  const body = await readBody(request);
  try {
    return JSON.parse(body);
  } catch {
    throw new Refused(400, 'body_malformed');
  }
}

/** Three operations of Latchkey's REST interface on bare `node:http`, one write per response. */
export function bareListener(records: Records): RequestListener {
  async function respond(request: IncomingMessage): Promise<object> {
    const { authorization } = request.headers;
    switch (`${request.method} ${request.url}`) {
      case 'POST /oauth/convert': {
        const application = await authenticateApplication(records, authorization);
        return convert(records, application, await readJson(request));
      }
      case 'POST /oauth/revoke': {
        const application = await authenticateApplication(records, authorization);
        return revoke(records, application, await readJson(request));
      }
      case 'GET /v1/account':
        return account(records, authorization);
      default:
        throw new Refused(404, 'route_not_found');
    }
  }

  return async (request, response) => {
    let status = 200;
    let body: object;
    try {
      body = await respond(request);
    } catch (error) {
      status = error instanceof Refused ? error.status : 500;
      body = { error_code: error instanceof Refused ? error.errorCode : 'internal_error' };
    }
    const text = JSON.stringify(body);
    response.writeHead(status, {
      'Content-Type': 'application/json; charset=UTF-8',
      'Cache-Control': 'no-store',
      'X-Request-Id': uuidV7(Date.now()),
      'Content-Length': Buffer.byteLength(text),
    });
    response.end(text);
  };
}

/** Runs the program of a bare contender. */
export function runBare(records: Records): Promise<void> {
  return runProgram(async () => {
    const { secret, issue } = await setUp(records);
    return { listener: bareListener(records), issue, about: secret };
  });
}
