import { addressKey } from '@latchkey/rules/limits/limit';
import { readAuthorization } from '@latchkey/rules/linking/begin-link';
import { linkingOf } from '@latchkey/rules/linking/linking';
import { RefusedToApplication } from '@latchkey/rules/linking/redirect';
import { browserActions } from '../../operations/browser-actions.ts';
import { type CallContext, call } from '../../operations/call.ts';
import type { Visitor } from '../../operations/caller.ts';
import { goneOf, type RequestedCall } from '../request-context.ts';
import { sendRedirect } from '../response.ts';
import type { Route, SendError } from '../router.ts';
import { onNavigation } from './on-navigation.ts';

export function authorizeRoute(callContext: CallContext, sendError: SendError): Route {
  const { service, limits } = callContext;
  return onNavigation({
    method: 'GET',
    path: '/oauth/authorize',
    actions: [browserActions.begin],
    sendError,
    async handle(context, _parameters, query) {
      const address_key = addressKey(context.address);
      const visitor: Visitor = { kind: 'visitor', address_key };
      const parameters = new URLSearchParams(query);
      const known = {
        ui_locales: parameters.get('ui_locales'),
        refused_client: onlyOne(parameters, 'client_id'),
        refused_uri: onlyOne(parameters, 'redirect_uri'),
        again_path: `/oauth/authorize?${query}`,
      };
      context.errorPage = known;
      try {
        const { redirect_to } = await call(callContext, browserActions.begin, {
          async authenticate() {
            limits.links.check(address_key);
            return visitor;
          },
          readInput: () =>
            readAuthorization(service, parameters, context.redacted.request_id, {
              caller: address_key,
              gone: goneOf(context),
              onApplication(asking) {
                const application = linkingOf(service).vouchers.show(asking);
                context.errorPage = { ...known, application, back_url: asking.homepage_uri };
              },
              // Counted before the fetch. Otherwise, a stranger could make the service fetch any number
              // of addresses that have no document.
              beforeFetch() {
                limits.links.count(address_key);
                visitor.address_key = null;
              },
            }),
          request: context,
          summary: context.calls[0] as RequestedCall,
        });
        sendRedirect(context, redirect_to);
      } catch (error) {
        const address = error instanceof RefusedToApplication ? error.address : null;
        if (address?.voucher !== 'operator') throw error;
        sendRedirect(context, address.location);
      }
    },
  });
}

function onlyOne(parameters: URLSearchParams, name: string): string | null {
  const [value = null, ...others] = parameters.getAll(name);
  return others.length === 0 ? value : null;
}
