import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type ProtectedResourceOptions,
  protectedResource,
  protectedResourceResponse,
} from './index.ts';

const resource = 'https://mcp.example.com/mcp';
const authorizationServer = 'https://link.example.com';
const options = { resource, authorizationServer, scopes: ['notes.read', 'notes.write'] };
const path = '/.well-known/oauth-protected-resource/mcp';

const preflight = { origin: 'https://app.example', 'access-control-request-method': 'GET' };

/** Each answers a path, or says that the request is for something else. */
const servers = {
  protectedResourceResponse: async (given: ProtectedResourceOptions) => {
    const metadata = protectedResourceResponse(given);
    return {
      ask: async (at: string, init?: RequestInit) =>
        metadata(new Request(new URL(at, 'https://mcp.example.com'), init)),
      close() {},
    };
  },
  protectedResource: async (given: ProtectedResourceOptions) => {
    const middleware = protectedResource(given);
    const server = createServer((request, response) =>
      middleware(request, response, () => response.writeHead(421).end()),
    );
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const { port } = server.address() as AddressInfo;
    return {
      ask: async (at: string, { method = 'GET', headers = {} }: RequestInit = {}) => {
        const response = await fetch(`http://127.0.0.1:${port}${at}`, { method, headers });
        return response.status === 421 ? undefined : response;
      },
      close: () => server.close(),
    };
  },
};

describe.each(Object.keys(servers) as (keyof typeof servers)[])('%s', (name) => {
  let server: Awaited<ReturnType<(typeof servers)[typeof name]>>;
  beforeEach(async () => {
    server = await servers[name](options);
  });
  afterEach(() => server.close());

  it('serves the metadata to every origin, with and without a slash at the end', async () => {
    for (const at of [path, `${path}/`, `${path}?again`]) {
      const response = await server.ask(at);
      expect(response?.status).toBe(200);
      expect(response?.headers.get('Content-Type')).toBe('application/json; charset=UTF-8');
      expect(response?.headers.get('Access-Control-Allow-Origin')).toBe('*');
      expect(await response?.json()).toEqual({
        resource,
        authorization_servers: [authorizationServer],
        scopes_supported: ['notes.read', 'notes.write'],
        bearer_methods_supported: ['header'],
      });
    }
  });

  it('answers HEAD without a body, and preflights', async () => {
    const head = await server.ask(path, { method: 'HEAD' });
    expect([head?.status, await head?.text()]).toEqual([200, '']);
    const response = await server.ask(path, { method: 'OPTIONS', headers: preflight });
    expect(response?.status).toBe(204);
    expect(Object.fromEntries(response?.headers ?? [])).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, POST',
      'access-control-allow-headers': 'authorization, content-type, mcp-protocol-version',
      'access-control-max-age': '600',
    });
  });

  it.each([
    ['/.well-known/oauth-protected-resource', 'GET'],
    [`${path}/deeper`, 'GET'],
    [`${path}//`, 'GET'],
    ['/mcp', 'GET'],
    [path, 'POST'],
    [path, 'OPTIONS'],
  ])('leaves %s by %s to others', async (at, method) => {
    expect(await server.ask(at, { method })).toBeUndefined();
  });
});

describe('the metadata', () => {
  const metadataOf = async (given: ProtectedResourceOptions, at: string) =>
    protectedResourceResponse(given)(new Request(at))?.json();

  it('of a resource without a path is at the root', async () => {
    const given = { resource: 'https://API.example.com/', authorizationServer };
    const at = 'https://api.example.com/.well-known/oauth-protected-resource';
    expect(await metadataOf(given, at)).toEqual({
      resource: 'https://API.example.com/',
      authorization_servers: [authorizationServer],
      bearer_methods_supported: ['header'],
    });
  });

  it('has the name of the resource, and no empty list', async () => {
    const given = { ...options, scopes: [], resourceName: 'Notes' };
    const metadata = await metadataOf(given, `https://mcp.example.com${path}`);
    expect(metadata).toHaveProperty('resource_name', 'Notes');
    expect(metadata).not.toHaveProperty('scopes_supported');
  });

  it.each([
    [{ resource: 'https://mcp.example.com/mcp?a' }, /resource must be/],
    [{ resource: 'http://mcp.example.com/mcp' }, /resource must be/],
    [{ resource: undefined }, /resource must be/],
    [{ authorizationServer: 'link.example.com' }, /authorizationServer must be/],
    [{ authorizationServer: 'https://link.example.com?a' }, /authorizationServer must be/],
    [{ authorizationServer: undefined }, /authorizationServer must be/],
    [{ scopes: ['a b'] }, /scopes must be/],
    [{ scopes: 'a' }, /scopes must be/],
  ])('of %j is a configuration error', (wrong, message) => {
    const given = { ...options, ...wrong } as ProtectedResourceOptions;
    for (const create of [protectedResource, protectedResourceResponse]) {
      expect(() => create(given)).toThrow(message);
    }
  });
});
