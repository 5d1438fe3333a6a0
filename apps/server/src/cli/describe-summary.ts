import type { Summary, SummaryStep } from '@latchkey/schema';
import { fieldList } from './describe.ts';
import { type Column, createTable } from './table.ts';

const columns: readonly Column<SummaryStep>[] = [
  { title: 'FROM', text: ({ at }) => at },
  { title: 'CREATED', text: ({ created }) => `${created}` },
  { title: 'REVOKED', text: ({ revoked }) => `${revoked}` },
  { title: 'REFUSED', text: ({ refused }) => `${refused}` },
];

export function describeSummary(summary: Summary, width: number | undefined): string {
  const { since, until, links, grants, refused, events, series } = summary;
  const refusals = Object.entries(refused).flatMap(([code, reasons]) =>
    Object.entries(reasons).map(
      ([reason, count]) => [reason === '-' ? code : `${code} (${reason})`, `${count}`] as const,
    ),
  );
  const fields = fieldList([
    ['from', since],
    ['to', until],
    ['links', countsOf(links)],
    ['grants created', `${grants.created}`],
    ['grants revoked', countsOf(grants.revoked) || '0'],
    ['grants live', grants.live === null ? 'not counted yet' : `${grants.live}`],
    ...(events === null ? [] : [['events', describeEvents(events)] as const]),
    ...(refusals.length === 0 ? [['refused', '0'] as const] : []),
  ]);
  const parts = [
    fields,
    ...(refusals.length === 0 ? [] : [`Refused:\n${fieldList(refusals)}`]),
    createTable(columns, width)(series).trimEnd(),
    'The numbers are approximate.',
  ];
  return parts.join('\n\n');
}

const countsOf = (counts: object) =>
  Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');

const describeEvents = ({
  pending,
  oldest_seconds,
  failing_endpoints,
}: NonNullable<Summary['events']>) =>
  `${pending} pending, the oldest for ${oldest_seconds} s, ${failing_endpoints} endpoints failing`;
