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
import { loadSettings, refuseInMemory, type Settings, settingsInForce } from '../settings.ts';
import { commandLog } from './command-log.ts';
import { listeningUrl } from './listening-url.ts';
import { osUser } from './os-user.ts';
import type { Terminal } from './terminal.ts';

export type CallAsOperator = <Name extends OperatorOperation>(
  name: Name,
  input: OperationInput<Name>,
) => Promise<OperationOutput<Name>>;

export interface OpenService {
  service: Service;
  settings: Settings;
  call: CallAsOperator;
  close(): Promise<void>;
}

export interface Access
  extends Pick<ServiceOptions, 'create' | 'migrate'>,
    Pick<Claim, 'incomplete'> {
  /** Whether the command changes nothing. Default: false. */
  claim?: null;
  /** Whether what it does needs the right EVENTS_KEY, and not just any. Default: false. */
  signs?: boolean;
}

export async function openForCommand(
  terminal: Terminal,
  { signs = false, incomplete, ...access }: Access,
): Promise<OpenService> {
  const settings = loadSettings(terminal.environment);
  refuseInMemory(settings);
  const { databaseUrl, auditDays, minFreeMb } = settings;
  const complete = await completeSettings(settings);
  const linking = linkingFrom(complete);
  const events = eventsFrom(settings);
  const keys = events && fingerprintsOf(events.keys());
  // The demo has events, with a key of its own.
  const recordsEvents = events !== null || complete !== settings;
  const redact = redactorFor(settings.secrets);
  const inForce = () => settingsInForce(complete);
  const options = {
    auditDays,
    minFreeMb,
    linking,
    events,
    recordsEvents,
    redact,
    settings: inForce,
    claim: {
      evenIfCopied: false,
      ...(incomplete && { incomplete }),
      ...((signs || keys === null) && { eventsKeys: keys }),
    },
    ...access,
  };
  const service = await openService(databaseUrl, commandLog(terminal), options);
  const person = { by: 'command_line', os_user: osUser(terminal.environment) } as const;
  return {
    service,
    settings,
    call: (name, input) => callOperation(service, name, input, person),
    close: () => closeService(service),
  };
}

async function completeSettings(settings: Settings): Promise<Settings> {
  if (!isDemo(settings)) return settings;
  const { withLinkingDemo } = await import('../demo/linking-demo.ts');
  return withLinkingDemo(settings, listeningUrl(settings));
}
