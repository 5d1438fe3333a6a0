import type { Slice } from './slices.ts';

const WIDTH = 860;
const HEIGHT = 300;
const [LEFT, RIGHT, TOP, BOTTOM] = [60, 20, 40, 40];

/** An SVG of the peak memory of each slice, and of the memory at its end. */
export function plot(slices: readonly Slice[]): string {
  const codes = slices.at(-1)?.codes ?? 1;
  // The top of the axis is a multiple of 50 MiB.
  const most = Math.ceil(Math.max(...slices.map(({ peak }) => peak)) / 50) * 50;
  const x = (value: number) => LEFT + (value / codes) * (WIDTH - LEFT - RIGHT);
  const y = (value: number) => HEIGHT - BOTTOM - (value / most) * (HEIGHT - TOP - BOTTOM);
  const line = (colour: string, figureOf: (slice: Slice) => number) => {
    const points = slices.map(
      (slice) => `${x(slice.codes).toFixed(1)},${y(figureOf(slice)).toFixed(1)}`,
    );
    return `<polyline fill="none" stroke="${colour}" stroke-width="2" points="${points.join(' ')}"/>`;
  };
  const gridLines = [0, most / 2, most].map(
    (value) =>
      `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(value)}" y2="${y(value)}" stroke="#e2e8f0"/>
<text x="${LEFT - 8}" y="${y(value) + 4}" text-anchor="end">${value}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="system-ui, sans-serif" font-size="13">
<title>Memory over converted codes</title>
<rect width="100%" height="100%" fill="white"/>
<text x="0" y="18" font-weight="bold">Memory of Latchkey in MiB: peak within each slice (blue), end of each slice (grey)</text>
${gridLines.join('\n')}
${line('#94a3b8', ({ resident }) => resident)}
${line('#2563eb', ({ peak }) => peak)}
<text x="${LEFT}" y="${HEIGHT - 14}">0</text>
<text x="${WIDTH - RIGHT}" y="${HEIGHT - 14}" text-anchor="end">${codes.toLocaleString('en')} codes converted</text>
</svg>
`;
}
