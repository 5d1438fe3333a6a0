import { longer } from '@latchkey/test-kit/long';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { approved, begin, redeem, request, SETTINGS } from '../client-documents/document-flow.ts';
import { useWorld } from '../client-documents/document-server.ts';
import { signed, signingClient } from '../client-documents/signing-client.ts';
import type { Json } from '../http/call.ts';
import { describeOnAnyStore } from '../http/databases.ts';
import { useServer } from '../http/running-server.ts';
import { authorize, linkingApplication } from '../linking/link-flow.ts';
import { assertions, keySets, nearly } from './unverified.ts';

const RUNS = { numRuns: longer(100, 3_000) };
const TIMEOUT = { timeout: longer(120_000, 1_800_000) };
const HOUR = 3_600_000;

const world = useWorld();

describeOnAnyStore('a client with keys, given anything,', (fresh) => {
  const server = useServer(fresh, { ...SETTINGS, RATE_LIMIT: 'off' });

  const expectNoFailure = () => {
    const lines = server.lines.map((line): Json => JSON.parse(line));
    server.lines.length = 0;
    expect(lines.filter(({ level }) => level >= 50)).toEqual([]);
  };

  async function linkedClient() {
    const client = await signingClient(world, server);
    const { account_id } = await linkingApplication(server);
    const { code } = await approved(server, await begin(server, client.published), account_id);
    return { ...client, code };
  }

  test('is refused as a client, whatever it sends and publishes as keys', TIMEOUT, async () => {
    const { published, keys, code, claims, sign } = await linkedClient();
    const sent = fc
      .tuple(assertions(claims()), fc.constantFrom({}, { client_id: published.address }), keySets)
      .filter(([assertion]) => assertion.length < 8_000);
    await fc.assert(
      fc.asyncProperty(sent, async ([assertion, client, set]) => {
        keys.list = set;
        // The keys are kept for an hour, and asked for anew once a minute.
        server.advance(HOUR);
        const { status, json } = await redeem(server, code, { ...client, ...signed(assertion) });
        expect([status, json.error_code]).toEqual([400, 'credentials_invalid']);
        // One whose claims are right asks for the keys.
        const right = await sign();
        const other = await redeem(server, code, { ...client, ...signed(right) });
        expect([other.status, other.json.error_code]).toEqual([400, 'credentials_invalid']);
        expectNoFailure();
      }),
      RUNS,
    );
    expect(keys.requests).toBeGreaterThan(RUNS.numRuns / 2);
  });

  test('has a page for each document', TIMEOUT, async () => {
    const { published } = await linkedClient();
    const parameters = request(published);
    const { address, respond } = published;
    const documents = keySets.chain((keys) =>
      nearly({
        ...{
          client_id: address,
          client_name: 'Notes',
          redirect_uris: ['http://127.0.0.1/callback'],
        },
        ...{ scope: 'profile.read', grant_types: ['authorization_code'], response_types: ['code'] },
        ...{ client_uri: 'https://localhost/', token_endpoint_auth_method: 'private_key_jwt' },
        ...{ token_endpoint_auth_signing_alg: 'ES256', jwks: { keys } },
        ...{ token_endpoint_auth_methods_supported: ['private_key_jwt'] },
      }),
    );
    const reached = new Set<number>();
    await fc.assert(
      fc.asyncProperty(documents, async (document) => {
        published.respond = (response) =>
          response.setHeader('content-type', 'application/json').end(JSON.stringify(document));
        server.advance(HOUR);
        const { status } = await authorize(server, parameters);
        expect([303, 400]).toContain(status);
        reached.add(status);
        expectNoFailure();
      }),
      RUNS,
    );
    published.respond = respond;
    // Otherwise the run has tested nothing.
    expect([...reached].sort()).toEqual([303, 400]);
  });
});
