import { expectTypeOf } from 'vitest';
import { type AnyLatchkeyError, type FullGrant, Latchkey, type WithResponse } from '../index.ts';
import {
  type AnyExpressRequest,
  type AnyHonoContext,
  expressLinking,
  fastifyLinking,
  fetchLinking,
  honoLinking,
  type LinkingOptions,
} from './index.ts';

const common = {
  latchkey: new Latchkey(),
  redirectUri: 'https://acme.example/callback',
  scope: 'profile.read',
};
declare const save: (user: string, grant: FullGrant) => Promise<{ rows: number }>;

// What middleware adds can be used without a type.
expressLinking({
  ...common,
  userOf: (request) => request.session.user,
  onLinked(grant, request) {
    expectTypeOf(grant).toEqualTypeOf<WithResponse<FullGrant>>();
    expectTypeOf(request).toEqualTypeOf<AnyExpressRequest>();
    expectTypeOf(request.headers.cookie).toEqualTypeOf<string | undefined>();
    return save(request.user, grant);
  },
  onFailed(error) {
    expectTypeOf(error).toEqualTypeOf<AnyLatchkeyError>();
    return error.name === 'LinkDeniedError' ? '/' : `/failed?request=${error.request_id}`;
  },
});
honoLinking({
  ...common,
  onLinked(grant, context) {
    expectTypeOf(context).toEqualTypeOf<AnyHonoContext>();
    return save(context.get('user'), grant);
  },
});
fastifyLinking({ ...common, onLinked: (grant, request) => save(request.user, grant) });

// The type argument, or an annotation, is the type of the handlers too.
interface SessionRequest {
  url: string;
  headers: { cookie?: string };
  user: string;
}
const { connect } = expressLinking<SessionRequest>({
  ...common,
  // @ts-expect-error There is no such member.
  userOf: (request) => request.session,
  onLinked: (grant, request) => save(request.user, grant),
});
const annotated = expressLinking({
  ...common,
  onLinked: (grant, request: SessionRequest) => save(request.user, grant),
});
expectTypeOf(annotated).toEqualTypeOf<ReturnType<typeof expressLinking<SessionRequest>>>();
expectTypeOf<Parameters<typeof connect>[0]>().toEqualTypeOf<SessionRequest>();

// Handlers of `fetch` have the standard types.
const { callback } = fetchLinking({ ...common, onLinked: () => '/settings' });
expectTypeOf(callback).toEqualTypeOf<(request: Request) => Promise<Response>>();

// @ts-expect-error What to do with the grant is required.
common satisfies LinkingOptions<Request>;
