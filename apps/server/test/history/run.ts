import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Milliseconds } from '@latchkey/domain/clock';
import { challengeOf } from '@latchkey/rules/grants/code-binding';
import type { OperationName } from '@latchkey/schema';
import { onTestFinished } from 'vitest';
import { invoke, succeed } from '../http/call.ts';
import { ADA, type LinkedApplication, linkedApplication } from '../http/linked-application.ts';
import { EVENTS, operator } from '../http/running-server.ts';
import { ServerProcess } from '../http/served-process.ts';
import { LINKING } from '../linking/link-flow.ts';
import { Client, type ToClient } from './client.ts';
import { DOCUMENTS, DocumentLoad } from './document-load.ts';
import { fates, type KnownGrant, type KnownSecret } from './generator.ts';
import { type Call, createStopwatch, type History, type ServerName } from './history.ts';
import { KeyLoad } from './key-load.ts';
import { Listener } from './listener.ts';
import type { Load } from './load.ts';
import { type DatabaseFaults, type Fault, planFaults, strike } from './nemesis.ts';
import { createRandom } from './random.ts';
import { readAll } from './reader.ts';
import { RecordLoad } from './record-load.ts';
import { type GuardKind, RESOURCES, Recorder } from './recorder.ts';

/** A load, and what goes wrong during it. */
export interface RunOptions {
  /** Decides which codes there are, what each client does next, and which faults come when. */
  seed: number;
  databaseUrl: string;
  /** Codes to be issued. */
  codes: number;
  faults: number;
  /** What can go wrong with the database. */
  databaseFaults?: DatabaseFaults;
  /** A program that serves in place of the service's own command, settings for it, and how fast the clock of B is. */
  server?: { script: string; environment: NodeJS.ProcessEnv; ahead?: Milliseconds };
  /** What the servers of the resources take. Default: what they should. */
  guard?: GuardKind;
}

const CLIENTS = 3;
const WORKERS = 3;
// So many that each code is converted, replayed, used and ended; so few that the next code comes
// while the last is still being raced for.
const CALLS_A_CODE = 24;

// Codes that are bound to a redirect URI and a challenge. The others are bound to nothing.
const BOUND = 0.5;
const CALLBACK = 'https://app.example/callback';
const newVerifier = () => randomBytes(32).toString('base64url');

const DRIVER_STREAM = 0;
const FAULT_STREAM = 1;
const FIRST_CLIENT_STREAM = 2;
const LISTENER_STREAM = FIRST_CLIENT_STREAM + CLIENTS;
const FIRST_LOAD_STREAM = LISTENER_STREAM + 1;

export interface RunResult {
  history: History;
  /** What the servers logged, from warnings on. */
  log: string;
}

/**
 * Runs a load against two servers on one database, to its end. All processes are gone when the test
 * is, also one that failed or took too long.
 */
export async function runLoad(options: RunOptions): Promise<RunResult> {
  const run = new Run(options);
  onTestFinished(() => run.killAll());
  return { history: await run.toItsEnd(), log: run.log };
}

class Run {
  readonly #options: RunOptions;
  readonly #start = process.hrtime.bigint();
  readonly #now = createStopwatch(this.#start);
  readonly #servers: ServerProcess[] = [];
  readonly #clients: Client[] = [];
  readonly #grants: KnownGrant[] = [];
  readonly #secrets: KnownSecret[] = [];
  readonly #issues: Call[] = [];
  /** Of each application, the account of the codes of fate `marked`. */
  readonly #marked = [randomUUID(), randomUUID()] as const;
  #loads: readonly Load[] = [];
  #listener: Listener | undefined;
  /** Calls that the clients have made. */
  #made = 0;
  #lostClient: Error | undefined;
  /** The fault under way. */
  #striking = Promise.resolve();

  constructor(options: RunOptions) {
    this.#options = options;
  }

