import type { GrantDescription, OperationName } from '@latchkey/schema';
import { GrantRequiredError } from '../../../../packages/client/src/guards/grant-required-error.ts';
import { requireGrant } from '../../../../packages/client/src/guards/require-grant.ts';
import { type Json, type Request, requestOf, unwrapped } from '../http/call.ts';
import { FORM_TYPE } from '../http/forms.ts';
import { operator } from '../http/running-server.ts';
import type { Intent, KnownGrant } from './generator.ts';
import { type Answer, type Call, createStopwatch, type ServerName } from './history.ts';
import { replyTo } from './reply.ts';

/** The resources that codes are for, and none. */
export const RESOURCES = ['https://notes.example/mcp', 'https://files.example'] as const;

const otherThan = (resource: string | null) =>
  RESOURCES.find((other) => other !== resource) as string;

export type GuardKind = 'sound' | 'takes-any-resource';

/** Where the servers listen now. */
export type ServerUrls = Record<ServerName, string>;

// Longer than a server waits for a lock or for a database that comes back, and than a pause of it:
// what is given up after that is an answer that got lost.
const PATIENCE = 4_000;

/** Makes calls and writes down what came of them. One for each process that calls. */
export class Recorder {
  readonly calls: Call[] = [];
  urls: ServerUrls;
  readonly #process: string;
  readonly #now: () => number;
  /** The Authorization headers of the two applications. */
  readonly #bearers: readonly [string, string];
  readonly #names = new Map<string, string>();
  readonly #patience: number;
  readonly #guard: GuardKind;
  #made = 0;

  constructor(options: {
    process: string;
    start: bigint;
    bearers: readonly [string, string];
    urls: ServerUrls;
    /** Milliseconds until an answer is given up as lost. */
    patience?: number;
    guard?: GuardKind | undefined;
  }) {
    this.#guard = options.guard ?? 'sound';
    this.#patience = options.patience ?? PATIENCE;
    this.#process = options.process;
    this.#now = createStopwatch(options.start);
    this.#bearers = options.bearers;
    this.urls = options.urls;
  }

  /** So that a grant's id in an answer can be told from any other's. */
  learnGrant({ grant_id, name }: KnownGrant): void {
    this.#names.set(grant_id, name);
  }

  /**
   * Makes a call.
   *
   * @returns the call, and the secret in its answer; undefined where nobody listens at that server,
   *   so that nothing was sent
   */
  async make(intent: Intent): Promise<{ call: Call; secret?: string } | undefined> {
    const { grant, operation, application, mistaken, secret, server, wire, cutAfter } = intent;
    const id = `${this.#process}/${++this.#made}`;
    const [name, input] = operationOf(intent, this.#made);
    const request = wire === 'form' ? tokenRequestOf(input) : requestOf(wire, name, input);
    const authorization = this.#authorize(intent);

    const start = this.#now();
    const reply = await replyTo(
      this.urls[server],
      { ...request, authorization },
      { cutAfter, patience: this.#patience },
    );
    if (reply === 'refused') return undefined;
    const answered = reply !== 'lost';
    const told = answered && reply.json !== undefined ? grantIn(wire, reply.json) : {};
    const status = answered ? reply.status : 0;
    const isRefused =
      status === 200 && name === 'account.grant' && !(await this.#passes(intent, told));
    const body = isRefused ? { error_code: 'credentials_invalid' } : told;
    const call: Call = {
      ...{ id, operation, grant: grant.name, server, wire, start },
      ...(operation === 'authenticate' ? secret && { secret: secret.id } : { application }),
      ...(mistaken && { mistaken }),
      ...(operation === 'end_all' && grant.account && { account: grant.account }),
      end: answered ? this.#now() : null,
      answer: answered ? this.#answer(isRefused ? 401 : status, body) : null,
    };
    this.calls.push(call);
    return { call, ...(body.grant_secret !== undefined && { secret: body.grant_secret }) };
  }

  /** Asks a guard of the SDK, that of the grant's own resource unless the intent is mistaken. */
  async #passes({ grant, mistaken, secret }: Intent, told: GrantDescription): Promise<boolean> {
    if (this.#guard === 'takes-any-resource') return true;
    const resource = mistaken ? otherThan(grant.resource) : grant.resource;
    const options = { latchkey: { grant: async () => told }, ...(resource && { resource }) };
    const headers = { authorization: `Bearer ${secret?.secret}` };
    return requireGrant({ headers }, options).then(
      () => true,
      (error: unknown) => {
        if (error instanceof GrantRequiredError) return false;
        throw error;
      },
    );
  }

  #authorize({ operation, grant, application, secret, wire }: Intent): string {
    if (['erase', 'disconnect', 'end_all'].includes(operation)) return operator;
    if (secret === undefined) {
      return this.#bearers[application === 'own' ? grant.owner : 1 - grant.owner] as string;
    }
    return wire === 'REST'
      ? `Basic ${btoa(`${grant.grant_id}:${secret.secret}`)}`
      : `Bearer ${secret.secret}`;
  }

  #answer(status: number, { error_code, grant_id, created_at }: Json): Answer {
    return {
      status,
      ...(error_code !== undefined && { error_code }),
      ...(grant_id !== undefined && { grant: this.#names.get(grant_id) ?? null }),
      ...(created_at !== undefined && { created_at }),
    };
  }
}

// Well formed, and the verifier of no code.
const OTHER_VERIFIER = 'x'.repeat(43);

/** The same conversion as a form to `/oauth/token`. */
function tokenRequestOf(input: Record<string, unknown>): Request {
  const fields = { grant_type: 'authorization_code', ...(input as Record<string, string>) };
  const body = new URLSearchParams(fields).toString();
  return { method: 'POST', path: '/oauth/token', headers: FORM_TYPE, body };
}

/** The object of `docs/protocol/operations.md#objects` in an answer. */
function grantIn(wire: Call['wire'], json: Json): Json {
  if (wire !== 'form') return unwrapped(wire, json);
  return json.grant ?? json;
}

/** @param turn - the two operations of a grant are used in turn */
function operationOf(
  { operation, mistaken, grant }: Intent,
  turn: number,
): [OperationName, Record<string, unknown>] {
  const { code, proof, grant_id, account_id, application_id, resource } = grant;
  if (operation === 'authenticate') {
    // Only a grant of no resource is good for the other one.
    const isForAll = resource === null && !mistaken;
    return [isForAll && turn % 2 ? 'account.get' : 'account.grant', {}];
  }
  if (operation === 'erase') return ['admin.accounts.erase', { account_id }];
  if (operation === 'end_all') return ['admin.grants.revokeAll', { account_id }];
  if (operation === 'disconnect') {
    return ['admin.connections.revoke', { account_id, application_id }];
  }
  if (operation === 'convert') {
    const verifier = mistaken === 'verifier' ? { code_verifier: OTHER_VERIFIER } : {};
    const named = mistaken === 'resource' ? otherThan(resource) : turn % 2 ? resource : null;
    return ['grants.convert', { code, ...proof, ...verifier, ...(named && { resource: named }) }];
  }
  return [operation === 'recover' ? 'grants.recover' : 'grants.revoke', { grant_id }];
}
