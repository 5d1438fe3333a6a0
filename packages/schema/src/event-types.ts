/** What is told, in the order in which `types` are listed. */
export const eventTypes = [
  'grant.created',
  'grant.revoked',
  'account.updated',
  'application.disabled',
  'application.enabled',
] as const;

export type EventType = (typeof eventTypes)[number];

/** `ping` is sent to any endpoint when somebody asks for it. */
export const messageTypes = [...eventTypes, 'ping'] as const;

export type MessageType = (typeof messageTypes)[number];

/** Why an endpoint is disabled: an operator did, it responded with 410, or each try failed for 5 days. */
export const endpointDisabledReasons = ['operator', 'gone', 'failing'] as const;

export type EndpointDisabledReason = (typeof endpointDisabledReasons)[number];

/** `failed` was given up. `dropped` has nobody to be told any more. */
export const deliveryStatuses = ['pending', 'delivered', 'failed', 'dropped'] as const;

export type DeliveryStatus = (typeof deliveryStatuses)[number];

/**
 * `refused` is neither a 2xx nor a 3xx, `redirected` a 3xx. `connection_failed` is no name, no connection
 * or no HTTP.
 */
export const attemptResults = [
  'delivered',
  'refused',
  'redirected',
  'timeout',
  'connection_failed',
  'tls_failed',
  'address_refused',
] as const;

export type AttemptResult = (typeof attemptResults)[number];
