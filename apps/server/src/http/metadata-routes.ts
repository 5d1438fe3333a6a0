import { linkingOf, type Service } from '../service.ts';
import { RESOURCE_METADATA_PATH } from './challenge.ts';
import type { RequestContext } from './request-context.ts';
import { sendJson } from './response.ts';
import type { Route } from './router.ts';

/** RFC 8414 for the server, RFC 9728 for the resource `/v1`. */
export function metadataRoutes(
  service: Pick<Service, 'store' | 'linking'>,
  { publicUrl, languages }: { publicUrl: string | null; languages: readonly string[] },
): Route[] {
  // Both RFCs insert `/.well-known/…` between host and path.
  const path = publicUrl === null ? '' : new URL(publicUrl).pathname.replace(/\/$/, '');
  const routes = (paths: string[], describe: (issuer: string, scopes: string[]) => object) =>
    [...new Set(paths)].map((where): Route => {
      const handle = async (context: RequestContext) => {
        const { publicUrl: issuer } = linkingOf(service);
        sendJson(context, 200, describe(issuer, await service.store.listScopeNames()));
      };
      return { method: 'GET', path: where, handle };
    });

  const server = '/.well-known/oauth-authorization-server';
  const resource = '/.well-known/oauth-protected-resource';
  return [
    ...routes([server, server + path], (issuer, scopes) =>
      serverMetadata(issuer, scopes, languages),
    ),
    ...routes([RESOURCE_METADATA_PATH, `${resource}${path}/v1`], resourceMetadata),
  ];
}

const SECRET_METHODS = ['client_secret_basic', 'client_secret_post'];
const CLIENT_METHODS = [...SECRET_METHODS, 'none'];

function serverMetadata(issuer: string, scopes: string[], languages: readonly string[]): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    introspection_endpoint: `${issuer}/oauth/introspect`,
    scopes_supported: scopes,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code'],
    token_endpoint_auth_methods_supported: CLIENT_METHODS,
    revocation_endpoint_auth_methods_supported: CLIENT_METHODS,
    introspection_endpoint_auth_methods_supported: SECRET_METHODS,
    code_challenge_methods_supported: ['S256'],
    // RFC 9207, section 3.
    authorization_response_iss_parameter_supported: true,
    service_documentation: `${issuer}/docs`,
    ui_locales_supported: languages,
  };
}

function resourceMetadata(issuer: string, scopes: string[]): object {
  return {
    resource: `${issuer}/v1`,
    authorization_servers: [issuer],
    bearer_methods_supported: ['header'],
    scopes_supported: scopes,
    resource_documentation: `${issuer}/docs`,
  };
}
