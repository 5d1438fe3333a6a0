import type { ReturnAddress } from '@latchkey/rules/linking/redirect';
import type { LinkRecord } from '@latchkey/store/records';
import type { RequestContext } from './request-context.ts';
import { sendRedirect } from './response.ts';

declare const context: RequestContext;
declare const link: LinkRecord;
declare const address: ReturnAddress;

// @ts-expect-error Nobody asked who vouches for it.
sendRedirect(context, link.redirect_uri);
// @ts-expect-error The same.
sendRedirect(context, address.location);
if (address.voucher === 'operator') sendRedirect(context, address.location);
// @ts-expect-error A person follows it, and no browser by itself.
else sendRedirect(context, address.href);
