import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

const root = new URL('../', import.meta.url);
const read = (path: string) => readFile(new URL(path, root), 'utf8');

test('30 lines are enough for an MCP server and its guard', async () => {
  const program = await read('examples/mcp/server.ts');
  const lines = program.split('\n').filter((line) => !/^\s*(?:$|\/\/|\/\*|\*)/.test(line));
  expect(lines.length).toBeGreaterThan(20);
  expect(lines.length).toBeLessThanOrEqual(30);
});
