import { isDeepStrictEqual } from 'node:util';
import { inputs } from '@latchkey/schema';
import { unsaidMembers } from '@latchkey/store/application-members';
import { firstGenerations } from '@latchkey/store/generations';
import type { Erasure, NewCode, RevocationMark, Store } from '@latchkey/store/store';
import { longer, runsAll } from '@latchkey/test-kit/long';
import fc from 'fast-check';
import { v7 } from 'uuid';
import { describe, expect, test } from 'vitest';
import { finish, finishAll } from './finish.ts';
import type { SuiteStores } from './harness.ts';
import { emptyState, type ModelMethods, type ModelState, modelStore } from './model-store.ts';

// Ids and hashes are numbers until a run gives them bytes, since the runs share a database. There are
// few of each, so that the calls conflict.
class Id {
  readonly number: number;
  constructor(number: number) {
    this.number = number;
  }
}
class Hash {
  readonly number: number;
  constructor(number: number) {
    this.number = number;
  }
}
const oneOf = (first: number, count: number) =>
  fc.integer({ min: first, max: first + count - 1 }).map((number) => new Id(number));
const anyApplication = oneOf(0, 2);
const anyAccount = oneOf(10, 2);
const anyGrant = oneOf(20, 4);
const anySecret = oneOf(30, 6);
const anyLink = oneOf(40, 2);
const anyPage = oneOf(50, 6);
const anyHash = fc.nat({ max: 1 }).map((number) => new Hash(number));

// In an hour, so that no database deletes by its own clock what expires in the model.
const SOON = Date.now() + 3_600_000;
const anyTime = fc.nat({ max: 6 }).map((step) => SOON + step);

// Most calls use ids that belong together, such as a code and its application; few would have an
// effect otherwise.
const mostly = <Value>(usual: Value, any: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 6, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: any });
const ownApplication = ({ number }: Id) => mostly(new Id(number % 2), anyApplication);
const ownHash = ({ number }: Id) => mostly(new Hash(number % 2), anyHash);

