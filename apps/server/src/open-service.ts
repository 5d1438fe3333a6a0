import type { Clock, Milliseconds } from '@latchkey/domain/clock';
import { isLoopbackHost } from '@latchkey/domain/loopback';
import { createExportTurns } from '@latchkey/rules/accounts/export-turns';
import { createAudit, createAuditLines } from '@latchkey/rules/audit/audit';
import { createCommandChanges } from '@latchkey/rules/audit/command-changes';
import { createLogNumbers } from '@latchkey/rules/audit/log-numbers';
import { createRefusalKeeper, type RefusalKeeper } from '@latchkey/rules/audit/refusal-keeper';
import { createClientDocuments } from '@latchkey/rules/client-documents/client-documents';
import { createPins } from '@latchkey/rules/client-documents/pins';
import {
  createEvents,
  type EventsObserver,
  type EventsSettings,
} from '@latchkey/rules/events/events';
import { createIdleGrants } from '@latchkey/rules/grants/end-idle-grants';
import type { Linking } from '@latchkey/rules/linking/linking';
import { sinkOf } from '@latchkey/rules/log/log-sink';
import { redactorFor } from '@latchkey/rules/log/redactor';
import type { Resolve } from '@latchkey/rules/outbound/resolve';
import { createRegisteredClients } from '@latchkey/rules/registration/registered-clients';
import { createRoom } from '@latchkey/rules/room';
import type { Service } from '@latchkey/rules/service';
import { createCounts, noCounts } from '@latchkey/rules/summary/counts';
import { countLiveGrants } from '@latchkey/rules/summary/live-grants';
import { createUseNotes } from '@latchkey/rules/use-notes';
import { createVouchers } from '@latchkey/rules/vouchers';
import { createPace } from '@latchkey/rules/work/pace';
import { type Chore, createRunner, type RunnerOptions } from '@latchkey/rules/work/runner';
import { createTurns } from '@latchkey/rules/work/turns';
import { observeStore, type StoreObserver } from '@latchkey/store/observe-store';
import type { Store, StoreOptions } from '@latchkey/store/store';
import type { Logger } from 'pino';
import packageJson from '../package.json' with { type: 'json' };
import { driverOf } from './open-store.ts';
import { DEFAULT_AUDIT_DAYS, pageNameOf, type Settings } from './settings.ts';

interface Watcher {
  storeObservers?: readonly StoreObserver[];
  housekeepingFailed?(): void;
  events?: EventsObserver | undefined;
}

export interface ServiceOptions {
  clock?: Clock;
  /** Counts milliseconds, and is never set. Default: that of the process. */
  monotonic?: Clock;
  auditDays?: number;
  auditIsRequired?: boolean;
  revokedGrantDays?: StoreOptions['revokedGrantDays'];
  /** See MIN_FREE_MB. Default: no bound. */
  minFreeMb?: number;
  keepsReserve?: boolean;
  create?: boolean;
  /** See {@link StoreOptions.claim}. Default: unless it was copied. */
  claim?: StoreOptions['claim'] | null;
  onCopied?: StoreOptions['onCopied'];
  linking?: Linking | null;
  /** Null, the default, without EVENTS_KEY. */
  events?: EventsSettings | null;
  /** Default: with `events`. */
  recordsEvents?: boolean;
  /** See {@link Service.redact}. Default: of credentials alone, not of secrets in settings. */
  redact?: Service['redact'];
  settings?: Service['settings'];
  /** Whether what happens counts for the summary. Default: true. */
  counts?: boolean;
  /** How long counts wait to be written. Default: a minute. For tests. */
  writeCountsEvery?: Milliseconds;
  work?: Pick<RunnerOptions, 'waits' | 'lookEvery'> | undefined;
  watcher?: Watcher;
}

const USER_AGENT = `Latchkey/${packageJson.version}`;

