// A client of a run: makes the calls that its generator decides on until it is told to stop, then
// hands over what it saw. Run by plain node, see client.ts.

import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientPlan, FromClient, ToClient } from './client.ts';
import { Generator, type Intent } from './generator.ts';
import type { ServerName } from './history.ts';
import { createRandom } from './random.ts';
import { Recorder } from './recorder.ts';

// Not to fill the history with calls of a moment at which nothing works.
const PAUSE_MS = 20;
const CALLS_A_MESSAGE = 8;

let client: { generator: Generator; recorder: Recorder; workers: Promise<void>[] } | undefined;
let stopping = false;
let made = 0;

function tell(message: FromClient): void {
  process.send?.(message);
}

function begin({ seed, stream, name, workers, ...rest }: ClientPlan) {
  const generator = new Generator(createRandom(seed, stream));
  const recorder = new Recorder({ process: name, ...rest });
  // Each worker has its server, so that one which hangs holds up only half of them.
  const homes: ServerName[] = Array.from({ length: workers }, (_, i) => (i % 2 ? 'B' : 'A'));
  return { generator, recorder, workers: homes.map((home) => work(generator, recorder, home)) };
}

async function work(generator: Generator, recorder: Recorder, home: ServerName): Promise<void> {
  while (!stopping) {
    const intents = generator.next(home);
    if (intents.length === 0) await sleep(PAUSE_MS);
    for (const intent of intents) await make(intent, generator, recorder);
  }
}

async function make(intent: Intent, generator: Generator, recorder: Recorder): Promise<void> {
  const outcome = await recorder.make(intent);
  if (++made % CALLS_A_MESSAGE === 0) tell({ made: CALLS_A_MESSAGE });
  if (outcome === undefined || outcome.call.answer?.status === 503) await sleep(PAUSE_MS);
  if (outcome?.secret !== undefined) {
    const secret = { grant: intent.grant.name, id: outcome.call.id, secret: outcome.secret };
    generator.learnSecret(secret);
    tell({ secret });
  }
}

process.on('message', async (message: ToClient) => {
  if (message === 'stop') {
    stopping = true;
    await Promise.all(client?.workers ?? []);
    tell({ calls: client?.recorder.calls ?? [] });
  } else if ('plan' in message) {
    client = begin(message.plan);
  } else if ('grant' in message) {
    client?.generator.learnGrant(message.grant);
    client?.recorder.learnGrant(message.grant);
  } else if ('secret' in message) {
    client?.generator.learnSecret(message.secret);
  } else if (client) {
    client.recorder.urls = message.urls;
  }
});
// The driver lets go of us when it has everything, and also when it dies.
process.on('disconnect', () => process.exit());
