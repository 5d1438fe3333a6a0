import type { Claimed } from '@latchkey/domain/claimed';
import { DomainError, firstIssue, type Subject } from '@latchkey/domain/domain-error';
import { isLoopbackHost } from '@latchkey/domain/loopback';
import { type ErrorCode, errorDefinition } from '@latchkey/schema';
import type { LinkRecord } from '@latchkey/store/records';
import type { Client, Voucher } from '../vouchers.ts';
import { describeRedirect } from './describe-redirect.ts';
import type { Linking } from './linking.ts';

export interface RedirectTarget extends Client {
  redirect_uri: Claimed<string>;
  state: string | null;
}

declare const isLocation: unique symbol;

/**
 * An address that a browser is led to without a click. Only this file makes one: of the service itself, of its
 * host, and of an application where {@link returnWithError} or {@link redirectWithCode} says so.
 */
export type Location = string & { readonly [isLocation]: true };

export function ownLocation({ publicUrl }: Pick<Linking, 'publicUrl'>, address: string): Location {
  if (!address.startsWith(`${publicUrl}/`)) throw new Error('The address is not of this service.');
  return address as Location;
}

export const signInLocation = (
  { signInUrl }: Pick<Linking, 'signInUrl'>,
  parameters: Record<string, string | null>,
): Location => addToQuery(signInUrl, parameters) as Location;

/** An address at an application: what may be done with it depends on who vouches for it. */
export type ReturnAddress = { voucher: 'operator'; location: Location } | StrangersAddress;

/** For a link that a person follows, or leaves alone. */
export interface StrangersAddress {
  voucher: 'stranger';
  href: string;
  /** What a person is told of where it leads; null for an application on this device. */
  target: string | null;
}

/** Keeps the existing query (RFC 6749, section 3.1.2). */
export function addToQuery(uri: string, parameters: Record<string, string | null>): string {
  const added = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null) added.append(name, value);
  }
  if (added.size === 0) return uri;
  const start = uri.indexOf('?');
  if (start === -1) return `${uri}?${added}`;
  const isEmpty = start === uri.length - 1;
  return isEmpty ? `${uri}${added}` : `${uri}&${added}`;
}

/** Where a decision leads: a native application is started from a page, which stays as the end of the link. */
export function locationOfAnswer(
  linking: Pick<Linking, 'publicUrl' | 'vouchers'>,
  link: LinkRecord,
  redirect_to: Location,
): Location {
  const end = endOf(linking, link);
  if (!startsApplication(linking, link) || redirect_to === end) return redirect_to;
  return ownLocation(linking, `${end}?start`);
}

/** Whether the end of a link starts its application: no answer to a form may lead where no page is. */
export function startsApplication(
  { vouchers }: Pick<Linking, 'vouchers'>,
  link: LinkRecord,
): boolean {
  return describeRedirect(vouchers.ofRedirectUri(link).redirect_uri).redirect_kind !== 'web';
}

const endOf = (linking: Pick<Linking, 'publicUrl'>, { id }: Pick<LinkRecord, 'id'>) =>
  ownLocation(linking, `${linking.publicUrl}/link/${id}/done`);

/** A person has allowed it, whoever vouches. RFC 6749, section 4.1.2; `iss`: RFC 9207. */
export function redirectWithCode(
  { publicUrl, vouchers }: Pick<Linking, 'publicUrl' | 'vouchers'>,
  redirect: RedirectTarget,
  code: string,
): Location {
  const { state } = redirect;
  const { redirect_uri } = vouchers.ofRedirectUri(redirect);
  return addToQuery(redirect_uri, { code, state, iss: publicUrl }) as Location;
}

export interface RedirectedError {
  code: ErrorCode;
  request_id: string;
  error?: string;
  description?: string;
}

/** RFC 6749, section 4.1.2.1. */
export function returnWithError(
  { publicUrl, vouchers }: Linking,
  redirect: RedirectTarget,
  { code, request_id, ...words }: RedirectedError,
): ReturnAddress {
  const { state } = redirect;
  const { voucher, redirect_uri } = vouchers.ofRedirectUri(redirect);
  const { error, description } = errorDefinition(code);
  const address = addToQuery(redirect_uri, {
    error: words.error ?? error,
    error_description: words.description ?? description,
    error_code: code,
    error_uri: `${publicUrl}/docs/errors#${code}`,
    request_id,
    state,
    iss: publicUrl,
  });
  return asReturn(voucher, redirect_uri, address);
}

/** The answer of an approval on the page of its end. */
export function returnWithCode(
  linking: Linking,
  redirect: RedirectTarget,
  code: string,
): ReturnAddress {
  const { voucher, redirect_uri } = linking.vouchers.ofRedirectUri(redirect);
  return asReturn(voucher, redirect_uri, redirectWithCode(linking, redirect, code));
}

/** What the end of a link starts by itself, just after the decision. A denial leads to no stranger. */
export function locationToStart(answer: ReturnAddress, { decision }: LinkRecord): Location | null {
  if (answer.voucher === 'operator') return answer.location;
  return decision?.status === 'approved' ? (answer.href as Location) : null;
}

function asReturn(voucher: Voucher, redirect_uri: string, address: string): ReturnAddress {
  if (voucher === 'operator') return { voucher, location: address as Location };
  return { voucher, href: address, target: targetOf(redirect_uri) };
}

/** What tells an application that a link request was denied or has expired. */
export function returnOf(linking: Linking, link: LinkRecord, request_id: string): ReturnAddress {
  const error =
    link.decision === null
      ? ({ code: 'link_expired', error: 'access_denied' } as const)
      : ({ code: 'access_denied' } as const);
  return returnWithError(linking, link, { ...error, request_id });
}

/** Where a browser is led after that: to a stranger only from a page of ours. */
export function locationAfter(linking: Linking, link: LinkRecord, request_id: string): Location {
  const address = returnOf(linking, link, request_id);
  if (address.voucher === 'operator') return address.location;
  return endOf(linking, link);
}

/** An error that leads back to the application. */
export class RefusedToApplication extends DomainError {
  readonly address: ReturnAddress;

  constructor({ code, members, reason }: DomainError, address: ReturnAddress, subject: Subject) {
    super(code, members, undefined, { reason, subject });
    this.address = address;
  }
}

export function refusalInWords({ code, members }: DomainError): Partial<RedirectedError> {
  const issue = firstIssue(code, members);
  return issue === null ? {} : { description: `${issue} Send the parameter as this message says.` };
}

function targetOf(redirect_uri: string): string | null {
  const { redirect_host, redirect_kind } = describeRedirect(redirect_uri);
  if (redirect_kind === 'app') return `${redirect_host}:`;
  return isLoopbackHost(redirect_host) ? null : redirect_host;
}
