import { beforeAll, expect, it } from 'vitest';
import { refusal, result } from '../../test/fake-service.ts';
import {
  account,
  applicationId,
  grantDescription,
  grantId,
  grantSecret,
} from '../../test/samples.ts';
import { useFakeService } from '../../test/use-fake-service.ts';
import { Latchkey } from '../index.ts';
import { type LatchkeyVerifierOptions, latchkeyVerifier } from './index.ts';

const resource = 'https://mcp.example.com/mcp';
class InvalidTokenError extends Error {}
class OAuthError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

const service = useFakeService();
let options: LatchkeyVerifierOptions;
beforeAll(() => {
  const latchkey = new Latchkey({ baseUrl: service.url, applicationSecret: null, maxRetries: 0 });
  options = { latchkey, resource, InvalidTokenError };
});

const verify = (token = grantSecret) => latchkeyVerifier(options).verifyAccessToken(token);

it('tells the MCP SDK what a grant is, for a minute from now', async () => {
  service.reply = result({ ...grantDescription, scope: 'notes.read notes.write', resource });
  const before = Math.floor(Date.now() / 1000);
  const { expiresAt, ...grant } = await verify();
  expect(grant).toEqual({
    token: grantSecret,
    clientId: applicationId,
    scopes: ['notes.read', 'notes.write'],
    resource: new URL(resource),
    extra: { grant_id: grantId, account },
  });
  expect(expiresAt).toSatisfy(Number.isInteger);
  expect(expiresAt).toBeGreaterThanOrEqual(before + 60);
  expect(expiresAt).toBeLessThanOrEqual(Math.floor(Date.now() / 1000) + 60);
});

it('knows an application by the address of its document', async () => {
  const document_uri = 'https://client.example/oauth.json';
  service.reply = result({ ...grantDescription, resource, document_uri });
  expect(await verify()).toHaveProperty('clientId', document_uri);
});

it('refuses a dead grant, a foreign one and what is none, with the class that it was given', async () => {
  service.reply = refusal('credentials_invalid');
  await expect(verify()).rejects.toThrow(InvalidTokenError);
  for (const other of [null, 'https://other.example/mcp']) {
    service.reply = result({ ...grantDescription, resource: other });
    await expect(verify()).rejects.toThrow(InvalidTokenError);
  }
  await expect(verify('nothing')).rejects.toThrow(InvalidTokenError);
  await expect(verify(`${grantSecret} ${grantSecret}`)).rejects.toThrow(InvalidTokenError);
});

it('does not call a grant dead that could not be checked', async () => {
  for (const reply of ['store_unavailable', 'application_disabled'] as const) {
    service.reply = refusal(reply);
    const error = await verify().catch((reason) => reason);
    expect(error).toHaveProperty('name', 'GrantRequiredError');
  }
});

it('gives the class of version 2 of the MCP SDK the code that it responds to with 401', async () => {
  service.reply = refusal('credentials_invalid');
  const { latchkey } = options;
  const refused = latchkeyVerifier({ latchkey, resource, OAuthError }).verifyAccessToken(
    grantSecret,
  );
  const error = await refused.catch((reason) => reason);
  expect(error).toBeInstanceOf(OAuthError);
  expect(error.code).toBe('invalid_token');
  expect(error.message).toMatch(/^The Authorization header contains no valid grant secret/);
});

it('throws when it is made without the class, or without a resource', () => {
  for (const wrong of [{ InvalidTokenError: undefined }, { resource: undefined }]) {
    const given = { ...options, ...wrong } as unknown as LatchkeyVerifierOptions;
    expect(() => latchkeyVerifier(given)).toThrow(TypeError);
  }
});
