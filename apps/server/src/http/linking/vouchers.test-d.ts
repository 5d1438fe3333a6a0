import {
  type Assertion,
  type Expected,
  verifyAssertion,
} from '@latchkey/rules/client-documents/assertion';
import type { ClientKeys } from '@latchkey/rules/client-documents/client-documents';
import type { ClientDocument } from '@latchkey/rules/client-documents/document';
import { type FetchOptions, fetchJson } from '@latchkey/rules/client-documents/fetch-json';
import type { createKeptResponses } from '@latchkey/rules/client-documents/kept-responses';
import { describeRedirect } from '@latchkey/rules/linking/describe-redirect';
import type { Linking } from '@latchkey/rules/linking/linking';
import { ownLocation } from '@latchkey/rules/linking/redirect';
import type { ApplicationRecord, DocumentedClient, LinkRecord } from '@latchkey/store/records';
import { html } from '../html.ts';
import type { RequestContext } from '../request-context.ts';
import { send, sendRedirect } from '../response.ts';
import type { PageTexts } from './text-catalog.ts';
import { outside, whoIs } from './views/outside.ts';

// Each use of what an application says of itself, by somebody who has not asked who vouches for it.
// `tests/imports.test.ts` has the casts around these types.

declare const context: RequestContext;
declare const linking: Linking;
declare const link: LinkRecord;
declare const application: ApplicationRecord;
declare const client: DocumentedClient;
declare const document: ClientDocument;
declare const texts: PageTexts;
const { vouchers } = linking;

// Redirect.
// @ts-expect-error
sendRedirect(context, link.redirect_uri);
// @ts-expect-error
sendRedirect(context, ownLocation(linking, link.redirect_uri));
// @ts-expect-error
sendRedirect(context, application.redirect_uris[0] ?? '');
// @ts-expect-error
sendRedirect(context, vouchers.ofRedirectUri(link).redirect_uri);
// @ts-expect-error
context.response.setHeader('Location', application.redirect_uris[0] ?? '');
// @ts-expect-error
html`<meta http-equiv="refresh" content="0;url=${application.redirect_uris[0]}">`;
// @ts-expect-error
send(context, 303, '', '', { Location: application.redirect_uris[0] ?? '' });
// @ts-expect-error
send(context, 200, '', '', { Refresh: `0;url=${application.homepage_uri}` });

// Show a name.
// @ts-expect-error
html`${application.name}`;
// @ts-expect-error
outside(application.name);
// @ts-expect-error
outside(`${application.name}`);
// @ts-expect-error
whoIs(application, texts);
whoIs(vouchers.show(application), texts);

// Show a host.
// @ts-expect-error
whoIs({ name: '', ...application.document }, texts);
// @ts-expect-error
describeRedirect(link.redirect_uri);
describeRedirect(vouchers.ofRedirectUri(link).redirect_uri);

// Fetch.
declare const options: FetchOptions;
// @ts-expect-error
fetchJson(new URL(client.uri), options);
// @ts-expect-error
fetchJson(client.jwks_uri, options);
// @ts-expect-error
fetchJson({ address: client.uri, voucher: 'operator' }, options);
void fetchJson(vouchers.ofAddress(client.uri), options);

// Keep.
declare const kept: ReturnType<typeof createKeptResponses<string>>;
// @ts-expect-error
kept.find({ address: client.uri, asker: '', isKnown: true });
// @ts-expect-error
kept.find({ address: client.jwks_uri, asker: '', isKnown: true });
void kept.find({ ...vouchers.ofAddress(client.uri), asker: '', isKnown: true });

// Try keys.
declare const assertion: Assertion;
declare const keys: ClientKeys;
declare const expected: Omit<Expected, 'voucher'>;
// @ts-expect-error
verifyAssertion(assertion, keys, expected);
// @ts-expect-error
document.keys?.map(({ kid }) => kid);
void verifyAssertion(assertion, keys, { ...expected, voucher: vouchers.ofClient(application) });

// Take scopes.
// @ts-expect-error
document.scope?.split(' ');
// @ts-expect-error
outside(document.scope ?? '');
