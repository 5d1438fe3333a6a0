import { randomUUID } from 'node:crypto';
import { longer } from '@latchkey/test-kit/long';
import { expect, test } from 'vitest';
import { invoke, succeed } from '../http/call.ts';
import { describeOnEachStore } from '../http/databases.ts';
import { ADA } from '../http/linked-application.ts';
import { operator } from '../http/running-server.ts';
import {
  addedTo,
  CALLBACK,
  LINKING,
  type LinkingApplication,
  linkingApplication,
  VERIFIER,
} from '../linking/link-flow.ts';
import { openConsent, visit } from '../linking/page-flow.ts';
import { useTwoServers } from './use-two-servers.ts';

const ROUNDS = longer(5, 100);

/** What somebody who decided was told: where the browser goes, or the error code. */
interface Told {
  redirect_to: string | null;
  error_code: string | null;
}

describeOnEachStore('a link that two processes decide about at once', (fresh) => {
  const servers = useTwoServers(fresh, LINKING);

  const byHost = async (of: number, step: 'approve' | 'deny', input: object): Promise<Told> => {
    const server = servers[of % 2] as (typeof servers)[0];
    const { body } = await invoke(server, 'REST', `admin.links.${step}`, { ...input }, operator);
    return { redirect_to: body.redirect_to ?? null, error_code: body.error_code ?? null };
  };
  const byUser = async (
    of: number,
    { path, cookie, form_token }: { path: string; cookie: string; form_token: string },
    decision: string,
  ): Promise<Told> => {
    const server = servers[of % 2] as (typeof servers)[0];
    const { headers, text } = await visit(server, path, { cookie, form: { form_token, decision } });
    const [, error_code = null] = /<dd>(\w+)<\/dd>/.exec(text) ?? [];
    return { redirect_to: headers.get('location'), error_code };
  };

  const convert = ({ bearer }: LinkingApplication, code: string) =>
    succeed(
      servers[0],
      'grants.convert',
      { code, redirect_uri: CALLBACK, code_verifier: VERIFIER },
      bearer,
    );

  test('has one decision, and whoever made it hears the same everywhere', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const app = await linkingApplication(servers[0]);
      const { account_id } = app;
      const other = randomUUID();
      await succeed(servers[0], 'admin.accounts.put', { account_id: other, ...ADA }, operator);
      const { link, ...page } = await openConsent(servers[1], app);
      const kinds = [
        (i: number) => byHost(i, 'approve', { link, account_id }),
        (i: number) => byHost(i, 'approve', { link, account_id: other }),
        (i: number) => byHost(i, 'deny', { link }),
        (i: number) => byUser(i, page, 'allow'),
        (i: number) => byUser(i, page, 'deny'),
      ];
      const OTHER_ACCOUNT = 1;
      // Each kind four times, each time with another one first.
      const attempts = Array.from({ length: 20 }, (_, i) => (round + i) % kinds.length);
      const told = await Promise.all(attempts.map((kind, i) => kinds[kind]?.(i) as Promise<Told>));

      const winners = attempts.filter((_, i) => told[i]?.redirect_to !== null);
      expect(new Set(winners).size).toBe(1);
      expect(winners).toHaveLength(4);
      const answers = told
        .flatMap(({ redirect_to }) => redirect_to ?? [])
        .map((location) => addedTo(`${CALLBACK}&`, location));
      expect(new Set(answers.map(({ code, error }) => code ?? error)).size).toBe(1);
      const refused = told.flatMap(({ error_code }, i) => {
        // Before the decision, the approval for somebody who was not identified has its own refusal.
        const isUndecided = error_code === 'account_changed' && attempts[i] === OTHER_ACCOUNT;
        return isUndecided ? 'link_decided' : (error_code ?? []);
      });
      expect(refused).toEqual(Array.from({ length: 16 }, () => 'link_decided'));

      const { status, grant_id } = await succeed(
        servers[1],
        'admin.links.read',
        { link },
        operator,
      );
      const { code } = answers[0];
      expect(status).toBe(code === undefined ? 'denied' : 'approved');
      if (code === undefined) continue;
      expect((await convert(app, code)).grant_id).toBe(grant_id);
      // Nobody else has a code that works.
      const listed = await Promise.all(
        [account_id, other].map((id) =>
          succeed(servers[0], 'admin.accounts.export', { account_id: id }, operator),
        ),
      );
      expect(listed.flatMap(({ codes }) => codes)).toEqual([]);
    }
  });
});
