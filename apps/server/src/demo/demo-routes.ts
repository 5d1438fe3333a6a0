import { linkingOf } from '@latchkey/rules/linking/linking';
import type { PageTools } from '../http/linking/page-visit.ts';
import type { Route } from '../http/router.ts';
import { applicationRoutes } from './application-routes.ts';
import { createDemoCookies } from './demo-cookies.ts';
import { hostRoutes } from './host-routes.ts';

export function demoRoutes(tools: PageTools, url: string): Route[] {
  const { publicUrl } = linkingOf(tools.callContext.service);
  const demoTools = { ...tools, publicUrl, url, demoCookies: createDemoCookies(publicUrl) };
  return [...applicationRoutes(demoTools), ...hostRoutes(demoTools)];
}
