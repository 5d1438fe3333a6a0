import { setTimeout as sleep } from 'node:timers/promises';
import { invoke, type Json, type Request, requestOf, unwrapped, wires } from '../../http/call.ts';
import { ADA } from '../../http/linked-application.ts';
import { operator } from '../../http/running-server.ts';
import { addedTo, CALLBACK, CHALLENGE, VERIFIER } from '../../linking/link-flow.ts';
import { formTokenIn, pathOf } from '../../linking/page-flow.ts';
import type { ServerName } from '../history.ts';
import type { Random } from '../random.ts';
import type { ServerUrls } from '../recorder.ts';
import { type Reply, replyTo } from '../reply.ts';
import { type AccountName, accountNames, isDone, type LinkCall } from './calls.ts';

/** What all scenes of a run share. */
export interface Stage {
  /** Where the servers listen now. */
  urls: ServerUrls;
  now(): number;
}

type Answered = Exclude<Reply, string>;

/** A call that is still to be made. */
interface Intent
  extends Pick<LinkCall, 'operation' | 'account' | 'page' | 'session' | 'own_page' | 'credential'> {
  link?: string | null;
  request: Request;
}

interface KnownPage {
  /** The id of the call that it came with. */
  name: string;
  link: string;
  url: string;
  /** Once it was opened. */
  cookie?: string;
  session?: string | undefined;
  /** Once it was shown. */
  form_token?: string | undefined;
}

/** What mostly happens in a scene, so that each end has links that it meets. */
export type Fate = 'decided' | 'disconnected' | 'signed out' | 'disabled';

type Step = keyof typeof steps;

// How often which step is taken, of those that are possible.
const steps = {
  authorize: 0.3,
  identify: 1.5,
  'identify for a page of its own': 0.5,
  open: 8,
  show: 1.5,
  allow: 2,
  'deny on the page': 0.7,
  approve: 1,
  deny: 0.4,
  token: 3,
  use: 3,
  disconnect: 0.1,
  'end pages': 0.1,
  disable: 0.05,
  enable: 1,
};
const more: Record<Fate, Partial<Record<Step, number>>> = {
  decided: { allow: 6, approve: 4, deny: 5, 'deny on the page': 5 },
  disconnected: { allow: 5, approve: 3, disconnect: 4 },
  'signed out': { 'end pages': 3, allow: 1, approve: 0.2, 'deny on the page': 0.2, deny: 0 },
  disabled: { disable: 1, enable: 4, approve: 0.5, deny: 0.1 },
};
const fates: Record<Fate, number> = {
  decided: 3,
  disconnected: 2,
  'signed out': 2,
  disabled: 2,
};

const CUT = 0.03;
// Longer than a service tries.
const PATIENCE = 25_000;
const PAUSE_MS = 20;

/** An application with two accounts and a few links, and what is known of them. */
export class Scene {
  readonly calls: LinkCall[] = [];
  /** The links of which somebody was told a decision. */
  readonly decided = new Set<string>();
  readonly #name: string;
  readonly #stage: Stage;
  readonly #random: Random;
  readonly #fate: Fate;
  #application_id = '';
  #bearer = '';
  readonly #accounts = { ada: crypto.randomUUID(), grace: crypto.randomUUID() };
  readonly #links: { name: string; link: string }[] = [];
  readonly #pages: KnownPage[] = [];
  readonly #codes: { name: string; link: string; code: string }[] = [];
  readonly #secrets: { name: string; link: string; secret: string }[] = [];
  #made = 0;
  #patience = PATIENCE;

  constructor(name: string, stage: Stage, random: Random) {
    this.#name = name;
    this.#stage = stage;
    this.#random = random;
    this.#fate = random.weighted(fates);
  }

