import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { examplesFolder } from './support/examples-folder.ts';
import { codeBlocks } from './support/markdown.ts';
import { environment, run } from './support/service.ts';

// "A tool with a scope of its own" in docs/guides/guard-a-server.md, as a program.

const page = await readFile(new URL('../docs/guides/guard-a-server.md', import.meta.url), 'utf8');
const [block] = codeBlocks(page.slice(page.indexOf('## A tool with a scope of its own')));

const program = `
import { Latchkey } from '@latchkey/client';
import { LatchkeyAdmin } from '@latchkey/client/admin';
import { createTestServer } from '@latchkey/testing';
import express from 'express';
${block?.code.replace(
  /^(const|app)/m,
  `
const resource = 'https://mcp.example/mcp';
await using server = await createTestServer();
await new LatchkeyAdmin({ baseUrl: server.baseUrl, adminSecret: server.adminSecret }).resources.create({ resource, name: 'Notes' });
const latchkey = new Latchkey(server);
const app = express();
const mcp = ({ body }, response) => response.json(body);
$1`,
)}
const listening = app.listen(0, '127.0.0.1');
await new Promise((resolve) => listening.once('listening', resolve));
const grantFor = async (scope) => {
  const { code } = await server.issueCode({ scope, resource });
  return (await latchkey.convert(code)).grant_secret;
};
const call = async (grant, body, type = 'application/json') => {
  const headers = { Authorization: 'Bearer ' + grant, 'Content-Type': type };
  const url = 'http://127.0.0.1:' + listening.address().port + '/mcp';
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  const [, scope] = /scope="([^"]*)"/.exec(response.headers.get('WWW-Authenticate')) ?? [];
  return response.status + (scope ? ' ' + scope : '');
};
const of = (name) => ({ method: 'tools/call', params: { name } });
const [list, add] = [of('list_notes'), of('add_note')];
const old = await grantFor('notes.read');
const told = [await call(old, list), await call(old, add)];
told.push(await call(old, [list, add]), await call(old, add, 'text/x-application/json'));
const wider = await grantFor('notes.read notes.write');
// The old grant still works.
told.push(await call(wider, add), await call(wider, list), await call(old, list));
listening.close();
console.log(JSON.stringify(told));
`;

test('asks for the scope of the tool, however the call is written', async () => {
  const words = ['--input-type=module-typescript', '--eval', program];
  const options = { cwd: examplesFolder, env: environment() };
  const { stdout, stderr } = await run(process.execPath, words, options);
  const both = '403 notes.read notes.write';
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toEqual(['200', both, both, both, '200', '200', '200']);
});
