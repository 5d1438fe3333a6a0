import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { table } from '../../table.ts';
import { checkRatio } from '../checked.ts';
import { latchkey } from '../contenders/latchkey.ts';
import { withConnections } from '../load.ts';
import { CONNECTIONS, exchange, refuse } from '../measure.ts';
import type { Part } from '../part.ts';
import { note } from '../workbench.ts';
import { growth } from './growth.ts';
import { plot } from './plot.ts';

/** What there is once so many codes were exchanged; sizes in MiB. */
export interface Slice {
  exchanges: number;
  /** Resident at the end of the slice, and at most within it. */
  resident: number;
  peak: number;
  database: number;
  writeAheadLog: number;
  /** CPU seconds of the server for 1,000 of its exchanges. */
  cpu: number;
}

const MIB = 1024 ** 2;

const mebibytes = async (path: string) => (await stat(path)).size / MIB;

function report(slices: readonly Slice[]): string {
  return table([
    [
      'exchanges',
      'resident MiB',
      'peak in the slice MiB',
      'database MiB',
      'write-ahead log MiB',
      'CPU s/1,000',
    ],
    ...slices.map(({ exchanges, resident, peak, database, writeAheadLog, cpu }) => [
      exchanges.toLocaleString('en'),
      resident.toFixed(0),
      peak.toFixed(0),
      database.toFixed(0),
      writeAheadLog.toFixed(1),
      cpu.toFixed(3),
    ]),
  ]);
}

/** Whether Latchkey takes more and more memory, or disk that it does not need. */
export const memory: Part = {
  page: 'memory',
  title: 'Memory over exchanges',
  async measure(workbench, quick) {
    const [count, perSlice] = quick ? [20, 5_000] : [20, 50_000];
    const slices: Slice[] = [];
    let folder = '';
    const running = await workbench.start(latchkey.name, (place) => {
      folder = place.folder;
      return latchkey.start(place);
    });
    for (let slice = 1; slice <= count; slice++) {
      await running.server.forgetPeak();
      const codes = await running.issue(perSlice);
      const { url, wire } = running;
      const sample = await withConnections(url, CONNECTIONS, async (connections) => {
        const exchanged = await exchange(running, connections, codes);
        await refuse(url, connections, wire.convert, codes[0] ?? '');
        return exchanged.sample;
      });
      slices.push({
        exchanges: slice * perSlice,
        resident: await running.server.residentMemory(),
        peak: await running.server.peakMemory(),
        database: await mebibytes(join(folder, 'latchkey.db')),
        writeAheadLog: await mebibytes(join(folder, 'latchkey.db-wal')),
        cpu: sample.cpu,
      });
      note(`${(slice * perSlice).toLocaleString('en')} exchanges …`);
    }

    const check = (what: string, of: (slice: Slice) => number) =>
      checkRatio(
        `${latchkey.name}: most ${what} in the last half at most 1.1 × that in the second quarter`,
        growth(slices.map(of)),
        ['at most', 1.1],
      );
    return {
      conditions: [`${CONNECTIONS} connections`, `slices of ${perSlice} exchanges`],
      text: report(slices),
      checked: [
        check('memory', ({ peak }) => peak),
        check('write-ahead log', ({ writeAheadLog }) => writeAheadLog),
      ],
      plot: { about: 'Memory over exchanges', svg: plot(slices) },
    };
  },
};
