import { inRequest, restartRequest, shareMoment } from '@latchkey/domain/request-scope';
import type { Store } from '@latchkey/store/store';
import { calls } from '@latchkey/store-suite/calls';
import { aCode, anId, newCode, redemptionOf } from '@latchkey/store-suite/records';
import { type Document, Timestamp } from 'mongodb';
import { beforeEach, describe, expect, test } from 'vitest';
import { pendingDocument } from './documents.ts';
import { batch, failure, type ScriptedServer } from './scripted-server.ts';
import { scripted, shortTimeouts } from './scripted-store.ts';

// What the reads of one request may rely on: decision 54.

const at = (t: number) => new Timestamp({ t, i: 1 });

/** The times that the reads so far had to wait for. */
const timesOf = (server: ScriptedServer) =>
  server.sent('find').map(({ readConcern }) => readConcern.afterClusterTime?.getHighBits() ?? null);

const isFence = ({ update }: Document) => update === 'fences';
const fencesOf = (server: ScriptedServer) => server.received.filter(isFence).length;

describe('on a replica set, in a request,', () => {
  let server: ScriptedServer;
  let store: Store;
  let time = 0;
  beforeEach(async () => {
    time = 100;
    ({ server, store } = await scripted({ is: 'primary', timeouts: shortTimeouts }));
    // Each fence is 10 later than the one before; every other update matches nothing.
    server.on('update', (command) => {
      time += 10;
      return { n: isFence(command) ? 1 : 0, nModified: 1, operationTime: at(time) };
    });
  });
  const read = () => store.findDelivery(anId());

  const code = aCode();
  const redeemed = { ...pendingDocument(code), created_at: new Date(1) };
  const redeem = (operationTime: Timestamp) => {
    server.script('findAndModify', { value: redeemed, operationTime });
    return store.redeemCode(redemptionOf(code));
  };

  test('all reads are behind one fence', async () => {
    await inRequest(async () => {
      await read();
      await read();
      await Promise.all([read(), store.findApplication(anId()), store.findAccount(anId())]);
    });
    expect(timesOf(server)).toEqual([110, 110, 110, 110, 110]);
    expect(fencesOf(server)).toBe(1);
  });

  test('no read goes back behind what an earlier one has seen', async () => {
    server.script(
      'find',
      { ...batch(), operationTime: at(150) },
      { ...batch(), operationTime: at(140) },
      batch(),
    );
    await inRequest(async () => {
      for (let reads = 0; reads < 3; reads++) await read();
    });
    expect(timesOf(server)).toEqual([110, 150, 150]);
  });

  test('another request has a fence of its own, and so has what no request waits for', async () => {
    await inRequest(read);
    await inRequest(read);
    await read();
    let leaveBehind = () => {};
    let left: Promise<unknown> | undefined;
    await inRequest(async () => {
      await read();
      left = new Promise<void>((resolve) => {
        leaveBehind = resolve;
      }).then(read);
    });
    leaveBehind();
    await left;
    expect(timesOf(server)).toEqual([110, 120, 130, 140, 150]);
  });

  test('requests that share a moment share its fence', async () => {
    const moment = {};
    const reading = () =>
      inRequest(async () => {
        shareMoment(moment);
        await read();
      });
    await reading();
    await reading();
    expect(timesOf(server)).toEqual([110, 110]);
    expect(fencesOf(server)).toBe(1);
  });

  test('a body that arrives late asks for a new one', async () => {
    await inRequest(async () => {
      await read();
      restartRequest();
      await read();
    });
    expect(timesOf(server)).toEqual([110, 120]);
  });

  test('a durable write that changed something is a fence', async () => {
    await inRequest(async () => {
      await redeem(at(300));
      await read();
      await redeem(at(400));
      await read();
      // Whatever its time is, nothing goes back.
      await redeem(at(350));
      await read();
    });
    expect(timesOf(server)).toEqual([300, 400, 400]);
    // Of what the first one looks at.
    expect(fencesOf(server)).toBe(1);
  });

  test.each([
    'cancelCode',
    'decideLink',
    'recoverGrant',
    'redeemCode',
    'revokeGrant',
    'noteUse',
    'switchLink',
  ] as const)('%s is none if it matched nothing', async (method) => {
    await inRequest(async () => {
      await redeem(at(90));
      server.script('findAndModify', { value: null, operationTime: at(300) });
      // These find what they may change first.
      if (['recoverGrant', 'decideLink', 'switchLink'].includes(method)) {
        server.script('find', batch(redeemed), batch());
      }
      await calls[method](store);
      await read();
    });
    const isWrite = (command: Document) =>
      'findAndModify' in command || ('update' in command && !isFence(command));
    const [first] = server.received.slice(server.received.findLastIndex(isWrite) + 1);
    expect(first).toMatchObject({ update: 'fences' });
    expect(timesOf(server).at(-1)).toBeLessThan(300);
  });

  test('the deletion of a code that was never issued is none', async () => {
    server.script('insert', { n: 1, operationTime: at(200) });
    server.script('delete', { n: 0, operationTime: at(300) });
    await inRequest(async () => {
      expect(await store.issueCode(newCode(code))).toBeNull();
      await read();
    });
    expect(server.sent('delete')).toHaveLength(1);
    // The account is read at the time of the insert.
    expect(timesOf(server)).toEqual([200, 110]);
  });

  test('a write whose response is lost is none, also if it is read back', async () => {
    const redemption = redemptionOf(code);
    server.script('findAndModify', 'close');
    server.on('find', () => {
      const [sent] = server.sent('findAndModify');
      return batch({ ...redeemed, ...sent?.update.$set });
    });
    await inRequest(async () => {
      expect(await store.redeemCode(redemption)).not.toBeNull();
      await read();
    });
    // The first one reads it back.
    expect(timesOf(server)).toEqual([null, 120]);
  });

  test('a write that began before another matched nothing is none either', async () => {
    const replies: ((reply: Document) => void)[] = [];
    // The driver has a connection for each; the server replies when told.
    server.hold('findAndModify', replies);
    await inRequest(async () => {
      const changing = store.redeemCode(redemptionOf(code));
      const matching = store.redeemCode(redemptionOf(code));
      await expect.poll(() => replies.length).toBe(2);
      replies[1]?.({ value: null, operationTime: at(400) });
      const nulls = await Promise.race([changing, matching]);
      replies[0]?.({ value: redeemed, operationTime: at(300) });
      await Promise.all([changing, matching]);
      expect(nulls).toBeNull();
      await read();
    });
    expect(timesOf(server)).toEqual([120]);
    expect(fencesOf(server)).toBe(2);
  });

  test('a failed fence leaves nothing to rely on', async () => {
    server.script('update', failure(10107, 'NotWritablePrimary', { operationTime: at(500) }), {
      n: 1,
      operationTime: at(600),
    });
    await inRequest(async () => {
      await read();
      await read();
    });
    expect(timesOf(server)).toEqual([null, 600]);
  });

  /** Requests that have each seen a time, or nothing, and then look something up in one tick. */
  async function lookUpTogether(...seen: (Timestamp | null)[]) {
    let ready = 0;
    const { promise: allReady, resolve } = Promise.withResolvers<void>();
    await Promise.all(
      seen.map((time, index) =>
        inRequest(async () => {
          // One after the other, since they share the script.
          await expect.poll(() => ready).toBe(index);
          if (time !== null) await redeem(time);
          if (++ready === seen.length) resolve();
          await allReady;
          await store.findAccount(anId());
          // It is not gathered.
          await store.listActiveGrants({ application_id: anId() }, { limit: 1, before: null });
        }),
      ),
    );
    const [lookUp] = server.sent('find');
    expect(lookUp?.filter._id.$in).toHaveLength(seen.length);
    return timesOf(server);
  }

  test('a look-up of several requests waits for the latest time of them', async () => {
    expect(await lookUpTogether(at(290), at(295), at(280))).toEqual([295, 295, 295, 295]);
    expect(fencesOf(server)).toBe(3);
  });

  test('a look-up has a fence if one of those who ask has seen nothing', async () => {
    expect(await lookUpTogether(at(90), null)).toEqual([120, 120, 120]);
    expect(fencesOf(server)).toBe(2);
  });
});
