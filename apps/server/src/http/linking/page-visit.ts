import { linkingOf } from '@latchkey/rules/linking/linking';
import {
  findCookiesRefused,
  type PageAddress,
  returnToPage,
} from '@latchkey/rules/linking/page-session';
import type { Action, ActionChoice } from '../../operations/action.ts';
import { type CallContext, type CallSteps, call } from '../../operations/call.ts';
import type { Callers } from '../../operations/caller.ts';
import type { RequestContext, RequestedCall } from '../request-context.ts';
import type { PathParameters, Route, RouteAction } from '../router.ts';
import type { PageAssets } from './assets.ts';
import { onNavigation } from './on-navigation.ts';
import type { PageCookies } from './page-cookies.ts';
import type { PageSender } from './page-sender.ts';

export interface PageTools {
  readonly callContext: CallContext;
  readonly assets: PageAssets;
  readonly sender: PageSender;
  readonly cookies: PageCookies;
  readonly origin: string;
}

export interface PageVisit {
  readonly context: RequestContext;
  readonly address: PageAddress;
  /** Without PUBLIC_URL. */
  readonly path: string;
  session: string | null;
  /** The page that this browser has opened, as it says. */
  readonly opened: string | null;
}

export interface PageRoute {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly actions: readonly RouteAction[];
  addressOf(parameters: PathParameters): PageAddress;
  handle(visit: PageVisit, parameters: PathParameters, query: string): Promise<void>;
}

export function pageRoute(
  { cookies, sender }: PageTools,
  { method, path, actions, addressOf, handle }: PageRoute,
): Route {
  return onNavigation({
    method,
    path,
    actions,
    sendError: sender.sendError,
    handle(context, parameters, query) {
      const address = addressOf(parameters);
      const session = cookies.read(context.request, address);
      const own = path.replace(/\{(\w+)\}/g, (_, name) =>
        encodeURIComponent(parameters[name] ?? ''),
      );
      const opened = new URLSearchParams(query).get('opened');
      return handle({ context, address, path: own, session, opened }, parameters, query);
    },
  });
}

type User = Callers['user'];

export function act<Output extends object, Input extends object>(
  { callContext }: PageTools,
  visit: PageVisit,
  action: Action<Output, Input, User> | ActionChoice<Output, Input, User>,
  steps: Pick<CallSteps<NoInfer<Input>, User>, 'readInput'>,
): Promise<Output> {
  const { context } = visit;
  const [summary] = context.calls as [RequestedCall];
  const authenticate = () => authenticateUser(callContext, visit);
  return call(callContext, action, { ...steps, authenticate, request: context, summary });
}

export async function authenticateUser({ service }: CallContext, visit: PageVisit): Promise<User> {
  const refused =
    visit.session === null ? await findCookiesRefused(service, visit.address, visit.opened) : null;
  if (refused !== null) {
    const { page, application, error } = refused;
    visit.context.errorPage = {
      locale: page.locale,
      application: application && linkingOf(service).vouchers.show(application),
      back_url: application?.homepage_uri ?? page.return_url,
    };
    throw error;
  }
  const found = await returnToPage(service, visit.address, visit.session);
  const { page, access } = found;
  visit.context.errorPage = {
    locale: page.locale,
    ui_locales: access?.link.ui_locales ?? null,
    application: access && linkingOf(service).vouchers.show(access.application),
    back_url: access === null ? page.return_url : access.application.homepage_uri,
    again_path: visit.path,
  };
  return { kind: 'user', ...found };
}
