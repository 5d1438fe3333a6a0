import type { PageTools } from '../http/linking/page-visit.ts';
import type { Route } from '../http/router.ts';
import { linkingOf } from '../service.ts';
import { applicationRoutes } from './application-routes.ts';
import { createDemoCookies } from './demo-cookies.ts';
import { hostRoutes } from './host-routes.ts';

/**
 * A demo application and a demo host, who walk the linking flow like everybody else.
 *
 * @param url - where the service listens
 */
export function demoRoutes(tools: PageTools, url: string): Route[] {
  const { publicUrl } = linkingOf(tools.callContext.service);
  const demoTools = { ...tools, publicUrl, url, demoCookies: createDemoCookies(publicUrl) };
  return [...applicationRoutes(demoTools), ...hostRoutes(demoTools)];
}
