import { type FakeService, type Reply, refusal, result, startFakeService } from './fake-service.ts';
import { credential, fullGrant, grantId } from './samples.ts';

/**
 * What becomes of one request and its answer.
 *
 * @param act - does what is asked, and returns the answer; a request that is lost is never acted on
 */
export type Fate = (act: () => Reply) => Reply;

/** A service with one code, which it exchanges once, and whose grant it recovers. */
export interface LinkingService extends FakeService {
  /** The fates of the requests to come, in order; those after them arrive. */
  fates: Fate[];
  /** The grant's secret that works; undefined where the code was not exchanged. */
  liveSecret(): string | undefined;
  /** The last part of each request's path. */
  calls(): (string | undefined)[];
  /** Refuses recoveries from now on, as after the first use of the grant. */
  grantIsUsed: boolean;
  /** Knows no grant from now on, as after a revocation. */
  grantIsRevoked: boolean;
  /** A new code, of the same text. */
  reset(): void;
}

export async function startLinkingService(): Promise<LinkingService> {
  let secrets = 0;
  let exchanged = false;

  const grantWithNewSecret = () => {
    exchanged = true;
    secrets += 1;
    return result({ ...fullGrant, grant_secret: credential('grantSecret', secrets) });
  };
  const operations: Record<string, () => Reply> = {
    'grants.convert': () =>
      exchanged ? refusal('code_already_used', { grant_id: grantId }) : grantWithNewSecret(),
    'grants.recover': () => {
      if (!exchanged || service.grantIsRevoked) return refusal('grant_not_found');
      return service.grantIsUsed ? refusal('grant_not_recoverable') : grantWithNewSecret();
    },
  };
  const operationOf = ({ url }: { url: string }) => url.split('/').at(-1);

  const fake = await startFakeService((response, request) => {
    const act = operations[operationOf(request) ?? ''] ?? (() => refusal('route_not_found'));
    const fate = service.fates.shift() ?? arrives;
    fate(act)(response, request);
  });
  const service: LinkingService = Object.assign(fake, {
    fates: [],
    grantIsUsed: false,
    grantIsRevoked: false,
    liveSecret() {
      return exchanged ? credential('grantSecret', secrets) : undefined;
    },
    calls() {
      return fake.requests.map(operationOf);
    },
    reset() {
      exchanged = false;
      service.grantIsUsed = false;
      service.grantIsRevoked = false;
      service.fates = [];
      fake.requests.length = 0;
    },
  });
  return service;
}

export const arrives: Fate = (act) => act();

const page: Reply = (response) =>
  response.writeHead(502, { 'content-type': 'text/html' }).end('<html>Bad gateway</html>');
const json = { 'content-type': 'application/json' };

/** Ways to lose the answer to what was done. */
export const answerLost = {
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
    return page;
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
} as const satisfies Record<string, Fate>;

/** The connection breaks before anyone has acted on the request. */
export const requestLost: Fate = () => (response) => void response.destroy();

/** The service can't tell whether it has done it: it has, or it has not. */
export const unknownAndDone: Fate = (act) => {
  act();
  return refusal('outcome_unknown', { grant_id: grantId });
};
export const unknownAndNotDone: Fate = () => refusal('outcome_unknown', { grant_id: grantId });
