import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tableBelow } from './support/markdown.ts';
import { startExampleService } from './support/protocol/example-service.ts';
import {
  differences,
  protocolPage,
  readExamples,
  readValues,
  sendExample,
  Values,
} from './support/protocol/examples.ts';
import { createTokenEndpoint } from './support/protocol/token-endpoint.ts';

// Sends the requests of docs/protocol, and compares the responses with those of the page.

const examples = await readExamples();
const shown = await readValues();

describe('the examples of docs/protocol, one after the other, hold for the service', () => {
  let service: Awaited<ReturnType<typeof startExampleService>>;
  beforeAll(async () => {
    service = await startExampleService(shown);
  });
  afterAll(() => service.close());

  test.each(examples)('$place: $request.start', async (example) => {
    const response = await sendExample(example, service, service.values);
    const options = { ignoresDescriptions: false };
    expect(await differences(example, response, service.values, options)).toEqual([]);
  });
});

describe('those of the token endpoint hold for a server that was written from the pages', () => {
  // The code of the last one comes from a link.
  const ofTokens = examples.filter(
    ({ place, request }) =>
      place.startsWith('operations.md') && request.start.includes(' /oauth/token '),
  );
  const value = (name: string) => shown.get(name) as string;
  const values = new Values();
  const service = { url: '' };

  beforeAll(async () => {
    const readme = await protocolPage('README.md');
    const [, now = ''] = /^It is (\S+)\.$/m.exec(readme) ?? [];
    const ids = { first: value('application_id'), second: value('public_application_id') };
    const orNull = (cell = '–') => (cell === '–' ? null : cell);
    const server = createTokenEndpoint({
      publicUrl: value('public_url'),
      now: () => Date.parse(now),
      applications: [
        { id: ids.first, secret: value('application_secret') },
        { id: ids.second, secret: null },
      ],
      codes: tableBelow(readme, 'Codes').map(([, code = '', to, redirect_uri, challenge]) => ({
        code,
        application_id: to === 'the first' ? ids.first : ids.second,
        scope: 'profile.read',
        account: {
          object: 'service_account',
          id: value('account_id'),
          username: 'ada',
          display_name: 'Ada Lovelace',
          twitter: null,
          verified: true,
          supporter: false,
        },
        redirect_uri: orNull(redirect_uri),
        code_challenge: orNull(challenge),
      })),
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    service.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    for (const one of shown.values()) values.bind(one, one);
    return () => void server.close();
  });

  test('there are some, of every kind', () => {
    expect(ofTokens.length).toBeGreaterThan(12);
  });

  test.each(ofTokens)('$place: $request.start', async (example) => {
    const response = await sendExample(example, service, values);
    const options = { ignoresDescriptions: true };
    expect(await differences(example, response, values, options)).toEqual([]);
  });

  test('and it has at most 300 lines, and nothing of the service', async () => {
    const file = new URL('support/protocol/token-endpoint.ts', import.meta.url);
    const text = await readFile(file, 'utf8');
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(300);
    const imported = [...text.matchAll(/ from '([^']+)'/g)].map(([, name]) => name);
    expect(imported.filter((name) => !name?.startsWith('node:'))).toEqual([]);
  });
});
