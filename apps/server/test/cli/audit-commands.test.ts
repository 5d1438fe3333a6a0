import { randomUUID } from 'node:crypto';
import { reasons } from '@latchkey/domain/reasons';
import { reportGrant } from '@latchkey/rules/audit/grant-history';
import { expect, onTestFinished, test, vi } from 'vitest';
import { textOf } from '../../src/cli/error-texts.ts';
import { driverOf } from '../../src/open-store.ts';
import { JSON_TYPE, send, succeed } from '../http/call.ts';
import { runInProcess } from '../http/command-process.ts';
import { describeOnAnyStore, sqliteDatabase } from '../http/databases.ts';
import { linkedApplication } from '../http/linked-application.ts';
import { operator, startTestServer } from '../http/running-server.ts';
import { launchServer, listening } from '../http/served-process.ts';
import { unknownCredential } from '../http/unknown-credential.ts';

const converting = (authorization: string, code: string, request_id: string) => ({
  method: 'POST',
  path: '/oauth/convert',
  authorization,
  headers: { ...JSON_TYPE, 'x-request-id': request_id },
  body: JSON.stringify({ code }),
});

describeOnAnyStore('a service that is killed', (fresh) => {
  test('has left with a grant who exchanged it', async () => {
    const database = await fresh();
    const service = launchServer(database.url);
    onTestFinished(() => service.kill('SIGKILL'));
    const url = await listening(service);
    const { issue, bearer, secret_id } = await linkedApplication({ url });
    const { code, grant_id } = await issue();
    expect((await send({ url }, converting(bearer, code, 'the-exchange'))).status).toBe(200);
    service.kill('SIGKILL');
    await service.ended;

    const store = await driverOf(database.url).open(database.url, { clock: Date.now });
    expect((await reportGrant(store, grant_id)).data).toMatchObject([
      { what: 'issued', by: 'operator' },
      { what: 'converted', by: 'application', secret_id, request_id: 'the-exchange' },
    ]);
    await store.close();
    await database.remove();
  });
});

test('the commands tell what happened to a grant, and why a request was refused', async () => {
  const database = await sqliteDatabase();
  const server = await startTestServer(database.url);
  const { application_id, account_id, secret, secret_id, bearer, issue } =
    await linkedApplication(server);
  const { code, grant_id } = await issue();
  const forged = unknownCredential('code', grant_id);
  await send(server, converting(bearer, forged, 'the-forgery'));
  await send(server, converting(bearer, 'no code', secret));
  server.advance(1);
  await send(server, converting(bearer, code, 'the-exchange'));
  await vi.waitFor(async () => {
    const { grants } = await succeed(server, 'admin.summary.get', { hours: 1 }, operator);
    expect(grants.live).not.toBeNull();
  }, 60_000);
  await server.close();

  const latchkey = (...words: string[]) => runInProcess(words, { DATABASE_URL: database.url });
  await latchkey('grant', 'revoke', grant_id);
  await latchkey('code', 'cancel', grant_id);
  const [history, historyObject, explained, explainedObject, redacted, unknown, unexplained] =
    await Promise.all([
      latchkey('grant', 'history', grant_id.toUpperCase()),
      latchkey('grant', 'history', grant_id, '--json'),
      latchkey('explain', 'the-forgery'),
      latchkey('explain', 'the-forgery', '--json'),
      latchkey('explain', secret),
      latchkey('grant', 'history', randomUUID()),
      latchkey('explain', 'of-nobody'),
    ]);

  const lines = history.stdout.split('\n').map((line) => line.replace(/^20\S{27} /, 'AT'));
  expect(lines).toEqual([
    `Application ${application_id}, account ${account_id}.`,
    expect.stringMatching(/^AT issued: done {2}by the operator {2}request \S{36}$/),
    `AT grants.convert: code_not_found (code_forged)  by application ${application_id} from 127.0.0.1  request the-forgery`,
    `AT converted: done  by the application with its secret ${secret_id}  request the-exchange`,
    expect.stringMatching(
      /^AT revoked: done \(host\) {2}on the command line, by \S+ {2}request \S{36}$/,
    ),
    expect.stringMatching(
      /^AT admin.codes.cancel: grant_not_found \(code_redeemed\) {2}on the command line {2}request \S{36}$/,
    ),
    '',
  ]);
  expect(JSON.parse(historyObject.stdout)).toMatchObject({
    ...{ object: 'grant_history', grant_id, application_id, account_id, recoveries: 0 },
    data: [{}, { result: 'code_not_found' }, { what: 'converted' }, { what: 'revoked' }, {}],
  });

  const [headline, ...rest] = explained.stdout.split('\n');
  expect(headline).toMatch(/ {2}grants\.convert was refused with code_not_found \(code_forged\)$/);
  expect(rest).toEqual([
    `by application ${application_id} from 127.0.0.1, about grant ${grant_id} of account ${account_id}`,
    `What was found: ${reasons.code_forged.found}`,
    `What to do: ${reasons.code_forged.advice}`,
    '',
  ]);
  expect(JSON.parse(explainedObject.stdout)).toMatchObject({
    object: 'list',
    data: [{ object: 'refusal', reason: 'code_forged', grant_id }],
  });
  expect(redacted.stdout).toContain(reasons.code_ill_formed.found);
  expect(redacted.stdout).not.toContain(secret);

  const stderr = `grant_not_found: ${textOf('grant_not_found')}\n`;
  expect(unknown).toEqual({ code: 1, stdout: '', stderr });
  expect(unexplained).toMatchObject({ code: 1, stdout: '' });
  expect(unexplained.stderr).toMatch(/^There is no refusal .* AUDIT_DAYS/);
  await database.remove();
});

