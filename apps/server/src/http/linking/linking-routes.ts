import type { CallContext } from '../../operations/call.ts';
import { linkingOf } from '../../service.ts';
import type { Route } from '../router.ts';
import { createPageAssets } from './assets.ts';
import { authorizeRoute } from './authorize-route.ts';
import { connectionRoutes } from './connection-routes.ts';
import { linkRoutes } from './link-routes.ts';
import { createPageCookies } from './page-cookies.ts';
import { createPageSender, type PageSettings } from './page-sender.ts';

/** What a browser reaches of the linking flow. */
export function linkingRoutes(callContext: CallContext, settings: PageSettings): Route[] {
  const linking = linkingOf(callContext.service);
  const { publicUrl } = linking;
  const assets = createPageAssets(settings.pageColor);
  const sender = createPageSender(settings, linking, assets);
  const cookies = createPageCookies(publicUrl);
  const tools = { callContext, sender, cookies, origin: new URL(publicUrl).origin };
  return [
    authorizeRoute(callContext, sender.sendError),
    ...linkRoutes(tools),
    ...connectionRoutes(tools),
    ...assets.routes,
  ];
}
