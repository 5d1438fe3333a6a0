import type { PageTools } from '../http/linking/page-visit.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { Route } from '../http/router.ts';
import type { DemoCookies } from './demo-cookies.ts';
import { demoPaths } from './linking-demo.ts';

export interface DemoTools extends PageTools {
  readonly publicUrl: string;
  /** Where the service listens: the demo application calls it there. */
  readonly url: string;
  readonly demoCookies: DemoCookies;
}

export interface DemoRoute {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  handle(context: RequestContext, query: URLSearchParams): Promise<void> | void;
}

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
        application: { name: 'Demo Application', host: null },
        back_url: publicUrl + demoPaths.application,
      };
      return handle(context, new URLSearchParams(query));
    },
  };
}

export function demoFrame({ sender }: Pick<DemoTools, 'sender'>, context: RequestContext) {
  return sender.frameFor(context, { locale: 'en' });
}
