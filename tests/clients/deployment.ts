import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ADMIN_SECRET, operator } from '../support/operator.ts';
import { type Environment, environment, startService } from '../support/service.ts';
import { type Gateway, startGateway } from './gateway.ts';
import { ADA, startHost } from './host.ts';

/** The scope that every application asks for. */
export const SCOPE = 'profile.read';

/** Latchkey behind a proxy, and a host with one account. */
export interface Deployment {
  readonly gateway: Gateway;
  /** Calls a route of `/admin`. */
  admin<Result>(method: string, path: string, body?: object): Promise<Result>;
  close(): Promise<void>;
}

/**
 * @param prefix - the path of PUBLIC_URL
 * @param more - more settings
 */
export async function startDeployment(prefix: string, more: Environment = {}): Promise<Deployment> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-clients-'));
  const gateway = await startGateway(prefix);
  const host = await startHost((operation, body) => admin('POST', `/links/${operation}`, body));
  const urls = { PUBLIC_URL: gateway.url, SIGN_IN_URL: host.signInUrl };
  const settings = { ADMIN_SECRET, ...urls, ...more };
  const service = await startService({ cwd: folder, env: environment(settings) });
  gateway.forwardTo(service.url);
  const admin: Deployment['admin'] = (method, path, body) => operator(service, method, path, body);
  const { id, ...account } = ADA;
  await admin('PUT', `/accounts/${id}`, account);
  await admin('PUT', `/scopes/${SCOPE}`, { title: 'See who you are' });
  // The metadata offers this one too, and no application asks for it.
  await admin('PUT', '/scopes/messages.send', { title: 'Send messages for you' });
  return {
    gateway,
    admin,
    async close() {
      await service.stop();
      await host.close();
      await gateway.close();
      await rm(folder, { recursive: true });
    },
  };
}