  /** Registers the application and the accounts, and begins a link, however often that takes. */
  async begin(): Promise<void> {
    const application = await this.#insist('admin.applications.create', {
      ...{ name: 'Acme', redirect_uris: [CALLBACK], scopes: ['profile.read'] },
    });
    this.#application_id = application.id;
    this.#bearer = `Bearer ${application.secret}`;
    for (const account_id of Object.values(this.#accounts)) {
      await this.#insist('admin.accounts.put', { account_id, ...ADA });
    }
    while (this.#links.length === 0) await this.#take('authorize', ['A', 'B']);
  }

  /** One who takes so many steps, each at one of the servers. Several at once race. */
  async act(count: number, servers: readonly ServerName[]): Promise<void> {
    for (let left = count; left > 0; left--) await this.#take(this.#pickStep(), servers);
  }

  /** With the faults over, everything that may be alive is tried, and every answer comes. */
  async look(): Promise<void> {
    this.#patience = 60_000;
    const sure = async (intent: Intent) => {
      const call = await this.#make(intent, 'A', null);
      const { error_code } = call?.answer ?? { error_code: 'no answer' };
      if (['no answer', 'store_unavailable', 'outcome_unknown'].includes(error_code ?? '')) {
        throw new Error(`The service did not answer in the end (${call?.id}: ${error_code}).`);
      }
    };
    const disconnect = async () => {
      for (const account of accountNames) await sure(this.#disconnect(account));
    };
    const redeem = async () => {
      for (const code of this.#codes) await sure(this.#token(code));
      for (const secret of this.#secrets) await sure(this.#use(secret));
    };
    const tryPages = async () => {
      for (const page of this.#pages) {
        if (page.cookie === undefined) await sure(this.#open(page));
        // The cookie may have been lost with the answer to an earlier opening.
        if (page.cookie === undefined) continue;
        await sure(this.#show(page));
        if (page.form_token !== undefined) await sure(this.#decide(page, 'allow'));
      }
    };
    const tryLinks = async () => {
      for (const { name, link } of this.#links) {
        for (const account of accountNames) await sure(this.#approve(name, link, account));
        await sure(this.#deny(name, link));
      }
    };
    // What the actors have left ends in one of three ways, or works.
    const end = this.#random.pick(['pages', 'connection', 'application', null] as const);
    if (end === 'pages') for (const account of accountNames) await sure(this.#endPages(account));
    if (end === 'connection') await disconnect();
    if (end === 'application') await sure(this.#application('disable'));
    await sure(this.#application('enable'));
    await tryPages();
    await redeem();
    await tryLinks();
    await redeem();
    await disconnect();
    await redeem();
  }

  async #insist(name: Parameters<typeof invoke>[2], input: Json): Promise<Json> {
    for (;;) {
      const url = this.#stage.urls[this.#random.pick(['A', 'B'] as const)];
      const answer = await invoke({ url }, 'REST', name, input, operator).catch(() => undefined);
      if (answer?.status === 200) return answer.body;
      await sleep(PAUSE_MS);
    }
  }

  #pickStep(): Step {
    const [hasPage, isOpened, hasForm] = [
      this.#pages.some(({ cookie }) => cookie === undefined),
      this.#pages.some(({ cookie }) => cookie !== undefined),
      this.#pages.some(({ form_token }) => form_token !== undefined),
    ];
    const possible: Partial<Record<Step, boolean>> = {
      open: hasPage,
      show: isOpened,
      allow: hasForm,
      'deny on the page': hasForm,
      token: this.#codes.length > 0,
      use: this.#secrets.length > 0,
    };
    const weights = { ...steps, ...more[this.#fate] };
    for (const step of Object.keys(weights) as Step[]) {
      if (possible[step] === false) weights[step] = 0;
    }
    return this.#random.weighted(weights);
  }

  async #take(step: Step, servers: readonly ServerName[]): Promise<void> {
    const server = this.#random.pick(servers);
    const cutAfter = this.#random.chance(CUT) ? this.#random.integer(4) : null;
    const call = await this.#make(this.#intent(step), server, cutAfter);
    const page = this.#pages.find(({ name }) => name === call?.page);
    if (step === 'open' && page?.cookie) await this.#make(this.#show(page), server, null);
    if (call === undefined || call.answer?.error_code === 'store_unavailable')
      await sleep(PAUSE_MS);
  }

  #intent(step: Step): Intent {
    const account = this.#random.chance(0.7) ? 'ada' : 'grace';
    // The latest ones, mostly: those that can still be decided.
    const one = <T>(list: readonly T[]): T =>
      this.#random.chance(0.6) ? (list.at(-1) as T) : this.#random.pick(list);
    if (step === 'authorize') return this.#authorize();
    if (step === 'disconnect') return this.#disconnect(account);
    if (step === 'end pages') return this.#endPages(account);
    if (step === 'disable' || step === 'enable') return this.#application(step);
    if (step === 'open') return this.#open(one(this.#pages.filter(({ cookie }) => !cookie)));
    if (step === 'show') return this.#show(one(this.#pages.filter(({ cookie }) => cookie)));
    if (step === 'allow' || step === 'deny on the page') {
      const page = one(this.#pages.filter(({ form_token }) => form_token));
      return this.#decide(page, step === 'allow' ? 'allow' : 'deny');
    }
    if (step === 'token') return this.#token(one(this.#codes));
    if (step === 'use') return this.#use(one(this.#secrets));
    const { name, link } = one(this.#links);
    if (step === 'approve') return this.#approve(name, link, account);
    if (step === 'deny') return this.#deny(name, link);
    const own_page = step !== 'identify';
    const input = { link, account_id: this.#accounts[account], ...(own_page && { own_page }) };
    return {
      ...{ operation: 'identify', link: name, account },
      ...(own_page && { own_page }),
      request: this.#asked('admin.links.identify', input),
    };
  }

  #asked(
    name: Parameters<typeof requestOf>[1],
    input: Record<string, unknown>,
    authorization = operator,
  ): Request {
    return { ...requestOf(this.#random.pick(wires), name, input), authorization };
  }

  #authorize(): Intent {
    const query = new URLSearchParams({
      ...{ client_id: this.#application_id, redirect_uri: CALLBACK, response_type: 'code' },
      ...{ scope: 'profile.read', state: 'a-state' },
      ...{ code_challenge: CHALLENGE, code_challenge_method: 'S256' },
    });
    const request = { method: 'GET', path: `/oauth/authorize?${query}` };
    return { operation: 'authorize', link: `${this.#name}/${this.#made + 1}`, request };
  }

  #application(operation: 'disable' | 'enable'): Intent {
    const input = { application_id: this.#application_id };
    return { operation, request: this.#asked(`admin.applications.${operation}`, input) };
  }

  #disconnect(account: AccountName): Intent {
    const ids = { account_id: this.#accounts[account], application_id: this.#application_id };
    const request = this.#asked('admin.connections.revoke', ids);
    return { operation: 'disconnect', account, request };
  }

  #endPages(account: AccountName): Intent {
    const request = this.#asked('admin.pages.end', { account_id: this.#accounts[account] });
    return { operation: 'end pages', account, request };
  }

  #approve(name: string, link: string, account: AccountName): Intent {
    const request = this.#asked('admin.links.approve', {
      ...{ link, account_id: this.#accounts[account] },
    });
    return { operation: 'approve', link: name, account, request };
  }

  #deny(name: string, link: string): Intent {
    return { operation: 'deny', link: name, request: this.#asked('admin.links.deny', { link }) };
  }

  #open({ name, link, url }: KnownPage): Intent {
    return { operation: 'open', link, page: name, request: { method: 'GET', path: pathOf(url) } };
  }

  #show({ name, link, url, cookie = '', session }: KnownPage): Intent {
    const [path = ''] = pathOf(url).split('?');
    return {
      operation: 'show',
      link,
      ...{ page: name, session },
      request: { method: 'GET', path, headers: { cookie } },
    };
  }

  #decide(
    { name, link, url, cookie = '', session, form_token = '' }: KnownPage,
    decision: 'allow' | 'deny',
  ): Intent {
    const [path = ''] = pathOf(url).split('?');
    const headers = { cookie, 'content-type': 'application/x-www-form-urlencoded' };
    const body = new URLSearchParams({ form_token, decision }).toString();
    const operation = decision === 'allow' ? 'approve' : 'deny';
    const request = { method: 'POST', path, headers, body };
    return { operation, link, page: name, session, request };
  }

  #token({ name, link, code }: { name: string; link: string; code: string }): Intent {
    const input = { code, redirect_uri: CALLBACK, code_verifier: VERIFIER };
    const request = this.#asked('grants.convert', input, this.#bearer);
    return { operation: 'token', link, credential: name, request };
  }

  #use({ name, link, secret }: { name: string; link: string; secret: string }): Intent {
    const request = this.#asked('account.get', {}, `Bearer ${secret}`);
    return { operation: 'use', link, credential: name, request };
  }

  /** @returns undefined if nobody listens there, so that nothing was sent */
  async #make(
    { request, link = null, ...intent }: Intent,
    server: ServerName,
    cutAfter: number | null,
  ): Promise<LinkCall | undefined> {
    const id = `${this.#name}/${++this.#made}`;
    const start = this.#stage.now();
    const url = this.#stage.urls[server];
    const reply = await replyTo(url, request, { cutAfter, patience: this.#patience });
    if (reply === 'refused') return undefined;
    const call: LinkCall = {
      ...{ id, scene: this.#name, link, ...intent, server, start },
      ...(reply === 'lost'
        ? { end: null, answer: null }
        : { end: this.#stage.now(), answer: errorIn(reply) }),
    };
    this.calls.push(call);
    if (reply !== 'lost' && isDone(call)) this.#learn(call, reply, request);
    return call;
  }

  #learn(call: LinkCall, reply: Answered, request: Request): void {
    const { operation, id } = call;
    const link = call.link ?? '';
    const body = reply.json === undefined ? {} : unwrapped(wireOf(request), reply.json);
    const page = this.#pages.find(({ name }) => name === call.page);
    if (operation === 'authorize') {
      const credential = new URL(reply.headers.location ?? '').searchParams.get('link') ?? '';
      this.#links.push({ name: link, link: credential });
    } else if (operation === 'identify' && !call.own_page) {
      this.#pages.push({ name: id, link, url: body.redirect_to });
    } else if (operation === 'open' && page) {
      const [cookie = ''] = (reply.headers['set-cookie']?.[0] ?? '').split(';');
      Object.assign(page, { cookie, session: id });
    } else if (operation === 'show' && page) {
      // The end of a link has no form.
      page.form_token = formTokenIn(reply.text) || page.form_token;
    } else if (operation === 'approve' && call.answer) {
      const { code } = addedTo(`${CALLBACK}&`, body.redirect_to ?? reply.headers.location);
      const known = this.#codes.find((one) => one.code === code);
      if (!known) this.#codes.push({ name: `code of ${id}`, link, code });
      call.answer.code = known?.name ?? `code of ${id}`;
    } else if (operation === 'token') {
      this.#secrets.push({ name: id, link, secret: body.grant_secret });
    }
    if (operation === 'approve' || operation === 'deny') this.decided.add(link);
  }
}

const wireOf = ({ path }: Request) => (path.startsWith('/trpc') ? 'tRPC' : 'REST');

/** The error code of a response, as JSON or on a page. */
function errorIn({ status, text, json }: Answered): { error_code?: string } {
  if (status === 200 || status === 303) return {};
  const [, onPage] = /<dd>(?:<a [^>]*>)?([a-z_]+)</.exec(text) ?? [];
  const body = json?.error?.data ?? json;
  return { error_code: body?.error_code ?? onPage ?? `status ${status}` };
}