export function linkingFrom(
  {
    signInUrl,
    publicUrl,
    pageName,
    clientDocuments: hosts,
    clientRegistration: setting,
    clientSchemes: schemes,
    outboundAllow,
    rateLimit,
  }: Pick<
    Settings,
    | 'signInUrl'
    | 'publicUrl'
    | 'pageName'
    | 'clientDocuments'
    | 'clientRegistration'
    | 'clientSchemes'
    | 'outboundAllow'
    | 'rateLimit'
  >,
  {
    clock = Date.now,
    monotonic,
    resolve,
  }: { clock?: Clock; monotonic?: Clock | undefined; resolve?: Resolve | undefined } = {},
): Linking | null {
  // The settings have both or neither.
  if (signInUrl === null || publicUrl === null) return null;
  const pins = hosts && createPins(hosts);
  const name = pageNameOf({ pageName, signInUrl });
  const vouchers = createVouchers(pins, name, setting);
  const registeredClients = createRegisteredClients({
    ...{ publicUrl, setting, schemes, pageName: name },
  });
  const clientDocuments =
    pins &&
    createClientDocuments({
      clock,
      monotonic,
      hosts: pins,
      vouchers,
      isOwn: registeredClients.isOwn,
      schemes,
      userAgent: USER_AGENT,
      allowPrivate: outboundAllow?.private ?? false,
      isOnLoopback: isLoopbackHost(new URL(publicUrl).hostname),
      limitsCallers: rateLimit !== null,
      resolve,
    });
  return { signInUrl, publicUrl, vouchers, clientDocuments, pins, registeredClients };
}

/** @returns null without EVENTS_KEY */
export function eventsFrom(
  settings: Pick<Settings, 'eventsKey' | 'eventsKeyPrevious' | 'outboundAllow'>,
): EventsSettings | null {
  if (settings.eventsKey === null) return null;
  return {
    keys: () => {
      const { eventsKey, eventsKeyPrevious } = settings;
      if (eventsKey === null) throw new Error('EVENTS_KEY is not set.');
      return { current: eventsKey, previous: eventsKeyPrevious };
    },
    allow: { ...settings.outboundAllow },
  };
}

export async function openService(
  databaseUrl: string,
  log: Logger,
  {
    clock = Date.now,
    monotonic = () => performance.now(),
    auditDays = DEFAULT_AUDIT_DAYS,
    auditIsRequired = false,
    revokedGrantDays = null,
    minFreeMb = 0,
    keepsReserve = false,
    create = true,
    claim = { evenIfCopied: false },
    onCopied,
    linking = null,
    events = null,
    recordsEvents = events !== null,
    redact = redactorFor(new Set()),
    settings = () => [],
    counts: isCounted = true,
    writeCountsEvery,
    work,
    watcher = {},
  }: ServiceOptions = {},
): Promise<Service> {
  const onError = (err: unknown) => {
    log.warn({ err }, 'the store failed outside of a request; it will be tried again');
    watcher.housekeepingFailed?.();
  };
  const driver = driverOf(databaseUrl);
  const opened = await driver.open(databaseUrl, {
    clock,
    revokedGrantDays,
    keepsReserve,
    create,
    claim: claim ?? undefined,
    onCopied,
    recordsEvents,
    onError,
    onWarning(problem) {
      log.warn({ problem }, 'the database needs attention');
    },
    onLost(err) {
      log.fatal({ err }, 'the database file is lost: restart the service');
    },
  });
  const store = (watcher.storeObservers ?? []).reduce(
    (observed: Store, observe) => observeStore(observed, observe, driver),
    opened,
  );
  let keeper: RefusalKeeper | undefined;
  const auditLines = createAuditLines(log);
  const commandChanges = createCommandChanges(store, {
    clock,
    log,
    writeLine: auditLines.writeCommandChange,
    onError,
  });
  const audit = createAudit(
    auditLines,
    {
      keep(refusal, isProven) {
        keeper ??= createRefusalKeeper(store, { clock, days: auditDays, log });
        return keeper.keep(refusal, isProven);
      },
      flush: async () => keeper?.flush(),
    },
    commandChanges,
    auditIsRequired ? sinkOf(log) : null,
  );
  const service: Service = withParts(
    {
      ...{ driver, store, clock, audit, commandChanges, linking, redact, settings },
      room: createRoom(store, minFreeMb, log),
      events:
        events &&
        createEvents(store, events, {
          ...{ clock, log, audit, userAgent: USER_AGENT, onError },
          observer: watcher.events,
        }),
    },
    {
      useNotes: () =>
        createUseNotes((err) => {
          log.warn({ err }, 'could not note the use of a secret');
        }),
      logNumbers: () => createLogNumbers(store, auditLines, onError),
      counts: () =>
        isCounted
          ? createCounts(store, { clock, writeEvery: writeCountsEvery, onError })
          : noCounts,
      runner: () =>
        createRunner(store, {
          ...{ ...work, inProcess: driver.inProcess, clock, counts: service.counts, log, onError },
        }),
      idleGrants: () =>
        createIdleGrants(store, {
          ...{ clock, monotonic, audit, counts: service.counts },
          inSteps: service.runner.inSteps,
          onWarning(problem) {
            log.warn({ problem }, 'the clock needs attention');
          },
        }),
      exportTurns: createExportTurns,
      // Another one than that of the work: neither waits for the other.
      lists: () => ({
        turns: createTurns(MOST_WAITING_LISTS),
        inSteps: createPace({ inProcess: driver.inProcess }).inSteps,
      }),
    },
  );
  return service;
}

