import type { Actor } from '../origin.ts';

/** Who did something, or tried to, in words. */
export function describeActor(who: {
  by: Actor | null;
  application_id: string | null;
  secret_id?: string | null;
  address: string | null;
}): string {
  const { by, application_id, secret_id, address } = who;
  const from = address === null ? '' : ` from ${address}`;
  switch (by) {
    case null: {
      const claimed = application_id === null ? '' : `, as application ${application_id}`;
      return `by somebody not authenticated${claimed}${from}`;
    }
    case 'application': {
      const which = application_id === null ? 'the application' : `application ${application_id}`;
      const secret = secret_id == null ? '' : ` with its secret ${secret_id}`;
      return `by ${which}${secret}${from}`;
    }
    case 'grant':
      return `with the secret of the grant${from}`;
    case 'operator':
      return `by the operator${from}`;
    case 'command_line':
      return 'on the command line';
  }
}
