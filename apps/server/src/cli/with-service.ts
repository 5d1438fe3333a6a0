import { createLog } from '../log.ts';
import { closeService, openService, type Service } from '../service.ts';
import { BadSetting, loadSettings, type Settings } from '../settings.ts';

/**
 * Opens the service on DATABASE_URL for one command, and closes it whatever comes.
 *
 * @throws BadSetting for a database that keeps nothing: the command would leave no trace
 */
export async function withService(
  environment: NodeJS.ProcessEnv,
  use: (service: Service, settings: Settings) => Promise<void>,
): Promise<void> {
  const settings = loadSettings(environment);
  if (settings.databaseUrl === 'file::memory:') {
    throw new BadSetting(
      'DATABASE_URL file::memory: keeps nothing, so only serve can use it. Example: DATABASE_URL=file:./data/latchkey.db',
    );
  }
  const { log, close } = createLog(settings);
  const { databaseUrl, auditDays } = settings;
  const service = await openService(databaseUrl, log, Date.now, auditDays);
  try {
    await use(service, settings);
  } finally {
    await closeService(service);
    await close();
  }
}
