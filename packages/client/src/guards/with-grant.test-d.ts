import { expectTypeOf } from 'vitest';
import { type GrantDescription, Latchkey } from '../index.ts';
import { type GuardOptions, latchkeyVerifier, requireGrant, withGrant } from './index.ts';

const latchkey = new Latchkey({ applicationSecret: null });

// The guarded handler keeps the arguments of its framework, without the grant.
expectTypeOf(
  withGrant({ latchkey }, (request, grant) => {
    expectTypeOf(request).toEqualTypeOf<Request>();
    expectTypeOf(grant).toEqualTypeOf<GrantDescription>();
    return new Response();
  }),
).toEqualTypeOf<(request: Request) => Promise<Response>>();

declare class NextRequest extends Request {
  readonly nextUrl: URL;
}
interface Context {
  params: Promise<{ id: string }>;
}
expectTypeOf(
  withGrant(
    { latchkey },
    async (request: NextRequest, _grant, { params }: Context) =>
      new Response(request.nextUrl.href + (await params).id),
  ),
).toEqualTypeOf<(request: NextRequest, context: Context) => Promise<Response>>();

// With an undefined scope, a guard could accept every grant.
declare const scope: string | undefined;
// @ts-expect-error
({ latchkey, scope }) satisfies GuardOptions;
// And so with undefined applications.
declare const applications: string[] | undefined;
// @ts-expect-error
({ latchkey, applications }) satisfies GuardOptions;
// Or an undefined resource.
declare const resource: string | undefined;
// @ts-expect-error
({ latchkey, resource }) satisfies GuardOptions;
const resourceOption = { latchkey, resource: 'https://mcp.example/mcp' };
// @ts-expect-error Without the class, the MCP SDK would respond with 500.
latchkeyVerifier(resourceOption);
// The classes have the same name in both versions of the MCP SDK: that of version 1 does not fit.
declare class OAuthErrorOfVersion1 extends Error {
  constructor(message: string, errorUri?: string);
  get errorCode(): string;
}
declare class OAuthErrorOfVersion2 extends Error {
  readonly code: string;
  constructor(code: string, message: string, errorUri?: string);
}
latchkeyVerifier({ ...resourceOption, OAuthError: OAuthErrorOfVersion2 });
// @ts-expect-error
latchkeyVerifier({ ...resourceOption, OAuthError: OAuthErrorOfVersion1 });
// @ts-expect-error
latchkeyVerifier({ ...resourceOption, InvalidTokenError: OAuthErrorOfVersion2 });
// @ts-expect-error A guard needs a client.
requireGrant(new Request('https://api.example'), {});
