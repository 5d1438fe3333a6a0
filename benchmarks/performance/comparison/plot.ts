import { barCharts } from '../bar-charts.ts';
import { floor } from '../contenders/floor.ts';
import { latchkey, latchkeyTrpc } from '../contenders/latchkey.ts';
import { sqlite } from '../contenders/sqlite.ts';
import { trpcStandalone } from '../contenders/trpc-standalone.ts';
import type { Results } from '../results.ts';

const shown = [floor, latchkey, latchkeyTrpc, sqlite, trpcStandalone];

/** An SVG of `convert`: throughput and CPU as ratios to the floor. */
export function plot(results: Results, connections: number): string {
  const base = results.medians(floor.name, connections, 'convert');
  const ratiosOf = (figure: 'throughput' | 'cpu') =>
    shown.flatMap(({ name }): [string, number][] => {
      const medians = results.medians(name, connections, 'convert');
      return medians && base ? [[name, medians[figure] / base[figure]]] : [];
    });
  return barCharts('Convert compared with the floor', [
    {
      title: `Convert: requests/s, × floor, ${connections} connections (more is better)`,
      bars: ratiosOf('throughput'),
    },
    { title: 'Convert: CPU per request, × floor (less is better)', bars: ratiosOf('cpu') },
  ]);
}