  async toItsEnd(): Promise<History> {
    const { ahead = 0 } = this.#options.server ?? {};
    const [a, b] = await Promise.all([this.#startServer(0), this.#startServer(ahead)]);
    const servers = { A: a, B: b };
    const applications: [LinkedApplication, LinkedApplication] = [
      await linkedApplication(a),
      await linkedApplication(b),
    ];
    const bearers = [applications[0].bearer, applications[1].bearer] as const;
    for (const resource of RESOURCES) {
      await succeed(a, 'admin.resources.create', { resource, name: 'A server' }, operator);
    }

    const described = { scope: 'profile.read', title: 'Read your profile' };
    await succeed(a, 'admin.scopes.put', described, operator);

    const { seed } = this.#options;
    const hearing = createRandom(seed, LISTENER_STREAM);
    const listener = await Listener.start(a, hearing, this.#now);
    this.#listener = listener;
    this.#startClients(servers, bearers);
    const urls = () => urlsOf(servers);
    const records = new RecordLoad(urls, this.#now);
    const loads = [new KeyLoad(urls, this.#now), new DocumentLoad(urls, this.#now), records];
    this.#loads = loads;
    let stream = FIRST_LOAD_STREAM;
    for (const load of loads) load.begin(() => createRandom(seed, stream++));
    for (const account_id of this.#marked) {
      await succeed(a, 'admin.accounts.put', { account_id, ...ADA }, operator);
    }
    await this.#load(servers, applications);
    await Promise.all(loads.map((load) => load.stop()));
    const seen = await Promise.all(this.#clients.map((client) => client.stop()));
    await Promise.all(this.#clients.map((client) => client.end()));

    // What is still under way where nobody waits for it gets to its end before anybody looks.
    await Promise.all([a.stop(), b.stop()]);
    await a.restart();
    // There are no faults any more, so every answer comes.
    const patience = 60_000;
    const reader = new Recorder({
      process: 'reader',
      start: this.#start,
      bearers,
      urls: { A: a.url, B: a.url },
      patience,
      guard: this.#options.guard,
    });
    for (const grant of this.#grants) reader.learnGrant(grant);
    const finds = await readAll(reader, this.#now, {
      grants: this.#grants,
      secrets: this.#secrets,
      application_ids: applications.map(({ application_id }) => application_id),
    });
    for (const load of loads) await load.readAll();
    const names = [
      ...this.#grants.map(({ grant_id, name }) => [grant_id, name] as const),
      ...records.known.map(({ id, name }) => [id, name] as const),
    ];
    const heard = await listener.hearAll(a, new Map(names));
    await a.stop();
    const others = [...loads.map((load) => load.calls), heard].flat();
    const calls = [this.#issues, seen.flat(), finds, reader.calls, others].flat();
    return calls.sort((one, other) => one.start - other.start);
  }

  get log(): string {
    return this.#servers.map((server) => server.log).join('');
  }

  async killAll(): Promise<void> {
    for (const load of this.#loads) void load.stop();
    for (const client of this.#clients) client.kill();
    // Or a server would be started after the others were killed.
    await this.#striking.catch(() => undefined);
    await Promise.all(this.#servers.map((server) => server.kill()));
    await this.#listener?.close();
  }

  async #startServer(ahead: Milliseconds): Promise<ServerProcess> {
    const { databaseUrl, server: { script, environment } = {} } = this.#options;
    const clock = script && { CLOCK_AHEAD: String(ahead) };
    const settings = {
      LOG_LEVEL: 'warn',
      ...clock,
      ...EVENTS,
      ...LINKING,
      ...DOCUMENTS,
      ...environment,
    };
    const server = await ServerProcess.start(databaseUrl, { script, environment: settings });
    this.#servers.push(server);
    return server;
  }

  #startClients(
    servers: Record<ServerName, ServerProcess>,
    bearers: readonly [string, string],
  ): void {
    for (let index = 0; index < CLIENTS; index++) {
      const plan = {
        ...{ name: `client-${index + 1}`, seed: this.#options.seed, bearers, workers: WORKERS },
        ...{ stream: FIRST_CLIENT_STREAM + index, start: this.#start, urls: urlsOf(servers) },
        guard: this.#options.guard,
      };
      const client = new Client(plan, (message) => {
        if ('made' in message) {
          this.#made += message.made;
          return;
        }
        this.#secrets.push(message.secret);
        for (const other of this.#clients) if (other !== client) other.tell(message);
      });
      void client.ended.then((error) => {
        this.#lostClient = error;
      });
      this.#clients.push(client);
    }
  }

  /** Issues the codes, and lets the faults happen, evenly among them. */
  async #load(
    servers: Record<ServerName, ServerProcess>,
    applications: readonly [LinkedApplication, LinkedApplication],
  ): Promise<void> {
    const { seed, codes, faults: count, databaseFaults = {} } = this.#options;
    const random = createRandom(seed, DRIVER_STREAM);
    const faults = planFaults(createRandom(seed, FAULT_STREAM), count, Object.keys(databaseFaults));
    const codesAFault = Math.floor(codes / (faults.length + 1));
    const begin = async (fault: Fault) => {
      await strike(fault, servers, databaseFaults);
      this.#tellAll({ urls: urlsOf(servers) });
    };

    for (let index = 1; index <= codes; index++) {
      const owner = random.pick([0, 1] as const);
      const fate = random.weighted(fates);
      const server = random.pick(['A', 'B'] as const);
      const proof = random.chance(BOUND)
        ? { redirect_uri: CALLBACK, code_verifier: newVerifier() }
        : null;
      const resource = random.pick([null, ...RESOURCES]);
      const application = applications[owner];
      const account = fate === 'marked' ? `m${owner}` : undefined;
      const code = { name: `g${index}`, fate, proof, resource, account, owner };
      const grant = { ...(await this.#issue(servers, server, application, code)), ...code };
      this.#grants.push(grant);
      this.#tellAll({ grant });

      const fault = index % codesAFault === 0 ? faults[index / codesAFault - 1] : undefined;
      if (fault) {
        // One at a time: two servers that are both away prove nothing.
        await this.#striking;
        this.#striking = begin(fault);
        this.#striking.catch(() => undefined);
      }
      while (this.#made < index * CALLS_A_CODE) {
        if (this.#lostClient) throw this.#lostClient;
        await sleep(1);
      }
    }
    await this.#striking;
  }

  /** Issues a code. Where the answer is lost, or none is given, nobody knows it, and another is. */
  async #issue(
    servers: Record<ServerName, ServerProcess>,
    first: ServerName,
    { application_id, account_id }: LinkedApplication,
    {
      name,
      fate,
      proof,
      resource,
      account,
      owner,
    }: Omit<KnownGrant, 'grant_id' | 'account_id' | 'application_id' | 'code'>,
  ): Promise<Pick<KnownGrant, 'grant_id' | 'account_id' | 'application_id' | 'code'>> {
    const hasOwnAccount = fate === 'erased' || fate === 'disconnected';
    const common = account === undefined ? account_id : this.#marked[owner];
    const about = hasOwnAccount ? randomUUID() : common;
    const binding = proof && {
      redirect_uri: proof.redirect_uri,
      code_challenge: challengeOf(proof.code_verifier),
    };
    const input = {
      application_id,
      account_id: about,
      scope: 'profile.read',
      ...binding,
      ...(resource && { resource }),
    };
    const put = { account_id: about, ...ADA };
    for (let server = first; ; server = server === 'A' ? 'B' : 'A') {
      const start = this.#now();
      const ask = (operation: OperationName, members: Record<string, unknown>) =>
        invoke(servers[server], 'REST', operation, members, operator)
          // Its server is away just now.
          .catch(() => undefined);
      if (hasOwnAccount) await ask('admin.accounts.put', put);
      const answer = await ask('admin.codes.issue', input);
      if (answer?.status === 200) {
        const { grant_id, code } = answer.body;
        this.#issues.push({
          ...{ id: `issue/${name}`, operation: 'issue', grant: name, server, wire: 'REST' },
          ...{ start, end: this.#now(), answer: { status: 200, grant: name } },
          ...(account !== undefined && { account }),
        });
        return { grant_id, account_id: about, application_id, code };
      }
      await sleep(20);
    }
  }

  #tellAll(message: ToClient): void {
    for (const client of this.#clients) client.tell(message);
  }
}

function urlsOf({ A, B }: Record<ServerName, ServerProcess>): Record<ServerName, string> {
  return { A: A.url, B: B.url };
}
