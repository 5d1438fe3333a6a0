import type { Initiator } from '@latchkey/domain/initiator';
import { authenticateApplication } from '@latchkey/rules/applications/authenticate-application';
import { MAX_LIVE_SECRETS } from '@latchkey/rules/applications/secrets';
import { redeem } from '@latchkey/rules/grants/redeem';
import type { Service } from '@latchkey/rules/service';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { closeService, openService } from '../open-service.ts';
import { createDemo, type Demo, findLiveDemoSecret } from './calls-to-paste.ts';

const DAY = 24 * 60 * 60 * 1000;

describe('a demo', () => {
  let now: number;
  let service: Service;
  beforeEach(async () => {
    now = Date.UTC(2026, 10, 21);
    service = await openService('file::memory:', pino({ enabled: false }), {
      clock: () => now,
    });
  });
  afterEach(() => closeService(service));

  const listApplications = () => service.store.listApplications({ limit: 50, before: null });

  async function convert({ applicationSecret, code }: Demo): Promise<string> {
    const { application, secret_id } = await authenticateApplication(service, applicationSecret);
    const initiator: Initiator = { request_id: 'of-the-demo', by: 'application', secret_id };
    return (await redeem(service, application, { code }, initiator)).grant.grant_id;
  }

  test('never removes a secret that works, however many are made', async () => {
    const demos: Demo[] = [];
    for (let made = 0; made < 2 * MAX_LIVE_SECRETS + 1; made++) {
      demos.push(await createDemo(service));
    }
    for (const demo of demos) expect(await convert(demo)).toBe(demo.grant_id);
    const applications = await listApplications();
    expect(applications.map(({ name }) => name).sort()).toEqual(['Demo', 'Demo 2', 'Demo 3']);
  });

  test('has a secret that works for one day', async () => {
    const demo = await createDemo(service);
    expect(demo.secret_expires_at).toBe('2026-11-22T00:00:00.000+00:00');
    now += DAY - 1;
    await authenticateApplication(service, demo.applicationSecret);
    now += 1;
    const authenticating = authenticateApplication(service, demo.applicationSecret);
    await expect(authenticating).rejects.toMatchObject({ code: 'credentials_invalid' });
  });

  test('removes the secrets that have expired, and uses their application again', async () => {
    for (let made = 0; made < MAX_LIVE_SECRETS; made++) await createDemo(service);
    now += DAY;
    await createDemo(service);
    const applications = await listApplications();
    expect(applications.map(({ secrets }) => secrets.length)).toEqual([1]);
  });

  test('leaves a disabled application alone', async () => {
    await createDemo(service);
    const [{ id } = expect.fail('none')] = await listApplications();
    await service.store.setApplicationDisabled(id, true, 0);
    const demo = await createDemo(service);
    expect(await convert(demo)).toBe(demo.grant_id);
    expect((await service.store.findApplication(id))?.disabled).toBe(true);
  });

  test('is refused where there is no room, and says what to do', async () => {
    for (let made = 0; made < 20 * MAX_LIVE_SECRETS; made++) await createDemo(service);
    await expect(createDemo(service)).rejects.toThrow(/no room.*latchkey app secret revoke/);
    expect(await listApplications()).toHaveLength(20);
  });

  test('is found as long as one of its secrets works', async () => {
    expect(await findLiveDemoSecret(service)).toBeNull();
    await createDemo(service);
    const [
      {
        id,
        secrets: [secret],
      } = expect.fail('none'),
    ] = await listApplications();
    expect(await findLiveDemoSecret(service)).toEqual({
      application_id: id,
      secret_id: secret?.id,
      expires_at: '2026-11-22T00:00:00.000+00:00',
    });
    await service.store.setApplicationDisabled(id, true, 0);
    expect(await findLiveDemoSecret(service)).toBeNull();
    await service.store.setApplicationDisabled(id, false, 0);
    now += DAY;
    expect(await findLiveDemoSecret(service)).toBeNull();
  });
});
