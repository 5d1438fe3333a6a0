import type { Milliseconds } from '@latchkey/domain/clock';
import { DomainError } from '@latchkey/domain/domain-error';
import type { ActionName, Initiator } from '@latchkey/domain/initiator';
import { EVERY_SCOPE, withMarks } from '@latchkey/rules/audit/name-marks';
import { activeGrants } from '@latchkey/rules/grants/active-grants';
import { vouchersOf } from '@latchkey/rules/linking/linking';
import type { Service } from '@latchkey/rules/service';
import { noCounts } from '@latchkey/rules/summary/counts';
import { formatTimestamp, type ReadName, uuidV7Time } from '@latchkey/schema';
import type { Parties } from '@latchkey/store/store';
import { operatorWithoutSecret } from '../operations/caller.ts';
import { operations } from '../operations/operation.ts';
import type { AuditLine } from './read-audit-lines.ts';

export interface RevokedAgain {
  calls: number;
  grants_revoked: number;
  codes_cancelled: number;
  secrets_removed: number;
  applications_disabled: number;
  applications_deleted: number;
  accounts_erased: number;
  accounts_signed_out: number;
  scopes_deleted: number;
  resources_deleted: number;
  documents_unpinned: number;
  keys_deleted: number;
  endpoints_deleted: number;
  endpoints_disabled: number;
  endpoints_rotated: number;
  lists_shortened: number;
  /** What the log does not tell enough of to do it again. */
  for_operator: string[];
}

type Count = Exclude<keyof RevokedAgain, 'calls' | 'for_operator'>;

type End = (service: Service, line: AuditLine) => Promise<boolean>;

// Simultaneous writes share a wait for the disk.
const AT_ONCE = 64;

/** What ended after the backup works again. Lines may be in any order, a run may be repeated. */
export async function revokeAgain(
  service: Service,
  lines: AsyncIterable<AuditLine>,
  since: Milliseconds,
): Promise<RevokedAgain> {
  const done: RevokedAgain = {
    calls: 0,
    grants_revoked: 0,
    codes_cancelled: 0,
    secrets_removed: 0,
    applications_disabled: 0,
    applications_deleted: 0,
    accounts_erased: 0,
    accounts_signed_out: 0,
    scopes_deleted: 0,
    resources_deleted: 0,
    documents_unpinned: 0,
    keys_deleted: 0,
    endpoints_deleted: 0,
    endpoints_disabled: 0,
    endpoints_rotated: 0,
    lists_shortened: 0,
    for_operator: [],
  };
  const running = new Set<Promise<void>>();
  const start = async (line: AuditLine, { count, end }: Again) => {
    if (await unlessGone(() => end(service, line))) done[count] += 1;
  };
  const lastSwitches = new Map<string, AuditLine>();
  const [updates, shortenedUris, shortenedScopes, switchedEndpoints, rotations] = [
    new Map<string, AuditLine>(),
    new Map<string, AuditLine>(),
    new Map<string, AuditLine>(),
    new Map<string, AuditLine>(),
    new Map<string, AuditLine>(),
  ];
  let failure: { error: unknown } | null = null;

  for await (const line of lines) {
    if (line.at < since || !countsAgain(line)) continue;
    done.calls += 1;
    const switched = switchedBy(line);
    if (switched !== null) {
      keepLatest(lastSwitches, switched, line);
      continue;
    }
    const ending = afterActions.get(line.action);
    if (ending === 'update') {
      for (const [updated, name] of [
        [updates, 'request_id'],
        [shortenedUris, 'redirect_uris'],
        [shortenedScopes, 'scopes'],
        [switchedEndpoints, 'disabled'],
      ] as const) {
        const key = line.endpoint_id ?? line.resource_id ?? line.application_id ?? '';
        if (line[name] != null) keepLatest(updated, key, line);
      }
    }
    if (ending === 'rotate') keepLatest(rotations, line.endpoint_id ?? '', line);
    if (typeof ending !== 'object') continue;
    const task = start(line, ending)
      .catch((error) => {
        failure ??= { error };
      })
      .finally(() => running.delete(task));
    running.add(task);
    if (running.size >= AT_ONCE) await Promise.race(running);
    if (failure !== null) break;
  }
  await Promise.all(running);
  if (failure !== null) throw (failure as { error: unknown }).error;

  // Last, because what was enabled or put again stays.
  for (const line of lastSwitches.values()) {
    const ending = afterActions.get(line.action);
    if (typeof ending === 'object') await start(line, ending);
    if (ending === 'pin') {
      done.for_operator.push(
        `The document of ${line.document_uri} was pinned at ${formatTimestamp(line.at)}, and the log does not have it. Pin it again, with latchkey document pin: until then, that of the backup counts, if it has one.`,
      );
    }
  }
  for (const line of shortenedUris.values()) {
    await start(line, again('lists_shortened', shortenUris));
  }
  for (const line of shortenedScopes.values()) {
    await start(line, again('lists_shortened', shortenScopes));
  }
  for (const line of switchedEndpoints.values()) {
    await start(line, again('endpoints_disabled', disableEndpoint));
  }
  for (const line of rotations.values()) {
    await start(line, again('endpoints_rotated', rotateEndpoint));
  }
  for (const line of updates.values()) {
    const updated = await describeUpdated(service, line);
    if (updated === null) continue;
    const { what, rest } = updated;
    done.for_operator.push(
      `The ${what} was updated at ${formatTimestamp(line.at)}. Its ${rest} are those of the backup: compare them with what you have set.`,
    );
  }
  return done;
}

