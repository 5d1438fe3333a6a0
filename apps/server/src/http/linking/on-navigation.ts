import { DomainError } from '@latchkey/domain/domain-error';
import { navigationOf } from '@latchkey/schema';
import { type Route, splitTarget } from '../router.ts';

/**
 * First of all, before anything is counted, kept or used up: whether a person navigates a tab
 * (`docs/protocol/linking.md#a-person-navigates-a-tab`).
 */
export function onNavigation(route: Route): Route {
  if (route.method !== 'GET') return route;
  return {
    ...route,
    handle(context, parameters, query) {
      const { headers, url = '/' } = context.request;
      const purpose = navigationOf((name) => headers[name]);
      if (purpose === 'navigation') return route.handle(context, parameters, query);
      const { path } = splitTarget(url);
      context.errorPage = { own_address: query === '' ? path : `${path}?${query}` };
      if (purpose === 'prefetch') throw new DomainError('prefetch_refused');
      const message = 'Only a browser that opens this address as a page may have it.';
      throw DomainError.invalid(['Sec-Fetch-Dest'], message);
    },
  };
}
