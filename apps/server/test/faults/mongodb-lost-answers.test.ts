import { slow } from '@latchkey/test-kit/long';
import { describeOnEachMongodb } from '@latchkey/test-kit/mongodb/describe';
import type { Document } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { invoke, type Json, send } from '../http/call.ts';
import {
  type FaultyService,
  isDurableWrite,
  lookAtOnce,
  startBehindProxy,
} from './behind-proxy.ts';
import type { HeldCommand } from './mongodb-proxy.ts';
import { ready } from './server-process.ts';
import { type PreparedWrite, writes } from './writes.ts';

/**
 * Where the answer to a write is lost and what is there does not tell: a code that is gone may have
 * been cancelled by another.
 */
const untoldWhenMade = new Set(['cancel']);

/** Those that are not sent again: a copy that arrived late could bring back what was cancelled. */
const notRepeated = new Set(['issue']);

describeOnEachMongodb('a write whose connection is cut,', (mongodb) => {
  let service: FaultyService;
  beforeAll(async () => {
    service = await startBehindProxy(mongodb, lookAtOnce);
  });
  afterAll(() => service.stop());

  /** Calls a write, and cuts its connection at its first command. */
  async function cutOnce({ call }: PreparedWrite, arrives: boolean) {
    const holding = service.proxy.holdNext(isDurableWrite);
    const answering = call();
    const held = await holding;
    if (arrives) await held.execute();
    held.cut();
    return answering;
  }

  test.each(Object.entries(writes))(
    '%s: after it was made, the answer is that of the write',
    async (name, prepare) => {
      const write = await prepare(service);
      const { status, body } = await cutOnce(write, true);
      if (untoldWhenMade.has(name)) expect(body.error_code).toBe('outcome_unknown');
      else expect([status, body.error_code]).toEqual([200, undefined]);
      expect(await write.isMade(body)).toBe(true);
    },
  );

  test.each(Object.entries(writes))(
    '%s: before it arrived, it is sent again',
    async (name, prepare) => {
      const write = await prepare(service);
      const { status, body } = await cutOnce(write, false);
      if (notRepeated.has(name)) {
        expect(body.error_code).toBe('outcome_unknown');
        expect(await write.isMade(body)).toBe(false);
      } else {
        expect([status, body.error_code]).toEqual([200, undefined]);
        expect(await write.isMade(body)).toBe(true);
      }
    },
  );
});

describeOnEachMongodb('a call whose connections are cut,', (mongodb) => {
  let service: FaultyService;
  beforeAll(async () => {
    service = await startBehindProxy(mongodb, lookAtOnce);
  });
  afterAll(() => service.stop());

  test.each(Object.entries(writes))(
    '%s: wherever that is, it is not made if the answer says that nothing was changed',
    slow,
    async (_, prepare) => {
      let isCut = true;
      for (let before = 0; isCut; before++) {
        const write = await prepare(service);
        let commands = 0;
        isCut = false;
        service.proxy.hold(isOfDatabase, (held) => {
          // Two: the driver repeats a read once by itself.
          if (++commands <= before || commands > before + 2) return held.forward();
          isCut = true;
          held.cut();
        });
        const { status, body } = await write.call();
        service.proxy.passAll();
        const isMade = await write.isMade(body);
        if (status === 200) expect([before, isMade]).toEqual([before, true]);
        else if (body.error_code === 'store_unavailable') {
          expect([before, isMade]).toEqual([before, false]);
        } else expect([before, body.error_code]).toEqual([before, 'outcome_unknown']);
      }
    },
  );
});

/** Not those by which the driver watches the server. */
const isOfDatabase = ({ $db = 'admin' }: Document) => $db !== 'admin';

describeOnEachMongodb('a database that goes away,', (mongodb) => {
  let service: FaultyService;
  beforeAll(async () => {
    service = await startBehindProxy(mongodb, { socketTimeoutMS: '60000' });
  });
  afterAll(() => service.stop());

  /** The process comes back by itself. */
  async function backAgain() {
    await service.proxy.restore();
    await ready(service.server);
  }

  test(
    'with a write under way: the outcome is unknown, and what the answer says to do works',
    slow,
    async () => {
      // Of each write one that was made and one that was not.
      const all = await Promise.all(
        Object.entries(writes).flatMap(([name, prepare]) =>
          [true, false].map(async (arrives) => ({ name, arrives, ...(await prepare(service)) })),
        ),
      );
      // One after the other they reach their write; then, all at once, they lose the database.
      const answers: Promise<{ body: Json }>[] = [];
      for (const { name, call, arrives } of all) {
        // An issue inserts the code first and then fills it: only the second makes it valid.
        const holding = service.proxy.holdNext(
          (command) => isDurableWrite(command) && !(name === 'issue' && 'insert' in command),
        );
        answers.push(call());
        const held: HeldCommand = await holding;
        if (arrives) await held.execute();
      }
      await service.proxy.refuse();

      const bodies = (await Promise.all(answers)).map(({ body }) => body);
      for (const [index, { name, arrives, grant_id, isMade }] of all.entries()) {
        const body = bodies[index];
        expect([name, body.error_code]).toEqual([name, 'outcome_unknown']);
        if (grant_id) expect(body.grant_id).toBe(grant_id);
        // Exactly what arrived was made, whatever the caller was told.
        expect([name, await isMade(body)]).toEqual([name, arrives]);
      }

      await backAgain();
      const { server, linked } = service;
      for (const { name, arrives, grant_id, call } of all) {
        if (name === 'convert') {
          const recovered = await invoke(
            server,
            'REST',
            'grants.recover',
            { grant_id },
            linked.bearer,
          );
          expect(recovered.status).toBe(arrives ? 200 : 404);
          if (!arrives) expect((await call()).status).toBe(200);
          continue;
        }
        // Anything else is repeated; what is gone by now is gone.
        const gone = arrives && (name === 'cancel' || name === 'remove a secret');
        expect([name, (await call()).status]).toEqual([name, gone ? 404 : 200]);
      }
    },
  );

  // The driver still has the connections in its pool, and one of them is written to.
  test('in that very moment: it is unavailable, and no fault of the service', async () => {
    const readiness = () => send(service.server, { method: 'GET', path: '/readyz' });
    await Promise.all(Array.from({ length: 20 }, readiness));
    await service.proxy.refuse();
    const { status, json } = await readiness();
    expect([status, json.error_code]).toEqual([503, 'store_unavailable']);
    await backAgain();
  });

  test('before a write was sent: nothing was changed, and the same call works later', async () => {
    const all = await Promise.all(
      Object.entries(writes).map(async ([name, prepare]) => ({
        name,
        ...(await prepare(service)),
      })),
    );
    await service.proxy.refuse();
    // The driver may only now see that its connections are gone.
    expect((await send(service.server, { method: 'GET', path: '/readyz' })).status).toBe(503);

    const answers = await Promise.all(all.map(({ call }) => call()));
    for (const [index, { name, isMade }] of all.entries()) {
      const { status, body } = answers[index] as { status: number; body: Json };
      expect([name, status, body.error_code]).toEqual([name, 503, 'store_unavailable']);
      expect([name, await isMade(body)]).toEqual([name, false]);
    }
    await backAgain();
    for (const { name, call } of all) expect([name, (await call()).status]).toEqual([name, 200]);
  });
});
