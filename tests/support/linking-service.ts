import { ADMIN_SECRET } from './operator.ts';
import { environment, type ServiceProcess, startService } from './service.ts';

/**
 * The public URL of the service below, for programs that don't follow its redirects: nobody listens
 * there. It is known before the service has a port.
 */
export const PUBLIC_URL = 'http://127.0.0.1:1';

/** Starts a service with the linking flow. Its host is the test. */
export const startLinkingService = (cwd: string): Promise<ServiceProcess> =>
  startService({
    cwd,
    env: environment({ ADMIN_SECRET, PUBLIC_URL, SIGN_IN_URL: 'http://127.0.0.1:1/sign-in' }),
  });
