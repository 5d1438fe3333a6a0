import { cut, padEnd, widthOf } from './text-width.ts';

export interface Column<Item> {
  title: string;
  /** The whole text, which a pipe gets. It contains no tab and no line break. */
  text(item: Item): string;
  short?(item: Item): string;
  flexible?: boolean;
  optional?: boolean;
}

export const GAP = '  ';
/** A flexible column keeps this width until all optional columns are omitted. */
const NARROWEST = 12;

/** A pipe gets whole texts separated by tabs, for `cut` and `awk`. */
export function createTable<Item>(
  columns: readonly Column<Item>[],
  width: number | undefined,
): (items: readonly Item[]) => string {
  if (width === undefined) {
    return (items) =>
      items.map((item) => `${columns.map((column) => column.text(item)).join('\t')}\n`).join('');
  }
  const natural = columns.map(({ title }) => title.length);
  let shown: number[] | undefined;

  return (items) => {
    const cells = items.map((item) => columns.map(({ text, short = text }) => short(item)));
    for (const row of cells) {
      for (const [index, cell] of row.entries()) {
        natural[index] = Math.max(natural[index] as number, widthOf(cell));
      }
    }
    const isFirst = shown === undefined;
    shown ??= fittingColumns(columns, natural, width);
    const widths = fittingWidths(shown, columns, natural, width);
    const titles = columns.map(({ title }) => title);
    const rows = isFirst ? [titles, ...cells] : cells;
    return rows.map((row) => `${line(row, shown as number[], widths)}\n`).join('');
  };
}

function line(row: readonly string[], shown: readonly number[], widths: readonly number[]): string {
  const cells = shown.map((index, place) => {
    const width = widths[place] as number;
    return padEnd(cut(row[index] as string, width), width);
  });
  return cells.join(GAP).trimEnd();
}

const total = (widths: readonly number[]) =>
  widths.reduce((sum, width) => sum + width, GAP.length * (widths.length - 1));

function leastWidths<Item>(
  shown: readonly number[],
  columns: readonly Column<Item>[],
  natural: readonly number[],
): number[] {
  return shown.map((index) => {
    const width = natural[index] as number;
    return columns[index]?.flexible ? Math.min(width, NARROWEST) : width;
  });
}

function fittingColumns<Item>(
  columns: readonly Column<Item>[],
  natural: readonly number[],
  width: number,
): number[] {
  let shown = [...columns.keys()];
  while (total(leastWidths(shown, columns, natural)) > width) {
    const last = shown.findLast((index) => columns[index]?.optional);
    if (last === undefined) break;
    shown = shown.filter((index) => index !== last);
  }
  return shown;
}

function fittingWidths<Item>(
  shown: readonly number[],
  columns: readonly Column<Item>[],
  natural: readonly number[],
  width: number,
): number[] {
  const widths = leastWidths(shown, columns, natural);
  let room = width - total(widths);
  let hasGrown = true;
  while (room > 0 && hasGrown) {
    hasGrown = false;
    for (const [place, index] of shown.entries()) {
      if (room === 0 || (widths[place] as number) >= (natural[index] as number)) continue;
      widths[place] = (widths[place] as number) + 1;
      room -= 1;
      hasGrown = true;
    }
  }
  return widths;
}