/** A person has a few pages open. `docs/protocol/limits.md` has it. */
export const MOST_WAITING_LISTS = 8;

/** Makes each of the parts when it is first asked for: a command needs few of them. */
function withParts<Whole extends object, Parts extends object>(
  whole: Whole,
  makers: { readonly [Name in keyof Parts]: () => Parts[Name] },
): Whole & Parts {
  const parts = {} as PropertyDescriptorMap;
  for (const name of Object.keys(makers) as (keyof Parts & string)[]) {
    const get = () => {
      const value = makers[name]();
      Object.defineProperty(whole, name, { value });
      return value;
    };
    parts[name] = { get, enumerable: true, configurable: true };
  }
  return Object.defineProperties(whole, parts) as Whole & Parts;
}

/** Undefined if nobody has asked for the part. */
const made = <Name extends keyof Service>(
  service: Service,
  name: Name,
): Service[Name] | undefined => Object.getOwnPropertyDescriptor(service, name)?.value;

const MINUTE: Milliseconds = 60_000;
// An idle grant is revoked within an hour.
const IDLE_GRANTS_EVERY = 30 * MINUTE;
// It is seen whether a count is due.
const LIVE_GRANTS_EVERY = 10 * MINUTE;

/** What runs behind all requests. */
export function watchService(service: Service): void {
  const { store, clock, counts, idleGrants, runner } = service;
  const { inSteps } = runner;
  const housekeeping = store.housekeeping.map(
    ({ name, step }): Chore => ({
      ...{ name, every: MINUTE },
      run: () => inSteps((limit) => step(clock(), limit)),
    }),
  );
  runner.watch([
    ...housekeeping,
    { name: 'idle grants', every: IDLE_GRANTS_EVERY, run: idleGrants.end },
    {
      ...{ name: 'live grants', every: LIVE_GRANTS_EVERY },
      run: () => countLiveGrants(store, { clock, counts, inSteps }),
    },
  ]);
  service.events?.watch();
  service.commandChanges.watch();
  service.room.watch();
  service.logNumbers.watch();
}

/** @param cut - ends the tries of messages that are running. Default: at once */
export async function closeService(
  service: Service,
  cut: AbortSignal = AbortSignal.abort(),
): Promise<void> {
  const { store, room, audit, commandChanges } = service;
  commandChanges.close();
  await Promise.all([made(service, 'runner')?.close(), room.close(), service.events?.close(cut)]);
  const unwritten = [made(service, 'useNotes'), audit, made(service, 'counts')];
  await Promise.all(unwritten.map((part) => part?.flush()));
  // Behind the last audit line.
  await made(service, 'logNumbers')?.close();
  await store.close();
}
