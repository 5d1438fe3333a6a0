/**
 * What was asked of the service and what it answered, as those saw it who asked. Codes, secrets and
 * applications go by names: a history holds no credential.
 */
export type History = readonly Call[];

/** One request, from the moment before it was sent. */
export interface Call {
  /** Who asked, and the how-manieth it was of theirs: `client-1/34`. */
  id: string;
  operation: CallOperation;
  /** The code or grant that it was about, by its name in the run: `g17`. Of a key, its name: `k3`; of a client document, `d5`; of another record, `r7`. */
  grant: string;
  /** Of `issue` and `end_all`: the account, by its name in the run, where several codes are about it. */
  account?: string;
  /** Whose secret an application's call was made with: the one that the code was issued to? */
  application?: 'own' | 'other';
  /**
   * What is not that of the code, or of the grant: of `convert` the verifier or the resource, of
   * `authenticate` the resource whose guard asks. Such a call must have no effect.
   */
  mistaken?: Mistake;
  /** The grant secret that was shown, by the id of the call that it came with. */
  secret?: string;
  /** Null for what was heard: a message does not say who has sent it. */
  server: ServerName | null;
  /** `form`: a form to `/oauth/token`, which converts too. */
  wire: 'REST' | 'tRPC' | 'form';
  /** Nanoseconds from the beginning of the run, see {@link createStopwatch}. */
  start: number;
  /** When all of the answer was there; null where it never came. */
  end: number | null;
  answer: Answer | null;
}

/**
 * `authenticate` is any request with a grant's secret. `find` is one entry of the operator's list,
 * or the lack of it. `erase` erases the account that the code was issued about, which no other code
 * of the run is about. `disconnect` ends the connection of such an account with the application.
 * `end_all` ends all codes and grants of an account that several codes are about.
 * `use_key` is a request with a key of the operator, `delete_key` deletes it. `pin` and `unpin` are about a
 * client document, which `begin_link` begins a link with. `put`, `remove` and `read` are about an account, an
 * application or an endpoint, and `disable` and `enable` about an application. `hear` is a message that the
 * host's endpoint was sent, `quiet` the moment from which on none comes.
 */
export type CallOperation =
  | 'issue'
  | 'convert'
  | 'recover'
  | 'revoke'
  | 'erase'
  | 'disconnect'
  | 'end_all'
  | 'authenticate'
  | 'find'
  | 'use_key'
  | 'delete_key'
  | 'pin'
  | 'unpin'
  | 'begin_link'
  | 'put'
  | 'remove'
  | 'read'
  | 'disable'
  | 'enable'
  | 'hear'
  | 'quiet';

export type Mistake = 'verifier' | 'resource';

export type ServerName = 'A' | 'B';

/** The part of an answer that the checker looks at. */
export interface Answer {
  status: number;
  error_code?: string;
  /** The name of the grant whose id was in it; null for one that nobody asked about. */
  grant?: string | null;
  created_at?: string;
  /** Of `find`: whether the list had it. */
  found?: boolean;
  revoked?: boolean;
  /** Of `begin_link` and `read`: what it shows, by the id of the call that has pinned or put it. */
  shown?: string;
  /** Of `hear`: the type, the id and the digest of the body of the message, and whether it was accepted. */
  type?: string;
  message?: string;
  body?: string;
  accepted?: boolean;
}

/**
 * Counts nanoseconds from `start` on. `process.hrtime` reads the machine's one monotonic clock
 * (CLOCK_MONOTONIC on Linux), so what processes of one machine read can be compared: a call that
 * starts at a later number than another ended at did begin after it.
 */
export function createStopwatch(start: bigint): () => number {
  return () => Number(process.hrtime.bigint() - start);
}

/** One line for a person. */
export function describeCall(call: Call): string {
  const whose = call.application === 'other' ? ' by another application' : '';
  const secret = call.secret === undefined ? '' : ` with the secret of ${call.secret}`;
  const mistake = call.mistaken ? ` with a ${call.mistaken} that is not its own` : '';
  const what = `${call.operation} ${call.grant}${whose}${secret}${mistake}`;
  const when = `${milliseconds(call.start)} to ${call.end === null ? '?' : milliseconds(call.end)} ms`;
  return `${call.id.padEnd(12)} ${when.padEnd(24)} ${call.server ?? '-'} ${call.wire}  ${what}: ${describeAnswer(call.answer)}`;
}

function milliseconds(nanoseconds: number): string {
  return (nanoseconds / 1e6).toFixed(3);
}

function describeAnswer(answer: Answer | null): string {
  if (answer === null) return 'no answer';
  const { status, ...rest } = answer;
  const members = Object.entries(rest).map(([name, value]) => `${name} ${value}`);
  return [status, ...members].join(', ');
}
