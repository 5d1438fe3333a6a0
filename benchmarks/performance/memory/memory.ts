import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Benchmark, ratioTarget } from '../benchmark.ts';
import { latchkey } from '../contenders/latchkey.ts';
import { withHarness } from '../harness.ts';
import { withConnections } from '../load.ts';
import { CONNECTIONS, convertAll, expectRefusal } from '../measure.ts';
import { logProgress } from '../progress.ts';
import { plot } from './plot.ts';
import { growth, report, type Slice } from './slices.ts';

const SLICES = 20;
const MIB = 1024 ** 2;

const mebibytes = async (path: string) => (await stat(path)).size / MIB;

/** Whether Latchkey's memory or its write-ahead log grows with the codes it converts. */
export const memory: Benchmark = {
  page: 'memory',
  title: 'Memory over converted codes',
  run: (_mongodbs, quick) =>
    withHarness(undefined, [], async (harness) => {
      const perSlice = quick ? 5_000 : 50_000;
      const slices: Slice[] = [];
      let folder = '';
      const server = await harness.start(latchkey.name, (options) => {
        folder = options.folder;
        return latchkey.start(options);
      });
      for (let slice = 1; slice <= SLICES; slice++) {
        await server.process.resetPeak();
        const issued = await server.issue(perSlice);
        const { url, wire } = server;
        const { cpu } = await withConnections(url, CONNECTIONS, async (connections) => {
          const { sample } = await convertAll(server, connections, issued);
          await expectRefusal(url, connections, wire.convert, issued[0] ?? '');
          return sample;
        });
        const codes = slice * perSlice;
        slices.push({
          codes,
          resident: await server.process.residentMemory(),
          peak: await server.process.peakMemory(),
          database: await mebibytes(join(folder, 'latchkey.db')),
          writeAheadLog: await mebibytes(join(folder, 'latchkey.db-wal')),
          cpu,
        });
        logProgress(`${codes.toLocaleString('en')} codes …`);
      }

      const target = (what: string, figureOf: (slice: Slice) => number) =>
        ratioTarget(
          `${latchkey.name}: most ${what} in the last half at most 1.1 × that in the second quarter`,
          growth(slices.map(figureOf)),
          ['at most', 1.1],
        );
      return {
        conditions: [
          `${CONNECTIONS} connections`,
          `${perSlice.toLocaleString('en')} codes per slice`,
        ],
        text: report(slices),
        targets: [
          target('memory', ({ peak }) => peak),
          target('write-ahead log', ({ writeAheadLog }) => writeAheadLog),
        ],
        plot: { alt: 'Memory over converted codes', svg: plot(slices) },
      };
    }),
};
