import { type FullGrant, inputs, objects } from '@latchkey/schema';

// What each schema finds wrong with a few values: it must not depend on the version of zod.

const text = 'x'.repeat(5_000);
const uuid = '0193aa00-0000-7000-8000-0000000000a1';
const values = [
  {},
  { code: '', name: '', username: text, scope: '  ' },
  { code: text, name: text, account_id: uuid, application_id: 'no', limit: '0' },
  { account_id: uuid, application_id: uuid, scope: 'a b', username: 'ada', unknown: true },
  { grant_id: uuid, limit: 10, starting_after: uuid, display_name: null },
];

const found: Record<string, unknown> = {};
for (const [name, schema] of Object.entries({ ...inputs, ...objects })) {
  found[name] = values.map((value) => {
    const { success, error } = schema.safeParse(value);
    return success || error.issues.map(({ code, path }) => `${code} ${path.join('.')}`);
  });
}
// biome-ignore lint/suspicious/noConsole: what it prints is what the test compares
console.log(JSON.stringify(found, null, 2));

const grant = objects.fullGrant.safeParse({});
export const secret: string | undefined = grant.data?.grant_secret;
export const typed: FullGrant | undefined = grant.data;
