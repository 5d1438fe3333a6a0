import type { CommandChange } from '@latchkey/store/records';
import type { Binary } from 'mongodb';
import { fromId, toId } from './values.ts';

/** Its members are text, as on the wire, since no query uses them. */
export type CommandChangeDocument = Omit<CommandChange, 'id'> & { _id: Binary };

export function toCommandChangeDocument({ id, ...change }: CommandChange): CommandChangeDocument {
  return { _id: toId(id), ...change };
}

export function fromCommandChangeDocument({
  _id,
  ...change
}: CommandChangeDocument): CommandChange {
  return { id: fromId(_id), ...change };
}
