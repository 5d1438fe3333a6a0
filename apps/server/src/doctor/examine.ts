import { BadSetting } from '@latchkey/domain/bad-setting';
import { tell } from '@latchkey/domain/domain-error';
import { type Finding, ok, problem, skipped } from '@latchkey/store/finding';
import type { OnStep } from '@latchkey/store/step';
import pino from 'pino';
import { openFilesLimit } from '../http/limit-connections.ts';
import { closeService, openService } from '../open-service.ts';
import { driverOf } from '../open-store.ts';
import { loadSettings, refuseInMemory, type Settings } from '../settings.ts';
import { oldestNode } from '../supported-node.ts';
import { checkApplications, checkKeys } from './check-credentials.ts';
import { checkDocuments } from './check-documents.ts';
import { checkEvents } from './check-events.ts';
import { checkPublicAddress } from './check-public-address.ts';
import { checkRedemption, LOOK } from './check-redemption.ts';
import { checkOpenFiles, checkSettings, isForUsers } from './check-settings.ts';
import { checkWork } from './check-work.ts';

/** @param deep - whether to take as long as it takes */
export async function* examine(
  environment: NodeJS.ProcessEnv,
  { deep, onStep }: { deep: boolean; onStep?: OnStep | undefined },
): AsyncGenerator<Finding> {
  // An older one has not come this far.
  const { execPath, versions } = process;
  yield ok('node', `${execPath} is Node ${versions.node}; ${oldestNode} or later is needed.`);
  let settings: Settings;
  try {
    settings = loadSettings(environment);
  } catch (error) {
    if (!(error instanceof BadSetting)) throw error;
    yield problem(
      'settings',
      error.message,
      'Correct it, then run latchkey doctor again. Nothing else was checked.',
    );
    return;
  }
  refuseInMemory(settings);
  yield* checkSettings(settings, environment);
  yield* checkOpenFiles(openFilesLimit());
  const { publicUrl } = settings;
  if (isForUsers(publicUrl)) yield* checkPublicAddress(publicUrl, settings);
  let isUsable = true;
  const reducesRevoked = settings.revokedGrantDays !== null;
  const options = { clock: Date.now, deep, reducesRevoked, ...(onStep && { onStep }) };
  const { databaseUrl } = settings;
  for await (const finding of driverOf(databaseUrl).inspect(databaseUrl, options)) {
    isUsable &&= finding.level !== 'problem' || !NEEDED.has(finding.check);
    yield finding;
  }
  if (!isUsable) {
    yield skipped('convert', 'No code was converted, because of the problems above.');
    return;
  }
  yield* useDatabase(settings);
}

/** If one of these has a problem, no code can be converted. */
const NEEDED: ReadonlySet<Finding['check']> = new Set([
  'store',
  'damage',
  'version',
  'rights',
  'indexes',
]);

async function* useDatabase(settings: Settings): AsyncGenerator<Finding> {
  const { databaseUrl, auditDays } = settings;
  // The operator's summary is not of the trial, and nobody is told of it.
  const claim = { evenIfCopied: false };
  const options = { auditDays, create: false, counts: false, claim };
  // The findings contain what a log would say.
  const service = await openService(databaseUrl, pino({ enabled: false }), options);
  try {
    yield* orProblem('events', 'The endpoints', checkEvents(service, settings));
    yield* orProblem('work', 'What is unfinished', checkWork(service));
    if (isForUsers(settings.publicUrl)) {
      yield* orProblem('keys', 'The keys', checkKeys(service, settings));
      yield* orProblem('applications', 'The applications', checkApplications(service));
    }
    yield* checkDocuments(service.store, settings);
    yield* checkRedemption(service);
  } finally {
    await closeService(service);
  }
}

/** What cannot be read is told as a row, and the rows behind it are still made. */
async function* orProblem(
  check: Finding['check'],
  what: string,
  findings: AsyncGenerator<Finding>,
): AsyncGenerator<Finding> {
  try {
    yield* findings;
  } catch (error) {
    yield problem(check, `${what} could not be read: ${tell(error)}`, LOOK);
  }
}
