import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { codeBlocks } from './support/markdown.ts';

// docs/guides/ai-clients.md beside examples/mcp. tests/clients/mcp-typescript.test.ts runs the example.

const root = new URL('../', import.meta.url);
const read = (path: string) => readFile(new URL(path, root), 'utf8');
const program = await read('examples/mcp/server.ts');

test('30 lines are enough for an MCP server and its guard', () => {
  const lines = program.split('\n').filter((line) => !/^\s*(?:$|\/\/|\/\*|\*)/.test(line));
  expect(lines.length).toBeGreaterThan(20);
  expect(lines.length).toBeLessThanOrEqual(30);
});

test('the guide to AI clients shows the MCP server of the example', async () => {
  const blocks = codeBlocks(await read('docs/guides/ai-clients.md'));
  const shown = blocks.find(({ file }) => file === 'server.ts');
  expect(program.replace(/^\/\*\*[\s\S]*?\*\/\n\n/, '')).toBe(shown?.code);
});
