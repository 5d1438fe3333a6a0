const WIDTH = 860;
const LABEL = 280;
const ROW = 24;
const GAP = 44;

export interface BarChart {
  title: string;
  bars: readonly (readonly [name: string, value: number])[];
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** One bar per server. Those of Latchkey have a colour of their own. */
function chart({ title, bars }: BarChart, top: number, format: (value: number) => string): string {
  const longest = Math.max(...bars.map(([, value]) => value));
  const scale = (WIDTH - LABEL - 70) / longest;
  const lines = [`<text x="0" y="${top}" font-weight="bold">${escaped(title)}</text>`];
  for (const [row, [name, value]] of bars.entries()) {
    const y = top + 12 + row * ROW;
    const length = Math.max(1, value * scale);
    const colour = name.startsWith('Latchkey') ? '#2563eb' : '#94a3b8';
    lines.push(
      `<text x="${LABEL - 8}" y="${y + 13}" text-anchor="end">${escaped(name)}</text>`,
      `<rect x="${LABEL}" y="${y}" width="${length.toFixed(1)}" height="17" fill="${colour}"/>`,
      `<text x="${(LABEL + length + 6).toFixed(1)}" y="${y + 13}">${format(value)}</text>`,
    );
  }
  return lines.join('\n');
}

/** An SVG of charts, one below the other. */
export function barCharts(
  title: string,
  charts: readonly BarChart[],
  format = (value: number) => value.toFixed(2),
): string {
  let top = 18;
  const drawn = charts.map((one) => {
    const text = chart(one, top, format);
    top += one.bars.length * ROW + GAP;
    return text;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${top - 18}" font-family="system-ui, sans-serif" font-size="13">
<title>${escaped(title)}</title>
<rect width="100%" height="100%" fill="white"/>
${drawn.join('\n')}
</svg>
`;
}
