import { afterAll, beforeAll, beforeEach } from 'vitest';
import { type FakeService, type Reply, result, startFakeService } from './fake-service.ts';

/**
 * A fake service for all tests of a file, each of which finds its own requests alone. It can be used
 * within them.
 */
export function useFakeService(reply: Reply = result(null)): FakeService {
  const service = {} as FakeService;
  beforeAll(async () => {
    await startFakeService(reply, service);
  });
  beforeEach(() => {
    service.requests.length = 0;
  });
  afterAll(() => service.close());
  return service;
}