/** What a log does not tell enough of; null if the record is gone. */
async function describeUpdated(
  service: Service,
  { application_id = '', resource_id, endpoint_id }: AuditLine,
): Promise<{ what: string; rest: string } | null> {
  if (endpoint_id !== undefined) {
    const endpoint = await service.store.findEndpoint(endpoint_id);
    return endpoint && { what: `endpoint ${endpoint_id}`, rest: 'address and types' };
  }
  if (resource_id !== undefined) {
    const resource = await findResource(service, resource_id);
    return resource && { what: `resource ${resource_id}`, rest: 'name and default scopes' };
  }
  const application = await service.store.findApplication(application_id);
  return (
    application && {
      what: `application ${application_id}`,
      rest: 'name, addresses, limits and switches',
    }
  );
}

async function findResource({ store }: Service, resource_id: string) {
  return (await store.listResources()).find(({ id }) => id === resource_id) ?? null;
}

function keepLatest(lines: Map<string, AuditLine>, key: string, line: AuditLine): void {
  const last = lines.get(key);
  if (last === undefined || last.at <= line.at) lines.set(key, line);
}

/** What a restore does about an action that was done after the backup. */
type AfterRestore =
  /** It ended nothing. */
  | 'nothing'
  /** What it ended works again, and expires within an hour. */
  | 'expires'
  /** Redirect URIs and scopes are taken away again, endpoints disabled. The log has no more of it, so the operator is told. */
  | 'update'
  /** The endpoint gets its last secret again, which follows from the number of its rotations. */
  | 'rotate'
  /** The log does not have the document. */
  | 'pin'
  | Again;

interface Again {
  count: Count;
  end: End;
  /** If the log has this later for the same `of`, nothing is done. */
  unless?: { later: ActionName; of: 'application_id' | 'scope' | 'document_uri' };
}

const again = (count: Count, end: End): Again => ({ count, end });
const revokeGrant = again('grants_revoked', revoke);
const cancelCode = again('codes_cancelled', cancel);

