import type { Refusal } from '@latchkey/schema';
import type { CallAsOperator } from './open-for-command.ts';

export type KeyNames = ReadonlyMap<string, string>;

/** Those that the caller may know. A deleted key has no name any more. */
export async function namesOfKeys(
  call: CallAsOperator,
  entries: readonly { key_id: string | null }[],
): Promise<KeyNames> {
  if (entries.every(({ key_id }) => key_id === null)) return new Map();
  // Tells what a refused call would tell, and a refusal would be stored.
  const self = await call('admin.self.get', {});
  if (self.may.includes('admin.keys.list')) {
    const { data } = await call('admin.keys.list', {});
    return new Map(data.map(({ id, name }) => [id, name]));
  }
  return new Map(self.key_id !== null && self.name !== null ? [[self.key_id, self.name]] : []);
}

export function keyText(key_id: string, keyNames: KeyNames): string {
  const name = keyNames.get(key_id);
  return name === undefined ? key_id : `${name} (${key_id})`;
}

interface Who {
  by: Refusal['by'];
  application_id: string | null;
  secret_id?: string | null;
  key_id: string | null;
  address: string | null;
  os_user?: string | null;
}

export function describeActor(who: Who, keyNames: KeyNames): string {
  const { by, application_id, secret_id, key_id, address, os_user } = who;
  const from = address === null ? '' : ` from ${address}`;
  switch (by) {
    case null: {
      const claimed = application_id === null ? '' : `, as application ${application_id}`;
      return `by an unauthenticated caller${claimed}${from}`;
    }
    case 'application': {
      const which = application_id === null ? 'the application' : `application ${application_id}`;
      const secret = secret_id == null ? '' : ` with its secret ${secret_id}`;
      return `by ${which}${secret}${from}`;
    }
    case 'grant':
      return `with the secret of the grant${from}`;
    case 'operator': {
      const which = key_id === null ? '' : ` with the key ${keyText(key_id, keyNames)}`;
      return `by the operator${which}${from}`;
    }
    case 'command_line':
      return os_user == null ? 'on the command line' : `on the command line, by ${os_user}`;
    case 'user':
      return `by the user on a page${from}`;
  }
}
