import { afterAll, beforeAll, beforeEach } from 'vitest';
import { type FakeService, type Reply, result, startFakeService } from './fake-service.ts';

/**
 * Starts one fake service for all tests of a file, and clears its requests before each test. Use the
 * returned object only inside tests and hooks.
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
