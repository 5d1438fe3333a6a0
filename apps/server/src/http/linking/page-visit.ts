import { findPageSession, type PageAddress, type PageSession } from '../../linking/page-session.ts';
import type { Action } from '../../operations/action.ts';
import { type CallContext, type CallSteps, call } from '../../operations/call.ts';
import type { ErrorSurroundings, RequestContext, RequestedCall } from '../request-context.ts';
import type { PathParameters, Route } from '../router.ts';
import type { PageAssets } from './assets.ts';
import type { PageCookies } from './page-cookies.ts';
import type { PageSender } from './page-sender.ts';

/** What the routes of the pages work with. */
export interface PageTools {
  readonly callContext: CallContext;
  readonly assets: PageAssets;
  readonly sender: PageSender;
  readonly cookies: PageCookies;
  /** That of PUBLIC_URL. */
  readonly origin: string;
}

/** A browser that has a page open, or wants to open one. */
export interface PageVisit {
  readonly context: RequestContext;
  readonly address: PageAddress;
  /** The cookie of this address; null without one. */
  session: string | null;
}

/** The parts of a route that differ from page to page. */
export interface PageRoute {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  addressOf(parameters: PathParameters): PageAddress;
  handle(visit: PageVisit, parameters: PathParameters, query: string): Promise<void>;
}

/** A route that answers its failures as pages too. */
export function pageRoute(
  { cookies, sender }: PageTools,
  { method, path, addressOf, handle }: PageRoute,
): Route {
  return {
    method,
    path,
    action: 'pages.open',
    sendError: sender.sendError,
    handle(context, parameters, query) {
      const address = addressOf(parameters);
      const session = cookies.read(context.request, address);
      return handle({ context, address, session }, parameters, query);
    },
  };
}

/**
 * Does something as whoever has the page open, unless `steps` say who it is.
 *
 * @throws DomainError `page_expired`, `rate_limited`, and what the action throws
 */
export function act<Output extends object>(
  { callContext }: PageTools,
  visit: PageVisit,
  action: Action<Output>,
  steps: Partial<Pick<CallSteps, 'authenticate' | 'readInput' | 'chooseAction'>> = {},
): Promise<Output> {
  const { context } = visit;
  const [record] = context.calls as [RequestedCall];
  return call(callContext, action, {
    authenticate: () => authenticate(callContext, visit),
    readInput: async () => ({}),
    ...steps,
    address: context.address,
    waitedForInput: () => context.waitedForBody,
    publicUrl: context.publicUrl,
    request: context.recorded,
    record,
    breakConnection: () => context.response.destroy(),
  });
}

/** @throws DomainError `page_expired` */
async function authenticate({ service }: CallContext, visit: PageVisit): Promise<PageSession> {
  const found = await findPageSession(service, visit.address, visit.session);
  visit.context.errorSurroundings = surroundingsOf(found);
  return found;
}

function surroundingsOf({ page, access }: PageSession): ErrorSurroundings {
  const { locale, return_url } = page;
  const application = access?.application;
  return {
    locale,
    ui_locales: access?.link.ui_locales ?? null,
    application_name: application?.name ?? null,
    back_url: application === undefined ? return_url : application.homepage_uri,
  };
}
