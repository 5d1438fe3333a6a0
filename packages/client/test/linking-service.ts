import { type FakeService, type Reply, refusal, result, startFakeService } from './fake-service.ts';
import { credential, fullGrant, grantId } from './samples.ts';

/**
 * Decides what happens to one request and its response.
 *
 * @param act - carries out the request and returns the reply; not called for a lost request
 */
export type Handler = (act: () => Reply) => Reply;

/** A service with one code, which can be converted once, and whose grant can be recovered. */
export interface LinkingService extends FakeService {
  /** The handlers of the next requests, in order. Later requests are handled normally. */
  handlers: Handler[];
  /** The grant secret that works; undefined before the code is converted. */
  liveSecret(): string | undefined;
  /** The operation of each request. */
  calls(): (string | undefined)[];
  /** Whether to refuse recoveries, as after the first use of the grant. */
  grantIsUsed: boolean;
  /** Whether to know no grant, as after a revocation. */
  grantIsRevoked: boolean;
  /** Makes the code unused again. */
  reset(): void;
}

export async function startLinkingService(): Promise<LinkingService> {
  let secrets = 0;
  let converted = false;

  const grantWithNewSecret = () => {
    converted = true;
    secrets += 1;
    return result({ ...fullGrant, grant_secret: credential('grantSecret', secrets) });
  };
  const operations: Record<string, () => Reply> = {
    'grants.convert': () =>
      converted ? refusal('code_already_used', { grant_id: grantId }) : grantWithNewSecret(),
    'grants.recover': () => {
      if (!converted || service.grantIsRevoked) return refusal('grant_not_found');
      return service.grantIsUsed ? refusal('grant_not_recoverable') : grantWithNewSecret();
    },
  };
  const operationOf = ({ url }: { url: string }) => url.split('/').at(-1);

  const fake = await startFakeService((response, request) => {
    const act = operations[operationOf(request) ?? ''] ?? (() => refusal('route_not_found'));
    const handler = service.handlers.shift() ?? handleNormally;
    handler(act)(response, request);
  });
  const service: LinkingService = Object.assign(fake, {
    handlers: [],
    grantIsUsed: false,
    grantIsRevoked: false,
    liveSecret() {
      return converted ? credential('grantSecret', secrets) : undefined;
    },
    calls() {
      return fake.requests.map(operationOf);
    },
    reset() {
      converted = false;
      service.grantIsUsed = false;
      service.grantIsRevoked = false;
      service.handlers = [];
      fake.requests.length = 0;
    },
  });
  return service;
}

export const handleNormally: Handler = (act) => act();

const page =
  (status: 502 | 503): Reply =>
  (response) =>
    response.writeHead(status, { 'content-type': 'text/html' }).end('<html>Bad gateway</html>');
const json = { 'content-type': 'application/json' };

/** Ways to lose the response to a request that was carried out. */
export const responseLost = {
  cut: (act) => {
    act();
    return (response) => void response.destroy();
  },
  'cut in the middle': (act) => {
    act();
    return (response) => {
      response.writeHead(200, { ...json, 'content-length': 5_000 });
      response.write('{"result":{"data":{"object":"oauth_grant"');
      setImmediate(() => response.destroy());
    };
  },
  'never given': (act) => {
    act();
    return () => {};
  },
  'the HTML 502 of a proxy': (act) => {
    act();
    return page(502);
  },
  'the HTML 503 of a proxy': (act) => {
    act();
    return page(503);
  },
  'the JSON 504 of a proxy': (act) => {
    act();
    return (response) => response.writeHead(504, json).end('{"message":"Timeout"}');
  },
  garbled: (act) => {
    act();
    return (response) => response.writeHead(200, json).end('{"result":{"data":{"obj');
  },
  'internal_error of the service': (act) => {
    act();
    return refusal('internal_error');
  },
} as const satisfies Record<string, Handler>;

/** The connection breaks before the request is carried out. */
export const requestLost: Handler = () => (response) => void response.destroy();

/** The service can't tell whether it carried out the request: here it did, below it did not. */
export const unknownAndDone: Handler = (act) => {
  act();
  return refusal('outcome_unknown', { grant_id: grantId });
};
export const unknownAndNotDone: Handler = () => refusal('outcome_unknown', { grant_id: grantId });
