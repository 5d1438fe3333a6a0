import type { List, OperationInput, OperationOutput } from '@latchkey/schema';
import type { OperatorOperation } from '../operations/call-operation.ts';
import type { CallAsOperator } from './open-for-command.ts';
import { type Column, createTable } from './table.ts';
import type { Terminal } from './terminal.ts';

export type ListOperation = {
  [Name in OperatorOperation]: OperationOutput<Name> extends List<unknown> ? Name : never;
}[OperatorOperation];
export type ItemOf<Name extends ListOperation> = OperationOutput<Name>['data'][number];

const PAGE = 100;

export async function* pagesOf<Name extends ListOperation>(
  call: CallAsOperator,
  name: Name,
  filter: Omit<OperationInput<Name>, 'limit' | 'cursor'>,
): AsyncGenerator<ItemOf<Name>[]> {
  let cursor: string | null = null;
  do {
    const input = { ...filter, limit: PAGE, ...(cursor !== null && { cursor }) };
    const page: List<ItemOf<Name>> = await call(
      name,
      // TypeScript cannot see that `limit` and `cursor` complete the input for every Name.
      input as OperationInput<Name>,
    );
    yield page.data;
    cursor = page.next_cursor;
  } while (cursor !== null);
}

export async function printList<Item>(
  { stdout, stderr }: Terminal,
  pages: AsyncIterable<readonly Item[]> | Iterable<readonly Item[]>,
  { json }: { json?: boolean },
  columns: readonly Column<Item>[],
): Promise<void> {
  const print = json ? jsonPage : createTable(columns, stdout.columns);
  let isEmpty = true;
  for await (const items of pages) {
    if (items.length > 0) {
      await stdout.write(print(items, isEmpty));
      isEmpty = false;
    }
    if (stdout.failure) return;
  }
  if (json) await stdout.write(isEmpty ? `${LIST_START}${LIST_END}` : LIST_END);
  else if (isEmpty && stdout.columns !== undefined) stderr.write('There are none.\n');
}

const LIST_START = '{"object":"list","data":[';
const LIST_END = '],"next_cursor":null}\n';

function jsonPage(items: readonly unknown[], isFirst: boolean): string {
  return `${isFirst ? LIST_START : ','}${items.map((item) => JSON.stringify(item)).join()}`;
}
