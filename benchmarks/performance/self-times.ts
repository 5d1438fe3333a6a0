import { table } from '../table.ts';

/** A profile as V8 writes it. */
export interface CpuProfile {
  nodes: {
    id: number;
    callFrame: { functionName: string; url: string; lineNumber: number };
  }[];
  /** The node that each sample was taken in. */
  samples: number[];
  /** Microseconds from the sample before to each. */
  timeDeltas: number[];
}

// What V8 has for time in which nothing of the program ran.
const IDLE = '(idle)';

/** Where the time of a process went: the functions with the most time of their own. */
export function selfTimes({ nodes, samples, timeDeltas }: CpuProfile, most: number): string {
  const places = new Map(
    nodes.map(({ id, callFrame: { functionName, url, lineNumber } }) => {
      const file = url
        .replace(/^.*\/(?=(?:node_modules|apps|packages)\/)/, '')
        .replace('file://', '');
      return [id, `${functionName || '(anonymous)'} ${url && `${file}:${lineNumber + 1}`}`.trim()];
    }),
  );
  const times = new Map<string, number>();
  let total = 0;
  for (const [index, id] of samples.entries()) {
    const place = places.get(id) ?? '';
    const time = timeDeltas[index] ?? 0;
    if (place === IDLE) continue;
    times.set(place, (times.get(place) ?? 0) + time);
    total += time;
  }
  const top = [...times].sort(([, a], [, b]) => b - a).slice(0, most);
  return table([
    ['self time', '%', 'function'],
    ...top.map(([place, time]) => [
      `${(time / 1000).toFixed(0)} ms`,
      ((time / total) * 100).toFixed(1),
      place,
    ]),
  ]);
}
