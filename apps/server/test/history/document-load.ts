import { setTimeout as sleep } from 'node:timers/promises';
import { invoke, type Request, requestOf, unwrapped } from '../http/call.ts';
import { operator } from '../http/running-server.ts';
import { CALLBACK, CHALLENGE } from '../linking/link-flow.ts';
import type { Call, ServerName } from './history.ts';
import { isDone, isRefused } from './outcomes.ts';
import type { Random } from './random.ts';
import type { ServerUrls } from './recorder.ts';
import { replyTo } from './reply.ts';

/** The addresses of the load are at another host, so only a pin admits them. */
export const DOCUMENTS = { CLIENT_DOCUMENTS: 'admitted.example' };

// At most, of each pause.
const PAUSE_MS = 20;
const CHANGES = 6;
const LINKS_AFTER_THE_END = 3;
const CUT = 0.1;
const PATIENCE_MS = 4_000;

const ERRORS_ON_PAGES =
  /client_unknown|client_document_unavailable|client_document_invalid|store_unavailable|outcome_unknown/;

type Operation = 'pin' | 'unpin' | 'begin_link';
type Made = Pick<Call, 'id' | 'grant' | 'operation' | 'server' | 'wire'>;

// Nobody listens there, where a link looks whose pin has just gone.
const addressOf = (name: string) => `https://localhost:1/${name}`;

/** Pins, replaces and unpins client documents, and begins links with them on both servers meanwhile. */
export class DocumentLoad {
  readonly calls: Call[] = [];
  readonly #names: string[] = [];
  readonly #urls: () => ServerUrls;
  readonly #now: () => number;
  #life = Promise.resolve();
  #made = 0;
  #isOver = false;

  constructor(urls: () => ServerUrls, now: () => number) {
    this.#urls = urls;
    this.#now = now;
  }

  begin(random: Random): void {
    const liveOn = async () => {
      while (!this.#isOver) await this.#live(random);
    };
    this.#life = liveOn();
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#life;
  }

  /** Begins one more link with each document, when there are no faults any more. */
  async readAll(): Promise<void> {
    for (const name of this.#names) {
      const begun = await this.#call(name, 'begin_link', 'A', 'REST', null);
      if (begun?.answer == null) throw new Error(`The service did not answer (${name}).`);
    }
  }

  async #live(random: Random): Promise<void> {
    const name = `d${this.#names.length + 1}`;
    this.#names.push(name);
    const ask = (operation: Operation) => {
      const cutAfter = random.chance(CUT) ? random.integer(PAUSE_MS) : null;
      const wire = operation === 'begin_link' ? 'REST' : random.pick(['REST', 'tRPC'] as const);
      return this.#call(name, operation, random.pick(['A', 'B']), wire, cutAfter);
    };
    let isOver = false;
    const link = async () => {
      for (let after = 0; after < LINKS_AFTER_THE_END && !this.#isOver; after += +isOver) {
        await ask('begin_link');
        await sleep(random.integer(PAUSE_MS));
      }
    };
    const change = async () => {
      for (let made = 0; made < CHANGES && !this.#isOver; made += 1) {
        await ask(random.weighted({ pin: 2, unpin: 1 }));
        await sleep(random.integer(PAUSE_MS));
      }
      // Or there would be more pins than there may be.
      while (!isOver && !this.#isOver) {
        const call = await ask('unpin');
        isOver = call !== null && (isDone(call) || isRefused(call, 'document_not_found'));
        if (!isOver) await sleep(PAUSE_MS);
      }
    };
    await Promise.all([link(), link(), change()]);
  }

  /** Null where nobody listens at that server, so that nothing was sent. */
  async #call(
    name: string,
    operation: Operation,
    server: ServerName,
    wire: 'REST' | 'tRPC',
    cutAfter: number | null,
  ): Promise<Call | null> {
    const made: Made = { id: `documents/${++this.#made}`, operation, grant: name, server, wire };
    const start = this.#now();
    const options = { cutAfter, patience: PATIENCE_MS };
    const reply = await replyTo(this.#urls()[server], requestFor(made), options);
    if (reply === 'refused') return null;
    const end = this.#now();
    const lost = { end: null, answer: null };
    const answered = async (): Promise<Pick<Call, 'end' | 'answer'>> => {
      if (reply === 'lost') return lost;
      const { status, headers, text, json } = reply;
      if (operation !== 'begin_link') {
        const { error_code } = unwrapped(wire, json);
        return { end, answer: { status, ...(error_code && { error_code }) } };
      }
      const link = URL.parse(headers.location ?? '')?.searchParams.get('link');
      if (link) {
        const document = await this.#documentOf(link, server);
        return document === null ? lost : { end, answer: { status: 200, shown: document } };
      }
      const [error_code] = ERRORS_ON_PAGES.exec(text) ?? [];
      return { end, answer: { status, ...(error_code && { error_code }) } };
    };
    const call = { ...made, start, ...(await answered()) };
    this.calls.push(call);
    return call;
  }

  /** The pin that a link shows, by its call. A link keeps its document, so it may be read later. */
  async #documentOf(link: string, server: ServerName): Promise<string | null> {
    const url = this.#urls()[server];
    const read = await invoke({ url }, 'REST', 'admin.links.read', { link }, operator).catch(
      () => null,
    );
    return read?.status === 200 ? read.body.application.name : null;
  }
}

function requestFor({ id, operation, grant, wire }: Made): Request {
  const document_uri = addressOf(grant);
  if (operation === 'begin_link') {
    const query = new URLSearchParams({
      ...{ client_id: document_uri, redirect_uri: CALLBACK, response_type: 'code' },
      ...{ scope: 'profile.read', code_challenge: CHALLENGE, code_challenge_method: 'S256' },
    });
    return { method: 'GET', path: `/oauth/authorize?${query}` };
  }
  const document = { client_id: document_uri, client_name: id, redirect_uris: [CALLBACK] };
  const request =
    operation === 'pin'
      ? requestOf(wire as 'REST' | 'tRPC', 'admin.documents.pin', { document_uri, document })
      : requestOf(wire as 'REST' | 'tRPC', 'admin.documents.unpin', { document_uri });
  return { ...request, authorization: operator };
}
