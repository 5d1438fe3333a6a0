import { linkingOf } from '@latchkey/rules/linking/linking';
import type { CallContext } from '../../operations/call.ts';
import type { Route } from '../router.ts';
import { createPageAssets } from './assets.ts';
import { authorizeRoute } from './authorize-route.ts';
import { connectionRoutes } from './connection-routes.ts';
import { linkRoutes } from './link-routes.ts';
import { createPageCookies } from './page-cookies.ts';
import { createPageSender, type PageSettings } from './page-sender.ts';
import type { PageTools } from './page-visit.ts';

export function createPageTools(callContext: CallContext, settings: PageSettings): PageTools {
  const linking = linkingOf(callContext.service);
  const { publicUrl } = linking;
  const assets = createPageAssets(settings.pageColor);
  return {
    callContext,
    assets,
    sender: createPageSender(settings, linking, assets),
    cookies: createPageCookies(publicUrl),
    origin: new URL(publicUrl).origin,
  };
}

export function linkingRoutes(tools: PageTools): Route[] {
  return [
    authorizeRoute(tools.callContext, tools.sender.sendError),
    ...linkRoutes(tools),
    ...connectionRoutes(tools),
    ...tools.assets.routes,
  ];
}
