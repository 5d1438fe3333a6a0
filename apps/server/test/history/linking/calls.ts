import type { ServerName } from '../history.ts';

/** One request about a link, from the moment before it was sent. It has no credential in it. */
export interface LinkCall {
  /** Who asked, and the number of the call: `2-1/34`. */
  id: string;
  operation: LinkOperation;
  /** Whose application and accounts these are: each scene has its own. */
  scene: string;
  /** The link by its name. Null for what is about the application or an account. */
  link: string | null;
  account?: AccountName;
  /**
   * The consent page, by the id of the `identify` that it came with. Of `approve` and `deny`: that a
   * user decided on this page, and not the host.
   */
  page?: string;
  /** The opening that its session is from. */
  session?: string | undefined;
  /** Of `identify`: the host asks its user on a page of its own. */
  own_page?: true;
  /** Of `token`: the code by its name. Of `use`: the id of the `token` that the secret came with. */
  credential?: string;
  server: ServerName;
  /** Nanoseconds from the beginning of the run. */
  start: number;
  /** Null if no answer came. */
  end: number | null;
  answer: LinkAnswer | null;
}

/** `open` opens the ticket of a page, `show` looks at the page, `use` is a request with a grant. */
export type LinkOperation =
  | 'authorize'
  | 'identify'
  | 'open'
  | 'show'
  | 'approve'
  | 'deny'
  | 'token'
  | 'use'
  | 'disconnect'
  | 'end pages'
  | 'disable'
  | 'enable';

export const accountNames = ['ada', 'grace'] as const;
export type AccountName = (typeof accountNames)[number];

export interface LinkAnswer {
  /** Left out if it was done. */
  error_code?: string;
  /** Of an approval: the code by its name. */
  code?: string;
}

export const isDone = ({ answer }: LinkCall): boolean =>
  answer !== null && answer.error_code === undefined;

/** It may have been done at any time after it began, or never. */
export function isOpen({ operation, answer }: LinkCall): boolean {
  if (answer === null || answer.error_code === 'outcome_unknown') return true;
  // It works in parts, and a part may be done.
  return operation === 'disconnect' && answer.error_code === 'store_unavailable';
}

/** One line for a person. */
export function describeLinkCall(call: LinkCall): string {
  const { id, operation, link, account, page, own_page, credential, server, start, end } = call;
  const about = [
    ...[link, account, page && `on the page of ${page}`, own_page && 'for a page of its own'],
    credential && `with ${credential}`,
  ];
  const what = [operation, ...about.filter(Boolean)].join(' ');
  const when = `${milliseconds(start)} to ${end === null ? '?' : milliseconds(end)} ms`;
  return `${id.padEnd(8)} ${when.padEnd(26)} ${server}  ${what}: ${describeAnswer(call.answer)}`;
}

const milliseconds = (nanoseconds: number) => (nanoseconds / 1e6).toFixed(3);

function describeAnswer(answer: LinkAnswer | null): string {
  if (answer === null) return 'no answer';
  return answer.error_code ?? (answer.code === undefined ? 'done' : `done, ${answer.code}`);
}
