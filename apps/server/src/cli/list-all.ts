import type { List, OperationInput, OperationOutput } from '@latchkey/schema';
import { operations } from '../operations/operation.ts';
import { validate } from '../operations/validate.ts';
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
    const operation = operations.get(name);
    if (operation === undefined) throw new Error(`There is no operation ${name}.`);
    const data: ItemOf<Name>[] = [];
    let cursor: string | null = null;
    do {
      const input = { ...filter, limit: PAGE, ...(cursor !== null && { cursor }) };
      const valid = validate(operation.input, input);
      const page = (await operation.handle(service, valid, 'operator')) as List<ItemOf<Name>>;
      data.push(...page.data);
      cursor = page.next_cursor;
    } while (cursor !== null);
    const list: List<ItemOf<Name>> = { object: 'list', data, next_cursor: null };
    const text = options.json ? JSON.stringify(list) : data.map(describe).join('\n');
    if (text !== '') process.stdout.write(`${text}\n`);
  });
}
