import type { Service } from '@latchkey/rules/service';
import type { Access, CallAsOperator } from './open-for-command.ts';
import type { Terminal } from './terminal.ts';

export const READING: Access = { create: false, claim: null };
/** For commands that have nothing to work on in a new database. */
export const CHANGING: Access = { create: false };
export const CREATING: Access = {};

/** `service` is null over the wire. */
export interface Calls {
  call: CallAsOperator;
  service: Service | null;
}

/** For commands that call operations, on the database or over the wire. */
export async function withCalls(
  terminal: Terminal,
  access: Access,
  use: (calls: Calls) => Promise<void>,
): Promise<void> {
  if (terminal.serviceUrl === undefined) {
    const { withService } = await import('./open-for-command.ts');
    return withService(terminal, access, use);
  }
  const { callsOverTheWire } = await import('./calls-over-the-wire.ts');
  await use({ call: callsOverTheWire(terminal.serviceUrl, terminal.environment), service: null });
}
