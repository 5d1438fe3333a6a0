import { DomainError } from '@latchkey/domain/domain-error';
import { linkingOf } from '@latchkey/rules/linking/linking';
import { type Location, ownLocation } from '@latchkey/rules/linking/redirect';
import type { LinkRequest, OperationInput, OperationOutput } from '@latchkey/schema';
import { formMembers, readOwnForm } from '../http/form.ts';
import type { ShownName } from '../http/linking/views/page.ts';
import type { RequestContext, RequestedCall } from '../http/request-context.ts';
import { sendRedirect } from '../http/response.ts';
import type { Route } from '../http/router.ts';
import { call } from '../operations/call.ts';
import { operatorWithoutSecret } from '../operations/caller.ts';
import { operationNamed } from '../operations/operation.ts';
import { type DemoUser, demoAccounts, demoChoices, isDemoUser } from './demo-records.ts';
import { type DemoTools, demoFrame, demoRoute } from './demo-tools.ts';
import { demoPaths } from './linking-demo.ts';
import { signInPage } from './views/sign-in-page.ts';

const SIGNED_IN_SECONDS = 24 * 3600;

export function signedInUser(
  { demoCookies }: Pick<DemoTools, 'demoCookies'>,
  context: RequestContext,
): DemoUser | null {
  const name = demoCookies.read(context, 'user') ?? '';
  return isDemoUser(name) ? name : null;
}

/** Calls operations inside the process, because it has no ADMIN_SECRET. */
export function hostRoutes(tools: DemoTools): Route[] {
  const { publicUrl, demoCookies, origin } = tools;

  return [
    demoRoute(tools, {
      method: 'GET',
      path: demoPaths.signIn,
      async handle(context, query) {
        const link = query.get('link') ?? '';
        const user = signedInUser(tools, context);
        // As in the service of a host: who is signed in is asked only for another account.
        if (user !== null && query.get('prompt') !== 'select_account') {
          const consent = await identify(tools, context, async () => ({ link, user }));
          return sendRedirect(context, consent);
        }
        const link_request = await asHost(tools, context, 'admin.links.read', async () => {
          if (link === '') throw DomainError.because('link_ill_formed');
          return { link };
        });
        const action = publicUrl + demoPaths.signIn;
        const application = shownTo(tools, link_request);
        tools.sender.send(
          context,
          signInPage(demoFrame(tools, context), { action, link, application }),
        );
      },
    }),
    demoRoute(tools, {
      method: 'POST',
      path: demoPaths.signIn,
      async handle(context) {
        let user = '';
        const consent = await identify(tools, context, async () => {
          const form = formMembers(await readOwnForm(context, origin), ['link', 'user']);
          user = form.user ?? '';
          if (!isDemoUser(user)) throw new DomainError('account_not_found');
          return { link: form.link ?? '', user };
        });
        const cookie = demoCookies.set('user', user, SIGNED_IN_SECONDS);
        sendRedirect(context, consent, { 'Set-Cookie': cookie });
      },
    }),
    demoRoute(tools, {
      method: 'POST',
      path: demoPaths.connections,
      async handle(context) {
        const { url } = await asHost(tools, context, 'admin.pages.create', async () => {
          await readOwnForm(context, origin);
          const user = signedInUser(tools, context);
          if (user === null) throw new DomainError('account_not_found');
          const account_id = demoAccounts[user].id;
          const return_url = publicUrl + demoPaths.application;
          return { page: 'connections', account_id, return_url };
        });
        sendRedirect(context, ownLocation(tools, url));
      },
    }),
  ];
}

/** Says who the user is. Returns the address of the consent page. */
async function identify(
  tools: DemoTools,
  context: RequestContext,
  readSignIn: () => Promise<{ link: string; user: DemoUser }>,
): Promise<Location> {
  const { redirect_to } = await asHost(tools, context, 'admin.links.identify', async () => {
    const { link, user } = await readSignIn();
    return { link, account_id: demoAccounts[user].id, choice: demoChoices[user] };
  });
  // Null only with a page of the host's own.
  return ownLocation(tools, redirect_to as string);
}

type HostOperation = 'admin.links.read' | 'admin.links.identify' | 'admin.pages.create';

async function asHost<Name extends HostOperation>(
  { callContext }: DemoTools,
  context: RequestContext,
  name: Name,
  readInput: () => Promise<OperationInput<Name>>,
): Promise<OperationOutput<Name>> {
  const [summary] = context.calls as [RequestedCall];
  summary.operation = name;
  return call(callContext, operationNamed(name), {
    authenticate: async () => operatorWithoutSecret,
    readInput,
    request: context,
    summary,
  });
}

/** Who asks, as a host learns it: `docs/guides/hosts.md#your-own-consent-page`. */
function shownTo(
  { callContext }: DemoTools,
  { application, redirect_host, redirect_kind }: LinkRequest,
): ShownName {
  const { name, document_uri } = application;
  if (document_uri === null) return { name, host: null };
  const { registeredClients } = linkingOf(callContext.service);
  if (!registeredClients.isOwn(document_uri)) return { name, host: new URL(document_uri).hostname };
  return { name, host: redirect_host, device: redirect_kind === 'web' ? null : redirect_kind };
}
