import type { OperationName } from '@latchkey/schema';
import { type Json, type Request, requestOf, unwrapped } from '../http/call.ts';
import { FORM_TYPE } from '../http/forms.ts';
import { operator } from '../http/running-server.ts';
import type { Intent, KnownGrant } from './generator.ts';
import { type Answer, type Call, createStopwatch, type ServerName } from './history.ts';
import { replyTo } from './reply.ts';

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
  #made = 0;

  constructor(options: {
    process: string;
    start: bigint;
    bearers: readonly [string, string];
    urls: ServerUrls;
    /** Milliseconds until an answer is given up as lost. */
    patience?: number;
  }) {
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
    const body = answered && reply.json !== undefined ? grantIn(wire, reply.json) : {};
    const call: Call = {
      ...{ id, operation, grant: grant.name, server, wire, start },
      ...(operation === 'authenticate' ? secret && { secret: secret.id } : { application }),
      ...(mistaken && { mistaken }),
      end: answered ? this.#now() : null,
      answer: answered ? this.#answer(reply.status, body) : null,
    };
    this.calls.push(call);
    return { call, ...(body.grant_secret !== undefined && { secret: body.grant_secret }) };
  }

  #authorize({ operation, grant, application, secret, wire }: Intent): string {
    if (operation === 'erase' || operation === 'disconnect') return operator;
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
  const { code, proof, grant_id, account_id, application_id } = grant;
  if (operation === 'authenticate') return [turn % 2 ? 'account.get' : 'account.grant', {}];
  if (operation === 'erase') return ['admin.accounts.erase', { account_id }];
  if (operation === 'disconnect') {
    return ['admin.connections.revoke', { account_id, application_id }];
  }
  if (operation === 'convert') {
    const verifier = mistaken ? { code_verifier: OTHER_VERIFIER } : {};
    return ['grants.convert', { code, ...proof, ...verifier }];
  }
  return [operation === 'recover' ? 'grants.recover' : 'grants.revoke', { grant_id }];
}