/** docs/operations/upgrade-and-restore.md has a row for each that ended something. A read has none. */
export const afterRestore: { readonly [Name in Exclude<ActionName, ReadName>]: AfterRestore } = {
  // In the backup, a converted code works again until it expires.
  'grants.convert': cancelCode,
  'grants.revoke': revokeGrant,
  'grants.revokeToken': revokeGrant,
  // The backup has the secret that the recovery replaced, and the application has the new one.
  'grants.recover': again('grants_revoked', unlessRecovered),
  'admin.applications.create': 'nothing',
  'admin.applications.update': 'update',
  'admin.applications.secrets.create': 'nothing',
  'admin.applications.secrets.revoke': again('secrets_removed', removeSecret),
  'admin.applications.disable': {
    ...again('applications_disabled', disable),
    unless: { later: 'admin.applications.enable', of: 'application_id' },
  },
  'admin.applications.enable': 'nothing',
  'admin.applications.delete': again('applications_deleted', deleteApplication),
  'admin.accounts.put': 'nothing',
  'admin.accounts.erase': again('accounts_erased', eraseAccount),
  'admin.codes.issue': 'nothing',
  'admin.codes.cancel': cancelCode,
  'admin.scopes.put': 'nothing',
  'admin.scopes.delete': {
    ...again('scopes_deleted', deleteScope),
    unless: { later: 'admin.scopes.put', of: 'scope' },
  },
  'admin.resources.create': 'nothing',
  'admin.resources.update': 'update',
  'admin.resources.delete': again('resources_deleted', deleteResource),
  'admin.documents.pin': 'pin',
  'admin.documents.unpin': {
    ...again('documents_unpinned', unpinDocument),
    unless: { later: 'admin.documents.pin', of: 'document_uri' },
  },
  'admin.connections.revoke': again('grants_revoked', revokeAll),
  'admin.pages.create': 'nothing',
  'admin.pages.end': again('accounts_signed_out', endPages),
  'admin.links.identify': 'expires',
  'admin.links.approve': 'expires',
  'admin.links.deny': 'expires',
  'admin.grants.revoke': revokeGrant,
  'admin.grants.revokeAll': again('grants_revoked', revokeAll),
  'admin.endpoints.create': 'nothing',
  'admin.endpoints.update': 'update',
  'admin.endpoints.delete': again('endpoints_deleted', deleteEndpoint),
  'admin.endpoints.rotate': 'rotate',
  'admin.endpoints.ping': 'nothing',
  'admin.endpoints.replay': 'nothing',
  'admin.deliveries.retry': 'nothing',
  'admin.keys.create': 'nothing',
  'admin.keys.delete': again('keys_deleted', deleteKey),
  'links.begin': 'nothing',
  'links.switch': 'expires',
  'pages.open': 'expires',
  'pages.done': 'nothing',
  'clients.register': 'nothing',
  'clients.get': 'nothing',
};

const afterActions = new Map<string, AfterRestore>(Object.entries(afterRestore));

/**
 * What may have ended ends again: its repetition may have found nothing left to end, and then no line says
 * that it was done. A code or secret that was only replaced was not asked to end.
 */
function countsAgain({ result, action }: AuditLine): boolean {
  const asksForEnd = !['grants.convert', 'grants.recover'].includes(action);
  return result === 'done' || (asksForEnd && typeof afterActions.get(action) === 'object');
}

/** By both of its actions. */
const switches = new Map(
  Object.entries(afterRestore).flatMap(([action, ending]) => {
    const unless = typeof ending === 'object' ? ending.unless : undefined;
    return unless === undefined
      ? []
      : [[action, unless.of] as const, [unless.later, unless.of] as const];
  }),
);

/** What is switched on and off; null if the action is none of a switch. */
function switchedBy(line: AuditLine): string | null {
  const of = switches.get(line.action);
  return of === undefined ? null : `${of} ${line[of]}`;
}

async function revoke(service: Service, line: AuditLine): Promise<boolean> {
  const { grant_id = '', by, application_id, reason } = line;
  const history = await service.store.findGrantHistory(grant_id);
  if (history === null || history.created_at === null || history.revoked_at !== null) return false;
  // If its outcome was unknown, it may have asked for a grant of another.
  if (by === 'application' && history.application_id !== application_id) return false;
  await service.store.revokeGrant({
    ...{ grant_id, application_id: null, now: line.at, initiator: initiatorOf(line) },
    ...((reason === 'idle' || reason === 'replaced') && { reason }),
  });
  return true;
}

/** Between the clocks of two processes. */
const SPARE: Milliseconds = 60_000;

/**
 * Sets the same mark, which spares what is later. A record of a backup may never have had its number. If a service has
 * already run on it, what is older than the mark is ended one by one.
 */
async function revokeAll(service: Service, line: AuditLine): Promise<boolean> {
  const { store, runner } = service;
  const parties = partiesOf(line);
  const { mark_number: before } = line;
  const mark = {
    ...{ ...parties, now: line.at, initiator: knownInitiator(line) },
    ...(before !== undefined && { before }),
  };
  let work = before === undefined ? null : await store.markRevocation({ ...mark, ifKnown: true });
  const { older, isAllOlder } =
    work === null
      ? await splitByTime(service, parties, line.at + SPARE)
      : { older: [], isAllOlder: false };
  if (isAllOlder) work = await store.markRevocation(mark);
  if (work !== null) {
    const { grants_revoked, codes_cancelled } = await runner.run(work);
    return grants_revoked + codes_cancelled > 0;
  }
  let isAny = false;
  for (const { grant_id, isCode } of older) {
    const ended = isCode ? cancel : revoke;
    isAny = (await unlessGone(() => ended(service, { ...line, grant_id }))) || isAny;
  }
  return isAny;
}

