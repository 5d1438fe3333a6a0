import { userInfo } from 'node:os';
import { fingerprintsOf } from '@latchkey/rules/events/endpoint-secret';
import { redactorFor } from '@latchkey/rules/log/redactor';
import type { Service } from '@latchkey/rules/service';
import type { OperationInput, OperationOutput } from '@latchkey/schema';
import type { Claim } from '@latchkey/store/use-mark';
import { isDemo } from '../is-demo.ts';
import {
  closeService,
  eventsFrom,
  linkingFrom,
  openService,
  type ServiceOptions,
} from '../open-service.ts';
import { callOperation, type OperatorOperation } from '../operations/call-operation.ts';
import { loadSettings, refuseInMemory, settingsInForce } from '../settings.ts';
import { commandLog } from './command-log.ts';
import { listeningUrl } from './listening-url.ts';
import type { Terminal } from './terminal.ts';

export type CallAsOperator = <Name extends OperatorOperation>(
  name: Name,
  input: OperationInput<Name>,
) => Promise<OperationOutput<Name>>;

export interface OpenService {
  service: Service;
  call: CallAsOperator;
}

export interface Access extends Pick<ServiceOptions, 'create'>, Pick<Claim, 'incomplete'> {
  /** Whether the command changes nothing. Default: false. */
  claim?: null;
  /** Whether what it does needs the right EVENTS_KEY, and not just any. Default: false. */
  signs?: boolean;
}

/** Refuses a database in memory, which would keep nothing. */
export async function withService(
  terminal: Terminal,
  { signs = false, incomplete, ...access }: Access,
  use: (open: OpenService) => Promise<void>,
): Promise<void> {
  const settings = loadSettings(terminal.environment);
  refuseInMemory(settings);
  const { databaseUrl, auditDays, minFreeMb } = settings;
  const demo = isDemo(settings) ? await import('../demo/linking-demo.ts') : null;
  const complete = demo?.withLinkingDemo(settings, listeningUrl(settings)) ?? settings;
  const events = eventsFrom(settings);
  const keys = events && fingerprintsOf(events.keys());
  const service = await openService(databaseUrl, commandLog(terminal), {
    auditDays,
    minFreeMb,
    linking: linkingFrom(complete),
    events,
    // The demo has events, with a key of its own.
    recordsEvents: events !== null || demo !== null,
    redact: redactorFor(settings.secrets),
    settings: () => settingsInForce(complete),
    // The process ends after the command.
    work: { waits: Number.POSITIVE_INFINITY },
    claim: {
      evenIfCopied: false,
      ...(incomplete && { incomplete }),
      ...((signs || keys === null) && { eventsKeys: keys }),
    },
    ...access,
  });
  const person = { by: 'command_line', os_user: osUser(terminal.environment) } as const;
  try {
    await use({ service, call: (name, input) => callOperation(service, name, input, person) });
  } finally {
    await closeService(service);
  }
}

function osUser({ SUDO_USER }: NodeJS.ProcessEnv): string {
  let name: string;
  try {
    name = userInfo().username;
  } catch {
    // A container may run as a user without an entry in /etc/passwd.
    name = `uid ${process.getuid?.()}`;
  }
  return SUDO_USER ? `${name} (sudo: ${SUDO_USER})` : name;
}
