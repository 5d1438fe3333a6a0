import type { Call, CallOperation, History } from './history.ts';
import { canFollow } from './outcomes.ts';

/** Everything that was asked about one code and the grant it became, or about one key, one client document or one record of another kind. */
export class GrantCalls {
  /** By their beginning. */
  readonly all: readonly Call[];
  readonly issue: Call | undefined;
  readonly converts: readonly Call[];
  readonly recovers: readonly Call[];
  readonly revokes: readonly Call[];
  readonly erases: readonly Call[];
  readonly disconnects: readonly Call[];
  /** What may have ended all that its account has, issued by then. */
  readonly marks: readonly Call[];
  /** What ends its code, and the grant. */
  readonly allEndings: readonly Call[];
  /** What ends the grant for good. */
  readonly endings: readonly Call[];
  readonly authentications: readonly Call[];
  readonly finds: readonly Call[];
  readonly keyUses: readonly Call[];
  readonly keyDeletions: readonly Call[];
  /** Of the document, or the record. */
  readonly puts: readonly Call[];
  readonly removals: readonly Call[];
  readonly reads: readonly Call[];
  readonly switches: readonly Call[];
  /** The messages about it. */
  readonly hears: readonly Call[];
  readonly quiets: readonly Call[];
  /** What another application asked, which must have no effect. */
  readonly others: readonly Call[];
  /** Calls by the code's own application with a wrong verifier or resource, which must have no effect. */
  readonly mistakes: readonly Call[];
  readonly #byId: ReadonlyMap<string, Call>;

  /** @param marks - those of its account */
  constructor(own: readonly Call[], marks: readonly Call[] = []) {
    const issue = own.find(({ operation }) => operation === 'issue');
    this.issue = issue;
    // What was answered before a code was issued has no effect on it.
    this.marks = marks.filter((mark) => !issue || canFollow(mark, issue));
    const calls = [...own.filter(({ operation }) => operation !== 'end_all'), ...this.marks];
    this.all = calls.toSorted((a, b) => a.start - b.start);
    this.others = this.all.filter(({ application }) => application === 'other');
    const unmistaken = this.all.filter(
      ({ application, mistaken }) => application !== 'other' && !mistaken,
    );
    this.mistakes = this.all.filter((call) => call.application !== 'other' && call.mistaken);
    const of = (...wanted: CallOperation[]) =>
      unmistaken.filter(({ operation }) => wanted.includes(operation));
    this.converts = of('convert');
    this.recovers = of('recover');
    this.revokes = of('revoke');
    this.erases = of('erase');
    this.disconnects = of('disconnect');
    this.allEndings = [...this.erases, ...this.disconnects, ...this.marks];
    this.endings = [...this.revokes, ...this.allEndings];
    this.authentications = of('authenticate');
    this.finds = of('find');
    this.keyUses = of('use_key');
    this.keyDeletions = of('delete_key');
    this.puts = of('pin', 'put');
    this.removals = of('unpin', 'remove');
    this.reads = of('begin_link', 'read');
    this.switches = of('disable', 'enable');
    this.hears = of('hear');
    this.quiets = of('quiet');
    this.#byId = new Map(calls.map((call) => [call.id, call]));
  }

  /** The call that a secret came with. */
  sourceOf({ id, secret }: Call): Call {
    const source = this.#byId.get(secret ?? '');
    if (source === undefined) throw new Error(`The secret of call ${id} comes from nowhere.`);
    return source;
  }
}

/** The calls of a history, grant by grant: but for `end_all`, no call about one has any effect on another. */
export function byGrant(history: History): Map<string, GrantCalls> {
  const marks = Map.groupBy(
    history.filter(({ operation }) => operation === 'end_all'),
    ({ account }) => account,
  );
  return new Map(
    [...Map.groupBy(history, ({ grant }) => grant)].map(([grant, calls]) => {
      const account = calls.find(({ operation }) => operation === 'issue')?.account;
      return [grant, new GrantCalls(calls, account === undefined ? [] : marks.get(account))];
    }),
  );
}