/** By when their codes were issued. Of an application, codes that are older than the mark have expired. */
async function splitByTime({ store }: Service, parties: Parties, until: Milliseconds) {
  const older: { grant_id: string; isCode: boolean }[] = [];
  let isAllOlder = true;
  const see = (grant_id: string, isCode: boolean) => {
    if ((uuidV7Time(grant_id) ?? 0) <= until) older.push({ grant_id, isCode });
    else isAllOlder = false;
  };
  const { account_id, application_id } = parties;
  for (const code of account_id === undefined ? [] : await store.listCodes(account_id)) {
    const isOfIt = application_id === undefined || code.application_id === application_id;
    if (isOfIt) see(code.grant_id, true);
  }
  for await (const { grant_id } of activeGrants(store, parties)) see(grant_id, false);
  return { older, isAllOlder };
}

function partiesOf({ account_id, application_id }: AuditLine): Parties {
  if (application_id !== undefined) return { account_id, application_id };
  if (account_id !== undefined) return { account_id };
  throw new Error('The log has a revocation, and neither its account nor its application.');
}

async function unlessRecovered(service: Service, line: AuditLine): Promise<boolean> {
  const history = await service.store.findGrantHistory(line.grant_id ?? '');
  const isInBackup = history?.recovered_by?.request_id === line.request_id;
  return isInBackup ? false : revoke(service, line);
}

async function cancel(service: Service, line: AuditLine): Promise<boolean> {
  await handle(service, 'admin.codes.cancel', { grant_id: line.grant_id }, line);
  return true;
}

async function removeSecret(service: Service, line: AuditLine): Promise<boolean> {
  const { application_id, secret_id } = line;
  const input = { application_id, secret_id };
  await handle(service, 'admin.applications.secrets.revoke', input, line);
  return true;
}

async function disable(service: Service, line: AuditLine): Promise<boolean> {
  const { application_id = '' } = line;
  const application = await service.store.findApplication(application_id);
  if (application === null || application.disabled) return false;
  await handle(service, 'admin.applications.disable', { application_id }, line);
  return true;
}

/** Adds none that the backup lacks. */
async function shortenUris(service: Service, line: AuditLine): Promise<boolean> {
  const { application_id = '', redirect_uris: marks = '' } = line;
  const application = await service.store.findApplication(application_id);
  if (application === null) return false;
  const before = vouchersOf(service).show(application).redirect_uris;
  const redirect_uris = withMarks(before, marks);
  if (redirect_uris.length === before.length) return false;
  await handle(service, 'admin.applications.update', { application_id, redirect_uris }, line);
  return true;
}

async function shortenScopes(service: Service, line: AuditLine): Promise<boolean> {
  if (line.resource_id !== undefined) return narrowResource(service, line);
  const { application_id = '' } = line;
  const application = await service.store.findApplication(application_id);
  const scopes = application && (await scopesLeft(service, application.scopes, line));
  if (scopes === null) return false;
  await handle(service, 'admin.applications.update', { application_id, scopes }, line);
  return true;
}

async function narrowResource(service: Service, line: AuditLine): Promise<boolean> {
  const { resource_id = '' } = line;
  const resource = await findResource(service, resource_id);
  const scopes = resource && (await scopesLeft(service, resource.scopes, line));
  if (resource === null || scopes === null) return false;
  const kept = resource.default_scopes?.filter((token) => scopes.includes(token)) ?? [];
  const default_scopes = kept.length > 0 ? kept : null;
  await handle(service, 'admin.resources.update', { resource_id, scopes, default_scopes }, line);
  return true;
}

/** Null if none was taken away. */
async function scopesLeft(
  { store }: Service,
  scopes: string[] | null,
  { scopes: marks = '' }: AuditLine,
): Promise<string[] | null> {
  if (marks === EVERY_SCOPE) return null;
  const before = scopes ?? (await store.listScopeNames());
  const left = withMarks(before, marks);
  return scopes !== null && left.length === before.length ? null : left;
}

