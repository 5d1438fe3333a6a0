import { inputs } from '@latchkey/schema';
import { longer } from '@latchkey/test-kit/long';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { matchesRedirectUri } from './match-redirect-uri.ts';

const runs = { numRuns: longer(2_000, 200_000) };

const path = fc.stringMatching(/^(?:\/[a-z0-9:]{0,3}){0,2}(?:\?[a-z:=]{0,3})?$/);
const port = fc.oneof(
  fc.constant(''),
  fc.nat({ max: 65_535 }).map((number) => `:${number}`),
);
const loopback = fc.constantFrom('http://127.0.0.1', 'http://[::1]', 'http://localhost');
const elsewhere = fc.constantFrom(
  'https://127.0.0.1',
  'https://localhost',
  'https://app.example',
  'com.example.app:',
  'com.example.app://localhost',
);
const join = (parts: readonly string[]) => parts.join('');
const local = fc.tuple(loopback, port, path).map(join);
const remote = fc.tuple(elsewhere, fc.constantFrom('', ':8443'), path).map(join);

/** As it is, with one character changed, left out or added. */
const nearly = (uri: string) =>
  fc
    .tuple(
      fc.nat({ max: uri.length }),
      fc.nat({ max: 2 }),
      fc.constantFrom(...'0:/?#@.[]*%aA \\\n', ''),
    )
    .map(([at, length, added]) => uri.slice(0, at) + added + uri.slice(at + length));

test('a URI matches itself', () => {
  fc.assert(
    fc.property(fc.oneof(local, remote), (uri) => {
      expect(matchesRedirectUri(uri, uri)).toBe(true);
    }),
    runs,
  );
});

test('a loopback address matches with any port, and with none', () => {
  fc.assert(
    fc.property(loopback, path, port, port, (host, rest, one, other) => {
      expect(matchesRedirectUri(host + one + rest, host + other + rest)).toBe(true);
    }),
    runs,
  );
});

test('nothing else matches: neither another host, nor a character more or less', () => {
  const host = fc.oneof(loopback, elsewhere);
  const ports = fc.oneof(port, fc.constantFrom(':', ':x', ':123456', ':1:2', '.evil.example'));
  const pairs = fc.tuple(host, port, path).chain(([ownHost, ownPort, ownRest]) =>
    fc.record({
      registered: fc.constant({ host: ownHost, port: ownPort, rest: ownRest }),
      given: fc.record({
        host: fc.oneof({ weight: 3, arbitrary: fc.constant(ownHost) }, host),
        port: fc.oneof(fc.constant(ownPort), ports),
        // A digit would be a part of the port.
        rest: fc.oneof(fc.constant(ownRest), nearly(ownRest), path).filter((r) => !/^\d/.test(r)),
      }),
    }),
  );
  const seen = { matched: 0, refused: 0 };
  fc.assert(
    fc.property(pairs, ({ registered, given }) => {
      const uri = join(Object.values(registered));
      const sent = join(Object.values(given));
      const isPort = /^(?::\d{1,5})?$/.test(given.port);
      const differsInPort =
        registered.host.startsWith('http:') &&
        registered.host === given.host &&
        registered.rest === given.rest &&
        isPort;
      const matches = matchesRedirectUri(uri, sent);
      expect(matches).toBe(sent === uri || differsInPort);
      seen[matches ? 'matched' : 'refused']++;
    }),
    runs,
  );
  expect(Math.min(seen.matched, seen.refused)).toBeGreaterThan(runs.numRuns / 20);
});

test('whatever matches leads a browser to the registered host and path', () => {
  const registered = fc.oneof(local, remote).filter((uri) => {
    const input = { name: 'Acme', redirect_uris: [uri] };
    return inputs.applicationInput.safeParse(input).success;
  });
  const pairs = registered.chain((uri) => fc.tuple(fc.constant(uri), nearly(uri)));
  fc.assert(
    fc.property(pairs, ([uri, given]) => {
      if (!matchesRedirectUri(uri, given) || !URL.canParse(given)) return;
      const [one, other] = [new URL(uri), new URL(given)];
      for (const member of ['protocol', 'hostname', 'username', 'pathname', 'search'] as const) {
        expect(other[member]).toBe(one[member]);
      }
    }),
    runs,
  );
});

test.each([
  ['http://127.0.0.1/cb', 'http://localhost/cb'],
  ['http://127.0.0.1/cb', 'http://[::1]/cb'],
  ['http://localhost/cb', 'http://LOCALHOST/cb'],
  ['http://localhost/cb', 'http://localhost:/cb'],
  ['http://localhost/cb', 'http://localhost:123456/cb'],
  ['http://localhost/cb', 'http://localhost:80:80/cb'],
  ['http://localhost/cb', 'http://localhost:80@evil.example/cb'],
  ['http://localhost', 'http://localhost:8080.evil.example'],
  ['http://localhost/cb', 'http://localhost:8080/CB'],
  ['https://localhost/cb', 'https://localhost:8080/cb'],
  ['https://app.example/cb', 'https://app.example:443/cb'],
])('%s does not match %s', (registered, given) => {
  expect(matchesRedirectUri(registered, given)).toBe(false);
});
