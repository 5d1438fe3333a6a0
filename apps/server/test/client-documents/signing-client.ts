import { exportJWK, generateKeyPair, type JWTHeaderParameters, SignJWT } from 'jose';
import { PUBLIC_URL } from '../linking/link-flow.ts';
import { serve, type World } from '../outbound/world.ts';
import { publish } from './document-server.ts';

const JWT_BEARER = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

export const signed = (client_assertion: string) => ({
  client_assertion_type: JWT_BEARER,
  client_assertion,
});

/** A token with a made-up signature. */
export function unsigned(claims: unknown, header: unknown = { alg: 'ES256' }): string {
  const [first, second] = [header, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  );
  return `${first}.${second}.AAAA`;
}

/**
 * Publishes the document of an application with keys, in it or at an address of their own.
 *
 * @param among - the whole set
 * @param jwks_uri - the address of the keys. Default: where they are
 */
export async function signingClient(
  world: World,
  server: { now(): number },
  {
    inline = false,
    among = (good) => [good],
    jwks_uri,
  }: { inline?: boolean; among?: (good: object) => unknown[]; jwks_uri?: string } = {},
) {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  const keys = {
    list: among({ ...(await exportJWK(publicKey)), kid: 'first' }),
    requests: 0,
  };
  const { port } = await serve(world.pem, (_, response) => {
    keys.requests += 1;
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: keys.list }));
  });
  const place = inline
    ? { jwks: { keys: keys.list } }
    : { jwks_uri: jwks_uri ?? `https://localhost:${port}/keys.json` };
  const published = await publish(world, {
    token_endpoint_auth_method: 'private_key_jwt',
    ...place,
  });
  const claims = () => ({
    ...{ iss: published.address, sub: published.address, aud: PUBLIC_URL },
    exp: Math.floor(server.now() / 1000) + 60,
  });
  const sign = (kid = 'first', key = privateKey, changes: object = {}) => {
    const header: JWTHeaderParameters = { alg: 'ES256', kid };
    return new SignJWT({ ...claims(), ...changes }).setProtectedHeader(header).sign(key);
  };
  return { published, keys, claims, sign };
}
