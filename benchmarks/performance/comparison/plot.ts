import { floor } from '../contenders/floor.ts';
import type { Results } from '../results.ts';

const WIDTH = 860;
const LABEL = 280;
const ROW = 24;
const GAP = 44;

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** One bar per server; its length is the ratio to the floor. */
function bars(
  title: string,
  top: number,
  ratios: readonly [name: string, ratio: number][],
): string {
  const longest = Math.max(1, ...ratios.map(([, ratio]) => ratio));
  const scale = (WIDTH - LABEL - 70) / longest;
  const lines = [`<text x="0" y="${top}" font-weight="bold">${escaped(title)}</text>`];
  for (const [row, [name, ratio]] of ratios.entries()) {
    const y = top + 12 + row * ROW;
    const length = Math.max(1, ratio * scale);
    const colour = name.startsWith('Latchkey') ? '#2563eb' : '#94a3b8';
    lines.push(
      `<text x="${LABEL - 8}" y="${y + 13}" text-anchor="end">${escaped(name)}</text>`,
      `<rect x="${LABEL}" y="${y}" width="${length.toFixed(1)}" height="17" fill="${colour}"/>`,
      `<text x="${(LABEL + length + 6).toFixed(1)}" y="${y + 13}">${ratio.toFixed(2)}</text>`,
    );
  }
  return lines.join('\n');
}

/** An SVG of `convert`: throughput and CPU as ratios to the floor. */
export function plot(results: Results, connections: number): string {
  const base = results.medians(floor.name, connections, 'convert');
  const ratiosOf = (figure: 'throughput' | 'cpu') =>
    results.footprints.flatMap(({ name }): [string, number][] => {
      const medians = results.medians(name, connections, 'convert');
      return medians && base ? [[name, medians[figure] / base[figure]]] : [];
    });
  const throughput = ratiosOf('throughput');
  const height = throughput.length * ROW + GAP;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${2 * height}" font-family="system-ui, sans-serif" font-size="13">
<title>Convert compared with the floor</title>
<rect width="100%" height="100%" fill="white"/>
${bars(`Convert: requests/s, × floor, ${connections} connections (more is better)`, 18, throughput)}
${bars('Convert: CPU per request, × floor (less is better)', height + 18, ratiosOf('cpu'))}
</svg>
`;
}
