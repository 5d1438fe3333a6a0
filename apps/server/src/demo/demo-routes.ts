import { linkingOf } from '@latchkey/rules/linking/linking';
import type { PageTools } from '../http/linking/page-visit.ts';
import type { Route } from '../http/router.ts';
import type { HomeWith } from '../http/routes.ts';
import { applicationRoutes } from './application-routes.ts';
import { createDemoCookies } from './demo-cookies.ts';
import { hostRoutes } from './host-routes.ts';
import { demoPaths } from './linking-demo.ts';
import { styleOfDemo } from './views/demo-layout.ts';

export function demoRoutes(tools: PageTools, url: string, homeWith: HomeWith): Route[] {
  const { publicUrl } = linkingOf(tools.callContext.service);
  const demoTools = { ...tools, publicUrl, url, demoCookies: createDemoCookies(publicUrl) };
  const home = homeWith({
    href: `.${demoPaths.application}`,
    name: 'Demo',
    text: 'Connect a demo account, and see each request. Only on this machine.',
  });
  return [home, styleOfDemo.route, ...applicationRoutes(demoTools), ...hostRoutes(demoTools)];
}
