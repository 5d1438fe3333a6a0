// A user's program that takes the schema and has no tRPC.

import { errorTable, type FullGrant, isUuid, objects } from '@latchkey/schema';

declare const console: { log(text: string): void };

const parsed = objects.fullGrant.safeParse({});
const grant: FullGrant | undefined = parsed.data;
console.log(
  JSON.stringify([grant === undefined, isUuid('no uuid'), errorTable.code_expired.status]),
);