async function deleteResource(service: Service, line: AuditLine): Promise<boolean> {
  await handle(service, 'admin.resources.delete', { resource_id: line.resource_id }, line);
  return true;
}

async function unpinDocument({ store }: Service, line: AuditLine): Promise<boolean> {
  return (await store.unpinDocument(line.document_uri ?? '')) !== null;
}

async function deleteKey(service: Service, line: AuditLine): Promise<boolean> {
  await handle(service, 'admin.keys.delete', { key_id: line.key_id }, line);
  return true;
}

async function deleteEndpoint(service: Service, line: AuditLine): Promise<boolean> {
  await handle(service, 'admin.endpoints.delete', { endpoint_id: line.endpoint_id }, line);
  return true;
}

async function disableEndpoint({ store }: Service, line: AuditLine): Promise<boolean> {
  const { endpoint_id = '', disabled, reason } = line;
  const endpoint = await store.findEndpoint(endpoint_id);
  if (!disabled || endpoint === null || endpoint.disabled_reason !== null) return false;
  const disabled_reason = reason === 'gone' || reason === 'failing' ? reason : 'operator';
  await store.updateEndpoint(endpoint_id, { disabled_reason });
  return true;
}

async function rotateEndpoint({ store }: Service, line: AuditLine): Promise<boolean> {
  const { endpoint_id = '', secret_version = 0 } = line;
  const inBackup = await store.findEndpoint(endpoint_id);
  let endpoint = inBackup;
  while (endpoint !== null && endpoint.secret_version < secret_version) {
    endpoint = await store.rotateEndpoint(endpoint_id, { overlap_until: null });
  }
  return endpoint !== inBackup;
}

async function deleteApplication(service: Service, line: AuditLine): Promise<boolean> {
  const { application_id } = line;
  // Only a disabled application can be deleted.
  await handle(service, 'admin.applications.disable', { application_id }, line);
  await handle(service, 'admin.applications.delete', { application_id }, line);
  return true;
}

async function eraseAccount({ store, runner }: Service, line: AuditLine): Promise<boolean> {
  const { account_id = '', mark_number: before } = line;
  const isThere = async () => (await store.findAccount(account_id)) !== null;
  const wasThere = await isThere();
  const mark = { account_id, now: line.at, initiator: knownInitiator(line), before };
  await runner.run(await store.markErasure(mark));
  return wasThere && !(await isThere());
}

async function deleteScope(service: Service, line: AuditLine): Promise<boolean> {
  await handle(service, 'admin.scopes.delete', { scope: line.scope }, line);
  return true;
}

async function endPages(service: Service, line: AuditLine): Promise<boolean> {
  await handle(service, 'admin.pages.end', { account_id: line.account_id }, line);
  return true;
}

async function handle(
  service: Service,
  name: string,
  input: object,
  line: AuditLine,
): Promise<void> {
  const operation = operations.get(name);
  if (operation === undefined) {
    throw new Error(`The log has ${name}, which this version does not know: use a newer Latchkey.`);
  }
  const initiator = knownInitiator(line);
  const then = { ...service, clock: () => line.at, counts: noCounts };
  const details = { publicUrl: () => '', ids: {}, countFruitless() {} };
  await operation.handle(then, input, operatorWithoutSecret, initiator, details);
}

function knownInitiator(line: AuditLine): Initiator {
  const initiator = initiatorOf(line);
  if (initiator === null) throw new Error(`The log has ${line.action}, and not who did it.`);
  return initiator;
}

/** Null if it happened by itself. */
function initiatorOf({ by, request_id, secret_id, key_id, os_user }: AuditLine): Initiator | null {
  if (by === null || request_id === null) return null;
  return {
    request_id,
    by,
    secret_id: by === 'application' ? (secret_id ?? null) : null,
    ...(by === 'operator' && key_id && { key_id }),
    ...(os_user !== undefined && { os_user }),
  };
}

/** False if the record is gone, so that it cannot work. */
async function unlessGone(end: () => Promise<boolean>): Promise<boolean> {
  try {
    return await end();
  } catch (error) {
    if (error instanceof DomainError && error.code.endsWith('_not_found')) return false;
    throw error;
  }
}
