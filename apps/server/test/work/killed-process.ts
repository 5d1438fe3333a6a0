// A child process of work-killed.test.ts. It calls an operation, and kills itself at a step of the work.

import { setTimeout as sleep } from 'node:timers/promises';
import { createRunner } from '@latchkey/rules/work/runner';
import { WORK_STEPS, type WorkKind } from '@latchkey/store/endings';
import type { Store } from '@latchkey/store/store';
import pino from 'pino';
import { openService } from '../../src/open-service.ts';
import { callOperation, type OperatorOperation } from '../../src/operations/call-operation.ts';

export interface Death {
  operation: OperatorOperation;
  input: Record<string, string>;
  kind: WorkKind;
  /** Of the step; the number of all steps for the note that all are over. */
  at: number;
  /** Before it is sent, while it is under way, or once a part of it is made. */
  moment: 'before' | 'during' | 'after';
  /** How long it has worked by then, at least: so long that it has a lease, or not. */
  lingers: number;
}

const { operation, input, kind, at, moment, lingers } = JSON.parse(
  process.env.DEATH ?? '{}',
) as Death;

const silent = pino({ enabled: false });
const service = await openService(process.env.DATABASE_URL ?? '', silent);
const { store, clock, counts } = service;
const { inProcess } = service.driver;
let step = 0;

async function die(): Promise<never> {
  await sleep(lingers);
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => {});
}

async function killedAt<T>(write: () => Promise<T>): Promise<T> {
  if (moment === 'before') return die();
  const written = write();
  if (moment === 'during') return die();
  await written;
  return die();
}

const killing: Store = {
  ...store,
  async doStep(work, name, limit) {
    // One record, so that it is killed in the middle of the step.
    if (step === at) return killedAt(() => store.doStep(work, name, 1));
    const done = await store.doStep(work, name, limit);
    if (done.isOver) step += 1;
    return done;
  },
  finishWork: (work) =>
    at === WORK_STEPS[kind].length
      ? killedAt(() => store.finishWork(work))
      : store.finishWork(work),
};
const runner = createRunner(killing, { inProcess, clock, counts, log: silent, onError() {} });
await callOperation({ ...service, runner }, operation, input as never);
// It was not killed.
process.exit(1);
