import type { Settings } from '../settings.ts';

/** The port may be 0. */
export function listeningUrl({ host, port }: Pick<Settings, 'host' | 'port'>): string {
  return `http://${reachable(host)}:${port}`;
}

function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
