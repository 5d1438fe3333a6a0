import type { List, OperationInput, OperationOutput } from '@latchkey/schema';
import { callOperation } from './call-operation.ts';
import { withService } from './with-service.ts';

type ListOperation = 'admin.applications.list' | 'admin.grants.list';
type ItemOf<Name extends ListOperation> = OperationOutput<Name>['data'][number];

const PAGE = 100;

/** Prints all pages of a list: a line or more an entry, or one object of the API with all of them. */
export async function listAll<Name extends ListOperation>(
  environment: NodeJS.ProcessEnv,
  name: Name,
  filter: Omit<OperationInput<Name>, 'limit' | 'cursor'>,
  options: { json?: boolean },
  describe: (item: ItemOf<Name>) => string,
): Promise<void> {
  await withService(environment, async (service) => {
    const data: ItemOf<Name>[] = [];
    let cursor: string | null = null;
    do {
      const input = { ...filter, limit: PAGE, ...(cursor !== null && { cursor }) };
      const page: List<ItemOf<Name>> = await callOperation(
        service,
        name,
        // What was taken out of the type is put back; TypeScript can't follow that for any Name.
        input as OperationInput<Name>,
      );
      data.push(...page.data);
      cursor = page.next_cursor;
    } while (cursor !== null);
    const list: List<ItemOf<Name>> = { object: 'list', data, next_cursor: null };
    const text = options.json ? JSON.stringify(list) : data.map(describe).join('\n');
    if (text !== '') process.stdout.write(`${text}\n`);
  });
}
