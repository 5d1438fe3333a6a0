import { withLinkingDemo } from '../demo/linking-demo.ts';
import { closeService, linkingFrom, openService } from '../open-service.ts';
import { loadSettings, refuseInMemory } from '../settings.ts';
import { callOperation } from './call-operation.ts';
import { commandLog } from './command-log.ts';
import { listeningUrl } from './listening-url.ts';
import type { Access, OpenService } from './run-operation.ts';
import type { Terminal } from './terminal.ts';

export async function openForCommand(terminal: Terminal, access: Access): Promise<OpenService> {
  const settings = loadSettings(terminal.environment);
  refuseInMemory(settings);
  const { databaseUrl, auditDays } = settings;
  const linking = linkingFrom(withLinkingDemo(settings, listeningUrl(settings)));
  const options = { auditDays, linking, ...access };
  const service = await openService(databaseUrl, commandLog(terminal), options);
  return {
    service,
    settings,
    call: (name, input) => callOperation(service, name, input, terminal),
    close: () => closeService(service),
  };
}
