import type { Order } from './order.mjs';

/** As one word of a shell. */
export const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

const LOOPBACK = ['127.0.0.1', 'localhost'];

/** The commands that start a service for a project, as a sentence. */
export function startOf({
  role,
  name,
  url,
  port,
}: Required<Pick<Order, 'role' | 'name' | 'url' | 'port'>>): string {
  const service = new URL(url);
  if (!LOOPBACK.includes(service.hostname)) {
    return 'Start it, or name its address with --url: docs/operations/install.md.';
  }
  const ofPort = service.port === '3000' ? '' : `PORT=${service.port || 80} `;
  const commands = {
    application: `${ofPort}npm start`,
    mcp: `${ofPort}CLIENT_REGISTRATION=on npm start`,
    host: `(umask 077 && openssl rand -hex 32 > ../admin-secret)
ADMIN_SECRET_FILE=../admin-secret \\
  PUBLIC_URL=${quoted(url)} PORT=${service.port || 80} \\
  SIGN_IN_URL='http://127.0.0.1:${port}/link' PAGE_NAME=${quoted(name)} \\
  npm start`,
  };
  return `Start it in another terminal, also in the repository:\n\n${commands[role]}\n\nIf it has another address, name it with --url.`;
}