const isText = (text: string) => inputs.applicationInput.safeParse({ name: text }).success;
const anyText = fc.oneof(
  fc.string({
    unit: fc.nat({ max: 0x10ffff }).map(String.fromCodePoint).filter(isText),
    minLength: 1,
    maxLength: 200,
  }),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 50 }).filter(isText),
  fc.constantFrom('__proto__', '$where', '$set.a.b', '{"$ne":null}', '\u202eada', '🔑'.repeat(200)),
);
const anyScope = fc
  .uniqueArray(fc.stringMatching(/^[!#-[\]-~]{1,30}$/), { minLength: 1, maxLength: 32 })
  .map((tokens) => tokens.join(' '));
const account = fc.record(
  {
    id: anyAccount,
    username: anyText,
    display_name: anyText,
    twitter: fc.option(anyText),
    verified: fc.boolean(),
    supporter: fc.boolean(),
    external_id: anyText,
  },
  { requiredKeys: ['id', 'username', 'display_name', 'twitter', 'verified', 'supporter'] },
);
const secret = fc.record({
  id: anySecret,
  hash: anyText,
  hint: anyText,
  created_at: anyTime,
  expires_at: fc.option(anyTime),
  last_used_at: fc.constant(null),
});
const anyInitiator = fc.record(
  {
    request_id: fc.stringMatching(/^[\w.-]{1,128}$/),
    by: fc.constantFrom('application', 'grant', 'operator', 'command_line'),
    secret_id: fc.option(anySecret),
    key_id: anySecret,
  },
  { requiredKeys: ['request_id', 'by', 'secret_id'] },
);
const ofMark = { now: anyTime, initiator: anyInitiator };
const range = fc.record({
  limit: fc.integer({ min: 1, max: 3 }),
  before: fc.option(fc.oneof(anyApplication, anyGrant)),
});

/** The argument of a method about a record with an id. */
const about =
  (anyOfThem: fc.Arbitrary<Id>) =>
  (members: (id: Id) => Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<unknown[]> =>
    anyOfThem.chain((id) => fc.tuple(fc.record(members(id))));
const ofGrant = about(anyGrant);
const ofLink = about(anyLink);
const ofPage = about(anyPage);

const redirectUris = ['https://acme.example/callback', 'http://127.0.0.1:8080/'];
const anyRedirectUri = fc.constantFrom(null, ...redirectUris);
/** Of documents: any text will do. */
const anyAddress = fc.constantFrom(new Id(90), new Id(91));
const anyResource = fc.constantFrom(null, 'https://a.example', 'https://b.example/mcp');
const anyChallenge = fc.constantFrom(null, 'A'.repeat(43), 'a'.repeat(43));
// Mostly none, so that enough redemptions succeed.
const brought = {
  redirect_uri: mostly(null, anyRedirectUri),
  code_challenge: mostly(null, anyChallenge),
};
const wanted = mostly(null, fc.array(anyResource, { maxLength: 2 }));
const consistent = (code: NewCode): NewCode =>
  code.redirect_uri === null ? { ...code, redirect_uri_given: false } : code;
const anyGeneration = fc.integer({ min: 0, max: 2 });
const unsaid = Object.entries(unsaidMembers).map(([name, value]) => [name, fc.constant(value)]);
const applicationMembers = {
  ...Object.fromEntries(unsaid),
  name: anyText,
  redirect_uris: fc.subarray(redirectUris),
  scopes: fc.option(anyScope.map((scope) => scope.split(' '))),
  logo_uri: fc.option(anyText),
  homepage_uri: fc.option(anyText),
  policy_uri: fc.option(anyText),
  tos_uri: fc.option(anyText),
  resource_server: fc.boolean(),
  challenge_required: fc.boolean(),
  idle_days: fc.option(fc.integer({ min: 1, max: 3650 })),
  default_scopes: fc.option(fc.constantFrom(['a'], ['b', 'a'])),
  grants_per_account: fc.option(fc.integer({ min: 1, max: 100 })),
};
const anyChoice = fc.option(
  fc.record({ id: fc.constantFrom('a', 'b'), label: fc.constantFrom('A', 'B') }),
);
const ownPage = ({ number }: Id) => mostly(new Id(50 + (number % 2)), anyPage);
const pageOf = (kind: 'consent' | 'connections', link: fc.Arbitrary<Id | null>) =>
  anyPage.chain((id) =>
    fc.record({
      id: fc.constant(id),
      kind: fc.constant(kind),
      link_id: link,
      account_id: anyAccount,
      ticket_hash: ownHash(id),
      ticket_expires_at: mostly(SOON + 5, anyTime),
      opened_at: fc.constant(null),
      waiting: fc.constant(null),
      session_hash: fc.constant(null),
      expires_at: anyTime,
      return_url: fc.option(anyText),
      locale: fc.option(anyText),
      choice: fc.option(fc.record({ title: anyText, options: fc.constant([{ id: 'a' }]) })),
    }),
  );

/**
 * The compared methods: those that grants depend on. Not those that depend on the clock of the store, do
 * their work part by part or promise no order, and not the sums of others.
 */
const argumentsOf = {
  createApplication: fc.tuple(
    fc.record({
      id: anyApplication,
      ...applicationMembers,
      public: fc.boolean(),
      disabled: fc.boolean(),
      generations: fc.constant(firstGenerations),
      revocations: fc.constant(0),
      created_at: anyTime,
      enabled_at: fc.option(anyTime),
      secrets: fc.uniqueArray(secret, { maxLength: 2, selector: ({ id }) => id.number }),
      document: fc.constant(null),
    }),
  ),
  findDocumented: fc.tuple(anyAddress),
  putDocumented: fc.tuple(
    fc.record({
      id: anyApplication,
      ...applicationMembers,
      redirect_uris: fc.constantFrom(...redirectUris).map((uri) => [uri]),
      public: fc.constant(true),
      disabled: fc.constant(false),
      generations: fc.constant(firstGenerations),
      revocations: fc.constant(0),
      created_at: anyTime,
      enabled_at: fc.constant(null),
      secrets: fc.constant([]),
      document: fc.record({
        uri: anyAddress,
        method: fc.constantFrom('none', 'private_key_jwt'),
        jwks_uri: fc.option(anyText),
        signing_alg: fc.constantFrom(null, 'ES256'),
      }),
    }),
  ),
  findApplication: fc.tuple(anyApplication),
  authenticateApplication: fc.tuple(anyApplication),
  listApplications: fc.tuple(
    range,
    fc.record({ documented: fc.option(fc.boolean(), { nil: undefined }) }),
  ),
  addSecret: secret.chain((added) =>
    fc.tuple(
      ownApplication(added.id),
      fc.constant(added),
      fc.record({ most: fc.integer({ min: 1, max: 3 }), now: anyTime }),
    ),
  ),
  removeSecret: anySecret.chain((id) => fc.tuple(ownApplication(id), fc.constant(id))),
  updateApplication: fc.tuple(anyApplication, fc.record(applicationMembers, { requiredKeys: [] })),
  setApplicationDisabled: fc.tuple(anyApplication, fc.boolean(), anyTime),
  deleteApplication: fc.tuple(
    fc.record({
      application_id: anyApplication,
      deleted_at: anyTime,
      deleted_by: anyInitiator,
    }),
  ),
  noteSecretUse: anySecret.chain((id) => fc.tuple(ownApplication(id), fc.constant(id), anyTime)),
  putAccount: fc.tuple(account),
  findAccount: fc.tuple(anyAccount),
  erase: fc.tuple(fc.record({ account_id: anyAccount, now: anyTime, initiator: anyInitiator })),
  // What it has begun is done at any time after that, or not at all.
  markRevocation: fc.tuple(
    fc.oneof(
      fc.record({ account_id: anyAccount, ...ofMark }),
      fc.record({ application_id: anyApplication, ...ofMark }),
      fc.record({ account_id: anyAccount, application_id: anyApplication, ...ofMark }),
    ),
  ),
  finishAll: fc.constant([]),
  listCodes: fc.tuple(anyAccount),
  createLink: ofLink((id) => ({
    id: fc.constant(id),
    link_hash: ownHash(id),
    application_id: fc.option(anyApplication),
    document: fc.constant(null),
    redirect_uri: fc.constantFrom(...redirectUris),
    redirect_uri_given: fc.boolean(),
    resource: fc.option(
      fc.record({ id: anyAccount, resource: anyText, generation: anyGeneration }),
    ),
    scope: anyScope,
    optional_scope: fc.option(anyScope),
    state: fc.option(anyText),
    code_challenge: anyChallenge,
    login_hint: fc.option(anyText),
    ui_locales: fc.option(anyText),
    salt: anyHash,
    generation: anyGeneration,
    description_hash: anyHash,
    expires_at: mostly(SOON + 5, anyTime),
    account_id: fc.constant(null),
    page_id: fc.constant(null),
    switched: fc.constant(false),
    decision: fc.constant(null),
    initiator: anyInitiator,
  })),
  findLink: fc.tuple(anyLink),
  identifyLink: ofLink((link_id) => ({
    link_id: fc.constant(link_id),
    link_hash: ownHash(link_id),
    page: pageOf('consent', fc.constant(link_id)),
    own_page: fc.boolean(),
    now: anyTime,
    initiator: anyInitiator,
  })),
  switchLink: ofLink((link_id) => ({
    link_id: fc.constant(link_id),
    page_id: ownPage(link_id),
    link_hash: ownHash(link_id),
    now: anyTime,
    initiator: anyInitiator,
  })),
  decideLink: ofLink((link_id) => ({
    link_id: fc.constant(link_id),
    holder: fc.oneof(
      fc.record({ link_hash: ownHash(link_id) }),
      fc.record({ page_id: ownPage(link_id) }),
    ),
    // An approval by the host is in a test of its own: its code is there before it.
    account_id: fc.constant(null),
    decision: fc.record({
      status: fc.constantFrom('approved', 'denied'),
      decided_by: fc.oneof(anyLink, anyPage),
      grant_id: fc.option(anyGrant),
      scope: fc.option(anyScope),
      choice: anyChoice,
    }),
    now: anyTime,
    initiator: anyInitiator,
  })),
  createPage: fc
    .tuple(pageOf('connections', fc.constant(null)), anyInitiator)
    .map(([page, initiator]) => [{ ...page, initiator }]),
  findPage: fc.tuple(anyPage),
  findPageAccount: fc.tuple(anyPage),
  endPages: fc.tuple(anyAccount),
  openPage: ofPage((page_id) => ({
    page_id: fc.constant(page_id),
    ticket_hash: ownHash(page_id),
    session_hash: anyHash,
    expires_at: anyTime,
    now: anyTime,
    initiator: anyInitiator,
  })),
  returnToPage: fc.tuple(anyPage, anyHash),
  issueCode: ofGrant((grant_id) => ({
    grant_id: fc.constant(grant_id),
    application_id: ownApplication(grant_id),
    scope: anyScope,
    generation: anyGeneration,
    application_revocations: fc.nat({ max: 3 }),
    account_id: anyAccount,
    code_hash: ownHash(grant_id),
    code_expires_at: mostly(SOON + 5, anyTime),
    choice: anyChoice,
    ...brought,
    resource: anyResource,
    redirect_uri_given: fc.boolean(),
    link_id: fc.option(anyLink),
    initiator: anyInitiator,
  })).map(([code]) => [consistent(code as NewCode)]),
  cancelCode: fc.tuple(anyGrant),
  redeemCode: ofGrant((grant_id) => ({
    grant_id: fc.constant(grant_id),
    application_id: ownApplication(grant_id),
    code_hash: ownHash(grant_id),
    secret_hash: anyHash,
    ...brought,
    resources: wanted,
    disabled_generation: mostly(0, anyGeneration),
    now: anyTime,
    initiator: anyInitiator,
  })),
  findCode: fc.tuple(anyGrant),
  revokeGrant: ofGrant((grant_id) => ({
    grant_id: fc.constant(grant_id),
    application_id: fc.option(ownApplication(grant_id)),
    onlyActive: fc.boolean(),
    now: anyTime,
    initiator: anyInitiator,
  })),
  recoverGrant: ofGrant((grant_id) => ({
    grant_id: fc.constant(grant_id),
    application_id: ownApplication(grant_id),
    secret_hash: anyHash,
    redeemed_after: mostly(SOON - 1, anyTime),
    now: anyTime,
    initiator: anyInitiator,
  })),
  findGrantHistory: fc.tuple(anyGrant),
  authenticateGrant: fc.tuple(anyGrant, fc.record({ currentAccount: fc.boolean() })),
  noteUse: ofGrant((grant_id) => ({
    grant_id: fc.constant(grant_id),
    secret_hash: anyHash,
    now: anyTime,
    initiator: anyInitiator,
  })),
  listGrants: fc.tuple(
    fc.oneof(fc.record({ account_id: anyAccount }), fc.record({ application_id: anyApplication })),
    range,
  ),
  listActiveGrants: fc.tuple(
    fc.record(
      { account_id: anyAccount, application_id: anyApplication },
      { requiredKeys: ['application_id'] },
    ),
    range,
  ),
} satisfies Partial<Record<keyof Store | 'erase' | 'finishAll', fc.Arbitrary<unknown[]>>>;
type Compared = keyof typeof argumentsOf;

/** A call of the port, with numbers for ids and hashes. */
interface Call {
  method: Compared;
  args: unknown[];
}

/** How often a method is called relative to the others: more if they depend on it or race. */
const weights: Partial<Record<Compared, number>> = {
  createApplication: 3,
  addSecret: 3,
  putAccount: 5,
  createLink: 3,
  identifyLink: 6,
  decideLink: 2,
  createPage: 2,
  openPage: 2,
  returnToPage: 2,
  issueCode: 8,
  redeemCode: 8,
  noteUse: 2,
  recoverGrant: 2,
};

const call: fc.Arbitrary<Call> = fc.oneof(
  ...(Object.keys(argumentsOf) as Compared[]).map((method) => ({
    weight: weights[method] ?? 1,
    arbitrary: (argumentsOf[method] as fc.Arbitrary<unknown[]>).map((args) => ({ method, args })),
  })),
);

/** What is known after the calls so far. */
interface Model {
  /** Every state that explains all results: several if several orders of the calls do. */
  states: ModelState[];
  /** The ids of all records so far, with deleted ones: ids are never used again. */
  made: Set<number>;
}

/** One run on a database that earlier runs used. */
interface Run {
  /** Its ids differ only at the end. A UUIDv7, so newer than those of earlier runs. */
  base: string;
  handles: Store[];
}

/** Concurrent calls, on the handles in turn. */
class Batch implements fc.AsyncCommand<Model, Run> {
  readonly calls: Call[];
  constructor(calls: Call[]) {
    this.calls = calls;
  }

  check({ made }: Readonly<Model>): boolean {
    // No caller knows the id of an application before it exists. Without this, addSecret could read
    // twice, before and after its creation.
    const creates = this.calls.some(
      ({ method }) => method === 'createApplication' || method === 'putDocumented',
    );
    if (creates && this.calls.length > 1) return false;
    // Nobody knows the id of a page before it is kept. Without this, it could be read, and then be
    // dropped, since its link request was decided.
    if (this.calls.some(keepsPage) && this.calls.some(readsPage)) return false;
    // An erasure takes a link request along whose identification, or whose code, is under way; and so
    // does a put of an erased account, which completes the erasure.
    if (this.calls.some(linksAccount) && this.calls.some(endsLinks)) return false;
    // Two erasures of one account at once may share the grants, and each counts its own; so may an
    // erasure and a put, which counts none.
    const erasing = this.calls.filter(endsLinks);
    if (erasing.length > 1 && erasing.some(({ method }) => method === 'erase')) return false;
    const ids = this.calls.flatMap(idsMade);
    return new Set(ids).size === ids.length && !ids.some((id) => made.has(id));
  }

  async run(model: Model, run: Run): Promise<void> {
    const calls = this.calls.map(({ method, args }) => ({ method, args: given(args, run) }));
    const results = await Promise.all(
      calls.map(async ({ method, args }, turn) => {
        const store = run.handles[turn % run.handles.length] as Store;
        return seen(await callOf(store, method)(...args), run);
      }),
    );
    for (const id of this.calls.flatMap(idsMade)) model.made.add(id);
    const states = model.states.flatMap((state) => explanations(state, calls, results));
    expect(states, `No order of the calls explains ${JSON.stringify(results)}`).not.toEqual([]);
    model.states = different(states);
  }

  toString(): string {
    return fc.stringify(this.calls);
  }
}

type Method = (...args: never[]) => unknown;

/** Of a mark, only whether it was made, and of an erasure, whether it was done before: what is unfinished differs. */
function callOf(of: Store | ModelMethods, method: Compared): (...args: unknown[]) => unknown {
  const isModel = !('close' in of);
  const others: Partial<Record<Compared, Method>> = isModel
    ? {
        erase(erasure: Erasure) {
          const work = of.markErasure(erasure);
          void of.finishWork(work);
          return work.is_done === true;
        },
        markRevocation: (mark: RevocationMark) => of.markRevocation(mark) !== null,
        finishAll() {
          for (const work of of.listWork(1_000)) void of.finishWork(work);
        },
      }
    : {
        async erase(erasure: Erasure) {
          const work = await of.markErasure(erasure);
          await finish(of, work);
          return work.is_done === true;
        },
        markRevocation: async (mark: RevocationMark) => (await of.markRevocation(mark)) !== null,
        // It is not waited for until most members have it, so a list may not tell it yet. This look waits.
        async noteSecretUse(application: string, secret: string, at: number) {
          await of.noteSecretUse(application, secret, at);
          await of.findApplication(application);
        },
        finishAll: () => finishAll(of),
      };
  const call = others[method] ?? (of as unknown as Record<string, Method>)[method];
  return call as (...args: unknown[]) => unknown;
}

const keepsPage = ({ method }: Call) => method === 'identifyLink' || method === 'createPage';
const readsPage = ({ method }: Call) =>
  ['findPage', 'findPageAccount', 'openPage', 'returnToPage'].includes(method);
const endsLinks = ({ method }: Call) => method === 'erase' || method === 'putAccount';
// biome-ignore lint/suspicious/noExplicitAny: arguments of any method, told apart by its name
const linksAccount = ({ method, args }: { method: string; args: any[] }) =>
  keepsPage({ method, args } as Call) || (method === 'issueCode' && args[0].link_id !== null);

/** The ids of the records that a call creates. */
function idsMade({ method, args }: Call): number[] {
  const numbers = (ids: unknown[]) => ids.map((id) => (id as Id).number);
  // biome-ignore lint/suspicious/noExplicitAny: arguments of any method, told apart by its name
  const [first, second] = args as any[];
  if (method === 'createApplication') {
    return numbers([first.id, ...first.secrets.map(({ id }: { id: Id }) => id)]);
  }
  if (method === 'addSecret') return numbers([second.id]);
  if (['createLink', 'createPage', 'putDocumented'].includes(method)) return numbers([first.id]);
  if (method === 'identifyLink') return numbers([first.page.id]);
  return method === 'issueCode' ? numbers([first.grant_id]) : [];
}

/** The states after the calls, in each order in which the model returns what the store returned. */
function explanations(
  state: ModelState,
  calls: { method: Compared; args: unknown[] }[],
  results: unknown[],
): ModelState[] {
  if (calls.length === 0) return [state];
  return calls.flatMap(({ method, args }, first) => {
    const after = structuredClone(state);
    const result = callOf(modelStore(after), method)(...args);
    if (!isDeepStrictEqual(seen(result), results[first])) return [];
    return explanations(after, calls.toSpliced(first, 1), results.toSpliced(first, 1));
  });
}

function different(states: ModelState[]): ModelState[] {
  const kept: ModelState[] = [];
  for (const state of states) {
    const known = kept.some((other) => isDeepStrictEqual(comparable(other), comparable(state)));
    if (!known) kept.push(state);
  }
  return kept;
}

/** What the compared methods tell of a model. */
function comparable({ applications, accounts, links, pages, grants }: ModelState) {
  const puts = [...accounts].map(([id, { account, sign_outs }]) => ({ id, account, sign_outs }));
  return [applications, new Set(puts), links, pages, grants];
}

/** Arguments with the ids and hashes of a run. */
function given<Value>(value: Value, run: Run): Value {
  return mapped(value, (leaf) => {
    if (leaf instanceof Id) return idOf(leaf.number, run);
    if (leaf instanceof Hash) return new Uint8Array(32).fill(leaf.number);
    return undefined;
  });
}

const idOf = (number: number, { base }: Run) =>
  base.slice(0, -4) + number.toString(16).padStart(4, '0');

/** A result that can be compared: bytes as text, and only applications of the run. */
function seen(result: unknown, run?: Run): unknown {
  const own =
    run && Array.isArray(result)
      ? result.filter(({ id }) => id === undefined || id.startsWith(run.base.slice(0, -4)))
      : result;
  return mapped(own, (leaf) =>
    leaf instanceof Uint8Array ? Buffer.from(leaf).toString('hex') : undefined,
  );
}

/** A copy with the leaves that `replace` returns. */
function mapped<Value>(value: Value, replace: (leaf: unknown) => unknown): Value {
  const replaced = replace(value);
  if (replaced !== undefined) return replaced as Value;
  if (Array.isArray(value)) return value.map((item) => mapped(item, replace)) as Value;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, mapped(item, replace)]);
  return Object.fromEntries(entries) as Value;
}

/** Reads everything that can exist. */
const readAll = [0, 1].flatMap((number): Call[] => {
  const [application, owner] = [new Id(number), new Id(number + 10)];
  const all = { limit: 9, before: null };
  return [
    { method: 'findApplication', args: [application] },
    { method: 'authenticateApplication', args: [application] },
    { method: 'findAccount', args: [owner] },
    { method: 'findLink', args: [new Id(40 + number)] },
    ...[50, 52, 54].flatMap((first): Call[] => [
      { method: 'findPage', args: [new Id(first + number)] },
      { method: 'findPageAccount', args: [new Id(first + number)] },
    ]),
    ...[0, 1].map((other): Call => {
      const connection = { account_id: owner, application_id: new Id(other) };
      return { method: 'listActiveGrants', args: [connection, all] };
    }),
    { method: 'listGrants', args: [{ application_id: application }, all] },
    { method: 'listGrants', args: [{ account_id: owner }, all] },
    { method: 'listCodes', args: [owner] },
    ...[20, 22].flatMap((first): Call[] => [
      { method: 'findCode', args: [new Id(first + number)] },
      { method: 'authenticateGrant', args: [new Id(first + number), { currentAccount: true }] },
      { method: 'findGrantHistory', args: [new Id(first + number)] },
    ]),
  ];
});

export function describeModel(stores: SuiteStores): void {
  describe('any calls return what the model returns', () => {
    test.each([
      ['one after the other', 1],
      ['up to three at a time, in any order', 3],
    ])('%s', { timeout: longer(600_000, 3_600_000) }, async (_, atOnce) => {
      await stores.withFresh(async (database) => {
        const handles = [await database.open(), await database.open()];
        const batch = fc.oneof(
          call.map((alone) => [alone]),
          fc.array(call, { minLength: 1, maxLength: atOnce }),
        );
        const commands = fc.commands([batch.map((calls) => new Batch(calls))], {
          maxCommands: 100,
          size: 'max',
        });
        try {
          await fc.assert(
            fc.asyncProperty(commands, async (batches) => {
              const run = { base: v7(), handles };
              const model: Model = { states: [emptyState()], made: new Set() };
              await fc.asyncModelRun(() => ({ model, real: run }), batches);
              for (const read of readAll) await new Batch([read]).run(model, run);
            }),
            { numRuns: runsAll ? longer(20, 2_000) : 8 },
          );
        } finally {
          await Promise.all(handles.map((store) => store.close()));
        }
      });
    });
  });
}
