import { expectTypeOf } from 'vitest';
import { type GrantDescription, Latchkey } from '../index.ts';
import { type GuardOptions, requireGrant, withGrant } from './index.ts';

const latchkey = new Latchkey({ applicationSecret: null });

// What its frameworks call a handler with stays, without the grant.
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

// A scope that may be undefined would be a guard that may be open.
declare const scope: string | undefined;
// @ts-expect-error
({ latchkey, scope }) satisfies GuardOptions;
// @ts-expect-error A guard has to know whom to ask.
requireGrant(new Request('https://api.example'), {});
