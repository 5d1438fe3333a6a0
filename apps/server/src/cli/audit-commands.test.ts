import { randomUUID } from 'node:crypto';
import { errorDefinition } from '@latchkey/schema';
import { expect, test } from 'vitest';
import { runCommand, startCommand } from '../../test/http/command-process.ts';
import { describeOnEachStore } from '../../test/http/databases.ts';
import { unknownCredential } from '../../test/http/error-cases.ts';
import { linkedApplication } from '../../test/http/linked-application.ts';
import { ADMIN_SECRET } from '../../test/http/running-server.ts';
import { reasons } from '../reasons.ts';

describeOnEachStore('the audit on the command line', (fresh) => {
  test('tells what a process did that was killed, and why it refused', {
    timeout: 60_000,
  }, async () => {
    const database = await fresh();
    const environment = { DATABASE_URL: database.url, ADMIN_SECRET, PORT: '0' };
    const latchkey = (...words: string[]) => runCommand(words, environment);
    const service = startCommand(['serve'], environment);
    const [, url = ''] = await service.printed(/listens on (\S+),/);
    const linked = await linkedApplication({ url });
    const { code, grant_id } = await linked.issue();
    const convert = (request_id: string, what: string) =>
      fetch(`${url}/oauth/convert`, {
        method: 'POST',
        headers: {
          authorization: linked.bearer,
          'content-type': 'application/json',
          'x-request-id': request_id,
        },
        body: JSON.stringify({ code: what }),
      });

    const refused = await convert('the-forgery', unknownCredential('code', grant_id));
    expect(refused.status).toBe(400);
    await convert(linked.secret, 'no code');
    await expect
      .poll(async () => (await latchkey('explain', linked.secret)).code, { timeout: 20_000 })
      .toBe(0);
    expect((await convert('the-exchange', code)).status).toBe(200);
    service.kill('SIGKILL');
    await service.ended;

    const history = await latchkey('grant', 'history', grant_id.toUpperCase(), '--json');
    expect(history).toMatchObject({ code: 0, stderr: '' });
    const { application_id, secret_id, account_id } = linked;
    const report = JSON.parse(history.stdout);
    expect(report).toMatchObject({ grant_id, application_id, account_id, recoveries: 0 });
    expect(report.data).toMatchObject([
      { what: 'issued', result: 'done', by: 'operator' },
      { what: 'grants.convert', result: 'code_not_found', request_id: 'the-forgery' },
      {
        what: 'exchanged',
        result: 'done',
        by: 'application',
        secret_id,
        request_id: 'the-exchange',
      },
    ]);

    await latchkey('grant', 'revoke', grant_id);
    expect((await latchkey('code', 'cancel', grant_id)).code).toBe(1);
    const { stdout } = await latchkey('grant', 'history', grant_id);
    expect(stdout.split('\n').map((line) => line.replace(/^20\S{27} /, 'AT'))).toEqual([
      `Of application ${application_id}, about account ${account_id}.`,
      expect.stringMatching(/^AT issued: done {2}by the operator {2}request \S{36}$/),
      `AT grants.convert: code_not_found (code_forged)  by application ${application_id} from 127.0.0.1  request the-forgery`,
      `AT exchanged: done  by the application with its secret ${secret_id}  request the-exchange`,
      expect.stringMatching(/^AT revoked: done {2}on the command line {2}request \S{36}$/),
      expect.stringMatching(
        /^AT admin.codes.cancel: grant_not_found \(code_exchanged\) {2}on the command line {2}request \S{36}$/,
      ),
      '',
    ]);

    const explained = await latchkey('explain', 'the-forgery');
    const [headline, ...rest] = explained.stdout.split('\n');
    expect(headline).toMatch(
      / {2}grants\.convert was refused with code_not_found \(code_forged\)$/,
    );
    expect(rest).toEqual([
      `by application ${application_id} from 127.0.0.1, about grant ${grant_id}`,
      `What was found: ${reasons.code_forged.found}`,
      `What to do: ${reasons.code_forged.advice}`,
      '',
    ]);
    const json = await latchkey('explain', 'the-forgery', '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({
      object: 'list',
      data: [{ object: 'refusal', reason: 'code_forged', grant_id }],
    });

    const redacted = await latchkey('explain', linked.secret);
    expect(redacted.stdout).toContain(reasons.code_ill_formed.found);
    expect(redacted.stdout).not.toContain(linked.secret);
    const nothing = await latchkey('explain', 'of-nobody');
    expect(nothing).toMatchObject({ code: 1, stdout: '' });
    expect(nothing.stderr).toMatch(/^There is no refusal .* AUDIT_DAYS/);
    expect(await latchkey('grant', 'history', randomUUID())).toEqual({
      code: 1,
      stdout: '',
      stderr: `grant_not_found: ${errorDefinition('grant_not_found').description}\n`,
    });
    expect(await latchkey('grant', 'history', 'no-id')).toMatchObject({ code: 1, stdout: '' });
    await database.remove();
  });
});
