import type { IncomingMessage, RequestListener } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { uuidV7 } from '../credentials.ts';
import { runProgram } from '../program.ts';
import type { Records } from './records.ts';
import { account, authenticateApplication, convert, Refused, revoke, setUp } from './rules.ts';

// The limit of `docs/protocol/limits.md#sizes` on bodies.
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

/**
 * Three operations of Latchkey's REST interface on bare `node:http`, one write per response.
 *
 * @param wait - what a request waits for before it is handled. Default: nothing
 */
export function bareListener(records: Records, wait?: () => Promise<void>): RequestListener {
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
    if (wait !== undefined) await wait();
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

/** Lets requests wait for the end of the event-loop tick, so that they are handled as a batch. */
function endOfTick(): () => Promise<void> {
  let end: Promise<void> | null = null;
  return () => {
    end ??= setImmediate().then(() => {
      end = null;
    });
    return end;
  };
}

/**
 * Runs the program of a bare contender.
 *
 * @param options.batches - whether it handles the requests of a tick together, as Latchkey does
 */
export function runBare(records: Records, { batches = false } = {}): Promise<void> {
  return runProgram(async () => {
    const { secret, issue } = await setUp(records);
    const listener = bareListener(records, batches ? endOfTick() : undefined);
    return { listener, issue, about: secret };
  });
}
