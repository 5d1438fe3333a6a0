import pino from 'pino';
import { expect, test } from 'vitest';
import { authenticateApplication } from '../applications/authenticate-application.ts';
import { MAX_LIVE_SECRETS } from '../applications/secrets.ts';
import { createDemo } from '../demo.ts';
import { convert } from '../grants/convert.ts';
import type { Origin } from '../origin.ts';
import { closeService, openService } from '../service.ts';

test('a demo works however often it is made, with one application and no more secrets', async () => {
  const service = await openService('file::memory:', pino({ enabled: false }));
  for (let round = 0; round < MAX_LIVE_SECRETS + 2; round++) {
    const { applicationSecret, code, grant_id } = await createDemo(service);
    const { application, secret_id } = await authenticateApplication(service, applicationSecret);
    const origin: Origin = { request_id: 'of-the-demo', by: 'application', secret_id };
    const { grant } = await convert(service, application.id, code, origin);
    expect(grant.grant_id).toBe(grant_id);
  }
  const applications = await service.store.listApplications({ limit: 10, before: null });
  expect(applications.map(({ secrets }) => secrets.length)).toEqual([MAX_LIVE_SECRETS]);
  await closeService(service);
});