test('the command prints the summary, with what commands did', async () => {
  const database = await sqliteDatabase();
  const server = await startTestServer(database.url);
  // A grant that is made while all are counted may be counted twice.
  await vi.waitFor(async () => {
    const { grants } = await succeed(server, 'admin.summary.get', { hours: 1 }, operator);
    expect(grants.live).not.toBeNull();
  }, 60_000);
  const { bearer, issue, link } = await linkedApplication(server);
  const { grant_id } = await link();
  const { code } = await issue();
  await send(server, converting(bearer, unknownCredential('code', randomUUID()), 'a-guess'));
  await send(server, converting(bearer, code, 'the-exchange'));
  await server.close();

  const latchkey = (...words: string[]) => runInProcess(words, { DATABASE_URL: database.url });
  await latchkey('grant', 'revoke', grant_id);
  await latchkey('grant', 'revoke', grant_id);
  const { stdout } = await latchkey('summary', '--hours', '1', '--json');
  expect(stdout.trimEnd()).not.toContain('\n');
  const printed = JSON.parse(stdout);
  expect(printed).toMatchObject({
    object: 'summary',
    grants: { created: 2, revoked: { host: 1 }, live: 1 },
    refused: { code_not_found: { code_ill_formed: 1 } },
  });
  expect(Object.keys(printed.refused)).toHaveLength(1);

  const table = await latchkey('summary');
  expect(table).toMatchObject({ code: 0, stderr: '' });
  for (const line of [
    /^links +0 begun, 0 approved, 0 denied, 0 expired$/m,
    /^grants created +2$/m,
    /^grants revoked +1 host$/m,
    /^grants live +1$/m,
    /^code_not_found \(code_ill_formed\) +1$/m,
    /^The numbers are approximate\.$/m,
  ]) {
    expect(table.stdout).toMatch(line);
  }
  expect(table.stdout.match(/^20\S+\t\d+\t\d+\t\d+$/gm)).toHaveLength(25);
  for (const hours of ['0', '721', 'many']) {
    expect(await latchkey('summary', '--hours', hours)).toMatchObject({ code: 1, stdout: '' });
  }
  await database.remove();
});

test('the summary says so if no service has counted the live grants yet', async () => {
  const database = await sqliteDatabase();
  const latchkey = (...words: string[]) => runInProcess(words, { DATABASE_URL: database.url });
  await latchkey('app', 'create', 'Acme');
  expect((await latchkey('summary')).stdout).toMatch(/^grants live +not counted yet$/m);
  const { stdout } = await latchkey('summary', '--json');
  expect(JSON.parse(stdout)).toMatchObject({ grants: { live: null } });
  await database.remove();
});
