import {
  operations as contracts,
  isRead,
  type List,
  type OperationContract,
  type OperationInput,
} from '@latchkey/schema';
import { z } from 'zod';
import type { OperatorOperation } from '../operations/call-operation.ts';
import { CHANGING, CREATING, READING, withCalls } from './calls.ts';
import { confirmEnding, fill } from './confirm.ts';
import { describeObject } from './describe.ts';
import { pagesOf, printList } from './list.ts';
import { listColumns } from './list-columns.ts';
import { membersOf } from './member.ts';
import type { Access } from './open-for-command.ts';
import { type OperationRow, rowsByName } from './operation-rows.ts';
import type { Column } from './table.ts';
import type { Terminal } from './terminal.ts';

interface Options {
  json?: boolean;
  yes?: boolean;
}

const columns: { readonly [Name in OperatorOperation]?: readonly Column<never>[] } = listColumns;

/** Asks first if the operation ends something for good. */
export async function runOperation(
  terminal: Terminal,
  name: OperatorOperation,
  members: object,
  options: Options,
): Promise<void> {
  // The operation checks what was typed.
  const input = members as OperationInput<OperatorOperation>;
  const contract: OperationContract = contracts[name];
  const row = rowsByName[name] ?? {};
  if (row.ends !== undefined) await confirmEnding(terminal, row.ends, input, options);
  const outputMembers = membersOf(z.toJSONSchema(contract.output, { io: 'output' }));
  const cursor = outputMembers.get('next_cursor');
  await withCalls(terminal, accessOf(contract, row), async ({ call }) => {
    if (cursor !== undefined) {
      // The other lists are complete, with null in its place, and take no cursor.
      const pages =
        cursor.type !== undefined
          ? pagesOf(call, name as never, input as never)
          : [((await call(name, input)) as List<never>).data];
      await printList(terminal, pages, options, columns[name] ?? []);
      return;
    }
    const output = await call(name, input);
    let text: string;
    if (options.json) text = JSON.stringify(output);
    else if (row.describe) {
      text = await row.describe(output, { call, width: terminal.stdout.columns });
    } else text = row.done ? fill(row.done, output) : describeObject(output, outputMembers);
    await terminal.stdout.write(`${text}\n`);
  });
}

/** All that do not create use an existing database: a missing one means that DATABASE_URL is probably wrong. */
function accessOf(contract: OperationContract, { creates }: OperationRow): Access {
  if (creates) return CREATING;
  return isRead(contract) ? READING : { ...CHANGING, signs: contract.needsEvents ?? false };
}
