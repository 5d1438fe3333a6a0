import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { succeed } from '../../http/call.ts';
import { operator } from '../../http/running-server.ts';
import { type ServerOptions, ServerProcess } from '../../http/served-process.ts';
import { LINKING } from '../../linking/link-flow.ts';
import { createStopwatch, type ServerName } from '../history.ts';
import { createRandom, type Random } from '../random.ts';
import type { LinkCall } from './calls.ts';
import { Scene, type Stage } from './scene.ts';

type Servers = Record<ServerName, ServerProcess>;

/** Makes something go wrong, and repairs it. */
export type Harm = (servers: Servers, random: Random) => Promise<void>;

export interface LinksOptions {
  /** Decides what happens in each scene, and when. */
  seed: number;
  databaseUrl: string;
  /** So many links are decided at least. */
  decisions: number;
  /** What goes wrong, and how often at least. */
  harm?: { strike: Harm; times: number };
  /** How the two servers are started. */
  servers?: Record<ServerName, ServerOptions>;
}

const SCENES_AT_ONCE = 4;
/** The servers of each actor. One who keeps to a server goes on while others wait for the other one. */
const ACTORS: readonly (readonly ServerName[])[] = [['A'], ['B'], ['A', 'B']];
const STEPS = 9;
const LONGEST_PAUSE_MS = 400;
/** With fewer, a run is spent waiting for members that start. */
const DECISIONS_BETWEEN_FAULTS = 8;
const PAUSE_MS = 20;
const FAULT_STREAM = 0;

/** Runs scenes against two servers on one database, to their end. */
export async function runLinks({
  seed,
  databaseUrl,
  decisions,
  harm,
  servers: options = { A: {}, B: {} },
}: LinksOptions): Promise<{ history: LinkCall[]; log: string; decided: number; struck: number }> {
  const servers: Servers = { A: launch(databaseUrl, options.A), B: launch(databaseUrl, options.B) };
  const both = [servers.A, servers.B];
  await Promise.all(both.map((server) => server.listening()));
  const described = { scope: 'profile.read', title: 'Read your profile' };
  await succeed(servers.A, 'admin.scopes.put', described, operator);

  const stage: Stage = { urls: urlsOf(servers), now: createStopwatch(process.hrtime.bigint()) };
  const scenes: Scene[] = [];
  const decided = () => scenes.reduce((sum, scene) => sum + scene.decided.size, 0);
  let struck = 0;
  let failed = false;
  const isEnough = () => failed || (decided() >= decisions && struck >= (harm?.times ?? 0));

  async function play(): Promise<void> {
    while (!isEnough()) {
      const name = `${scenes.length + 1}`;
      const scene = new Scene(name, stage, createRandom(seed, FAULT_STREAM + scenes.length + 1));
      scenes.push(scene);
      await scene.begin();
      await Promise.all(ACTORS.map((own) => scene.act(STEPS, own)));
    }
  }
  async function strikeAgain({ strike }: NonNullable<typeof harm>): Promise<void> {
    const random = createRandom(seed, FAULT_STREAM);
    while (!isEnough()) {
      await sleep(random.integer(LONGEST_PAUSE_MS));
      const before = decided();
      await strike(servers, random);
      stage.urls = urlsOf(servers);
      struck += 1;
      while (!isEnough() && decided() < before + DECISIONS_BETWEEN_FAULTS) await sleep(PAUSE_MS);
    }
  }
  const orStop = async (work: Promise<void>) => {
    await work.catch((error: unknown) => {
      failed = true;
      throw error;
    });
  };
  const played = Array.from({ length: SCENES_AT_ONCE }, () => orStop(play()));
  await Promise.all([...played, ...(harm ? [orStop(strikeAgain(harm))] : [])]);
  const atEnd = { decided: decided(), struck };

  // What is still under way where nobody waits for it comes to its end before anybody looks.
  await Promise.all(both.map((server) => server.stop()));
  await servers.A.restart();
  stage.urls = urlsOf(servers);
  await Promise.all(scenes.map((scene) => scene.look()));
  await servers.A.stop();
  const log = both.map((server) => server.log).join('');
  const history = scenes.flatMap(({ calls }) => calls).sort((a, b) => a.start - b.start);
  return { history, log, ...atEnd };
}

function launch(databaseUrl: string, { environment, ...options }: ServerOptions): ServerProcess {
  const settings = { ...LINKING, LOG_LEVEL: 'warn', ...environment };
  const server = new ServerProcess(databaseUrl, { ...options, environment: settings });
  onTestFinished(() => server.kill());
  return server;
}

const urlsOf = ({ A, B }: Servers) => ({ A: A.url, B: B.url });
