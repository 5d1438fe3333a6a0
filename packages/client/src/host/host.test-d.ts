import { expectTypeOf } from 'vitest';
import { LatchkeyAdmin } from '../admin/index.ts';
import {
  type AnyExpressHostRequest,
  type AnyHonoHostContext,
  expressHost,
  fastifyHost,
  fetchHost,
  type HostOptions,
  honoHost,
} from './index.ts';

const common = {
  admin: new LatchkeyAdmin(),
  signInUrl: 'https://photos.example/link',
  signInPage: (next: string) => `/sign-in?next=${next}`,
};

// What middleware adds can be used without a type.
expressHost({
  ...common,
  accountOf(request) {
    expectTypeOf(request).toEqualTypeOf<AnyExpressHostRequest>();
    return request.session.account;
  },
  signInPage(next, { loginHint, selectAccount }) {
    expectTypeOf(loginHint).toEqualTypeOf<string | undefined>();
    return selectAccount ? `/switch?next=${next}` : `/sign-in?next=${next}`;
  },
  onDeadEnd: (reason) => (reason === 'link_decided' ? '/' : `/sorry?why=${reason}`),
});
honoHost({
  ...common,
  accountOf(context) {
    expectTypeOf(context).toEqualTypeOf<AnyHonoHostContext>();
    return context.get('account');
  },
});
fastifyHost({ ...common, accountOf: ({ session }) => session.account });

// The type argument is the type of the handlers too.
interface SessionRequest {
  url: string;
  headers: { cookie?: string };
  user: { id: string; name: string } | undefined;
}
const { handOff } = expressHost<SessionRequest>({
  ...common,
  accountOf: async ({ user }) => user && { account_id: user.id, username: user.name },
});
expectTypeOf<Parameters<typeof handOff>[0]>().toEqualTypeOf<SessionRequest>();

// Handlers of `fetch` have the standard types.
const { decide, signOut } = fetchHost({ ...common, accountOf: () => null });
expectTypeOf(decide).toEqualTypeOf<(request: Request) => Promise<Response>>();
expectTypeOf(signOut(() => new Response())).toEqualTypeOf<typeof decide>();

// @ts-expect-error An account has a username.
fetchHost({ ...common, accountOf: () => ({ account_id: '1' }) });
// @ts-expect-error Who is signed in is required.
common satisfies HostOptions<Request>;
