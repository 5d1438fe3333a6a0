import { type Linking, linkingOf } from '@latchkey/rules/linking/linking';
import type { Service } from '@latchkey/rules/service';
import { SIGNING_ALGORITHMS } from '@latchkey/store/records';
import { RESOURCE_METADATA_PATH } from './challenge.ts';
import type { RequestContext } from './request-context.ts';
import { sendJson } from './response.ts';
import { REGISTRATION_PATH } from './rest/registration-routes.ts';
import type { Route } from './router.ts';

/** RFC 8414 for the server, RFC 9728 for the resource `/v1`. */
export function metadataRoutes(
  service: Pick<Service, 'store' | 'linking'>,
  { publicUrl, languages }: { publicUrl: string | null; languages: readonly string[] },
): Route[] {
  // Both RFCs insert `/.well-known/…` between host and path.
  const path = publicUrl === null ? '' : new URL(publicUrl).pathname.replace(/\/$/, '');
  const routes = (paths: string[], describe: (linking: Linking, scopes: string[]) => object) =>
    [...new Set(paths)].map((where): Route => {
      const handle = async (context: RequestContext) => {
        const linking = linkingOf(service);
        sendJson(context, 200, describe(linking, await service.store.listScopeNames()));
      };
      return { method: 'GET', path: where, handle };
    });

  const server = '/.well-known/oauth-authorization-server';
  const resource = '/.well-known/oauth-protected-resource';
  return [
    ...routes([server, server + path], (linking, scopes) =>
      serverMetadata(linking, scopes, languages),
    ),
    ...routes([RESOURCE_METADATA_PATH, `${resource}${path}/v1`], resourceMetadata),
  ];
}

const SECRET_METHODS = ['client_secret_basic', 'client_secret_post'];

function serverMetadata(
  { publicUrl: issuer, clientDocuments, registeredClients }: Linking,
  scopes: string[],
  languages: readonly string[],
): object {
  const signed = clientDocuments === null ? [] : ['private_key_jwt'];
  const methods = [...SECRET_METHODS, ...signed, 'none'];
  const algorithms = clientDocuments === null ? undefined : SIGNING_ALGORITHMS;
  return {
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    introspection_endpoint: `${issuer}/oauth/introspect`,
    ...(registeredClients.isOn && { registration_endpoint: issuer + REGISTRATION_PATH }),
    scopes_supported: scopes,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code'],
    token_endpoint_auth_methods_supported: methods,
    token_endpoint_auth_signing_alg_values_supported: algorithms,
    revocation_endpoint_auth_methods_supported: methods,
    revocation_endpoint_auth_signing_alg_values_supported: algorithms,
    introspection_endpoint_auth_methods_supported: [...SECRET_METHODS, ...signed],
    introspection_endpoint_auth_signing_alg_values_supported: algorithms,
    code_challenge_methods_supported: ['S256'],
    ...(clientDocuments !== null && { client_id_metadata_document_supported: true }),
    // RFC 9207, section 3.
    authorization_response_iss_parameter_supported: true,
    service_documentation: `${issuer}/docs`,
    ui_locales_supported: languages,
  };
}

function resourceMetadata({ publicUrl: issuer }: Linking, scopes: string[]): object {
  return {
    resource: `${issuer}/v1`,
    authorization_servers: [issuer],
    bearer_methods_supported: ['header'],
    scopes_supported: scopes,
    resource_documentation: `${issuer}/docs`,
  };
}
