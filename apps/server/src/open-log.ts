import { createLog, type Log } from '@latchkey/rules/log/log';
import type { Settings } from './settings.ts';

export function openLog(settings: Settings): Log {
  return createLog({ level: settings.logLevel, secrets: settings.secrets });
}
