import { BadSetting } from '../bad-setting.ts';
import { DomainError } from '../domain-error.ts';
import { CannotStart } from './cannot-start.ts';
import { errorText } from './error-texts.ts';
import { exitCode } from './exit-code.ts';
import type { Terminal } from './terminal.ts';

export function tellFailure(error: unknown, { stderr }: Terminal): number {
  if (error instanceof DomainError) {
    stderr.write(errorText(error));
    return exitCode.refused;
  }
  stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  if (error instanceof CannotStart) return exitCode.cannotStart;
  return error instanceof BadSetting ? exitCode.badUsage : exitCode.refused;
}
