import { BadSetting } from '@latchkey/domain/bad-setting';
import { CannotStart } from './cannot-start.ts';
import { messageOf } from './error-texts.ts';
import { exitCode } from './exit-code.ts';
import type { Terminal } from './terminal.ts';

export function tellFailure(error: unknown, { stderr }: Terminal): number {
  stderr.write(messageOf(error));
  if (error instanceof CannotStart) return exitCode.cannotStart;
  return error instanceof BadSetting ? exitCode.badUsage : exitCode.refused;
}
