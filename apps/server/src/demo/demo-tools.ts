import type { PageTools } from '../http/linking/page-visit.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { Route } from '../http/router.ts';
import type { DemoCookies } from './demo-cookies.ts';
import { demoPaths } from './linking-demo.ts';

/** What the routes of the demo work with. */
export interface DemoTools extends PageTools {
  /** PUBLIC_URL, under which browsers reach the demo. */
  readonly publicUrl: string;
  /** Where the service listens: the demo application calls it there. */
  readonly url: string;
  readonly demoCookies: DemoCookies;
}

/** The parts of a route that differ from page to page. */
export interface DemoRoute {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  handle(context: RequestContext, query: URLSearchParams): Promise<void> | void;
}

/** A route of the demo. Its failures are pages that lead back to the demo application. */
export function demoRoute(
  { sender, publicUrl }: Pick<DemoTools, 'sender' | 'publicUrl'>,
  { method, path, handle }: DemoRoute,
): Route {
  return {
    method,
    path,
    sendError: sender.sendError,
    handle(context, _parameters, query) {
      context.errorPage = {
        application_name: 'Demo Application',
        back_url: publicUrl + demoPaths.application,
      };
      return handle(context, new URLSearchParams(query));
    },
  };
}

/** What a page of the demo is made with. Its own texts are in English. */
export function demoFrame({ sender }: Pick<DemoTools, 'sender'>, context: RequestContext) {
  return sender.frameFor(context, { locale: 'en' }).frame;
}
