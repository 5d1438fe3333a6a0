import type { Reason, reasons } from '@latchkey/domain/reasons';

/** The error codes of the linking flow that stand for several checks. */
type LinkingCode =
  | 'challenge_required'
  | 'client_unknown'
  | 'cookies_refused'
  | 'form_rejected'
  | 'link_not_found'
  | 'page_expired'
  | 'redirect_uri_unregistered'
  | 'scope_unknown'
  | 'state_invalid'
  | 'target_unknown';

/** The reasons that only the linking flow has, but those of client documents. */
export type LinkingReason = Exclude<
  {
    [Name in Reason]: (typeof reasons)[Name]['code'] extends LinkingCode ? Name : never;
  }[Reason],
  'client_id_of_document' | 'client_address_not_taken' | 'client_host_too_long'
>;
