import { readCookies } from '../http/cookie.ts';
import type { RequestContext } from '../http/request-context.ts';
import { demoPaths } from './linking-demo.ts';

/** The linking flow itself reads none of these cookies. */
export interface DemoCookies {
  read(context: RequestContext, name: string): string | null;
  /** @param seconds - 0 removes the cookie */
  set(name: string, value: string, seconds: number): string;
}

export function createDemoCookies(publicUrl: string): DemoCookies {
  const { pathname, protocol } = new URL(publicUrl + demoPaths.application);
  const attributes = `HttpOnly; SameSite=Lax; Path=${pathname}${protocol === 'https:' ? '; Secure' : ''}`;
  const fullName = (name: string) => `latchkey_demo_${name}`;
  return {
    read: ({ request }, name) => readCookies(request.headers.cookie).get(fullName(name)) ?? null,
    set: (name, value, seconds) => `${fullName(name)}=${value}; ${attributes}; Max-Age=${seconds}`,
  };
}
