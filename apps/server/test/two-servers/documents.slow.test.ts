import { longer } from '@latchkey/test-kit/long';
import { beforeAll, expect, test } from 'vitest';
import { approved, begin, request, SETTINGS } from '../client-documents/document-flow.ts';
import { publish, useWorld } from '../client-documents/document-server.ts';
import { succeed } from '../http/call.ts';
import { describeOnEachStore } from '../http/databases.ts';
import { operator } from '../http/running-server.ts';
import { authorize, linkingApplication } from '../linking/link-flow.ts';
import { useTwoServers } from './use-two-servers.ts';

const ROUNDS = longer(3, 50);
const APPROVALS = 10;

const world = useWorld();
const settings: NodeJS.ProcessEnv = { ...SETTINGS };
beforeAll(() => {
  settings.NODE_EXTRA_CA_CERTS = world.authority.file;
});

describeOnEachStore('an application with a document that two processes let in at once', (fresh) => {
  const servers = useTwoServers(fresh, settings);
  const at = (number: number) => servers[number % 2] as (typeof servers)[0];

  test('is one application, also once it comes back, and stays out while it is disabled', async () => {
    const { account_id } = await linkingApplication(servers[0]);
    for (let round = 0; round < ROUNDS; round++) {
      const published = await publish(world);
      const letIn = async () => {
        const links: string[] = [];
        for (let turn = 0; turn < APPROVALS; turn++) links.push(await begin(at(turn), published));
        // Not where it was begun.
        const all = links.map((link, turn) => approved(at(turn + 1), link, account_id));
        const ids = (await Promise.all(all)).map(({ answer }) => answer.application.id as string);
        expect(new Set(ids).size).toBe(1);
        return ids[0] as string;
      };
      const application_id = await letIn();
      await succeed(at(round), 'admin.applications.disable', { application_id }, operator);
      const refused = await authorize(at(round + 1), request(published));
      expect(refused.text).toContain('client_unknown');
      await succeed(at(round), 'admin.applications.delete', { application_id }, operator);
      expect(await letIn()).not.toBe(application_id);
    }
  });
});
