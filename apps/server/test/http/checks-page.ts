import { noLimits } from '@latchkey/rules/limits/limits';
import pino from 'pino';
import { clientEndpoints } from '../../src/http/rest/client-endpoints.ts';
import type { RouteAction } from '../../src/http/router.ts';
import { offeredRoutes } from '../../src/http/routes.ts';
import { closeService, linkingFrom, openService } from '../../src/open-service.ts';
import type { Audited, CountsAgainst } from '../../src/operations/action.ts';
import type { CallerKind } from '../../src/operations/caller.ts';
import { loadSettings } from '../../src/settings.ts';

const callers: Record<CallerKind, { address: string; who: string }> = {
  application: { address: '`authentications`', who: 'application' },
  grant: { address: '`authentications`', who: 'grant' },
  operator: { address: '`authentications`', who: 'operator' },
  user: { address: '`authentications`', who: 'user, by cookie' },
  visitor: { address: '`authentications`', who: 'nobody' },
};

const counts: Record<CountsAgainst, string> = {
  nothing: '–',
  requests: '`requests`',
  exchanges: '`requests`, `exchanges`',
  links: '`links`',
  pages: '[the page](protocol/limits.md#rate-limits)',
};

const audited: Record<Audited, string> = {
  always: 'always',
  first_use: 'the first use',
  refusals: 'refusals',
};

/** Every route of the service, with everything on but the demo. */
async function allRoutes() {
  const settings = loadSettings({
    DATABASE_URL: 'file::memory:',
    ADMIN_SECRET: '0123456789abcdef'.repeat(2),
    PUBLIC_URL: 'https://link.example',
    SIGN_IN_URL: 'https://host.example/sign-in',
    CLIENT_REGISTRATION: 'on',
  });
  const linking = linkingFrom(settings);
  const service = await openService('file::memory:', pino({ enabled: false }), { linking });
  const never = () => {
    throw new Error('No request is made.');
  };
  const { routes } = offeredRoutes(
    { service, limits: noLimits },
    { authenticate: never, authenticateClient: never },
    {
      routes: 'all',
      settings,
      metrics: {
        observeStore: never,
        housekeepingFailed: never,
        observeEvents: never,
        finished: never,
        rateLimited: never,
        collectFrom: never,
        text: never,
      },
      draining: new AbortController().signal,
    },
  );
  await closeService(service);
  return routes;
}

/** It counts in no limit. */
const isRegistration = ({ name }: RouteAction) => name.startsWith('clients.');

function bodyOf(method: string, path: string, action: RouteAction): string {
  if (method === 'GET') return '–';
  if (clientEndpoints.some((endpoint) => endpoint.path === path)) return 'JSON or form';
  return action.input === null && !isRegistration(action) ? 'form' : 'JSON';
}

/** The checks of an action of a route, by the columns of the page, without the rule. */
function checksOf(method: string, path: string, action: RouteAction): string[] {
  const { address, who } = callers[action.caller];
  return [
    action.counts === 'links' ? '`links`' : isRegistration(action) ? '–' : address,
    who,
    bodyOf(method, path, action),
    action.input === null ? 'the route' : 'the schema',
    counts[action.counts],
    audited[action.audited],
  ];
}

/** The expected content of docs/checks.md. */
export async function checksPage(): Promise<string> {
  const routes = await allRoutes();
  const actions = routes.flatMap(({ method, path, actions = [] }) =>
    actions.map((action) => {
      const isOperation = action.input !== null && bodyOf(method, path, action) !== 'JSON or form';
      const rule = `\`${action.name}\``;
      return {
        named: isOperation ? rule : `\`${method} ${path}\` → ${rule}`,
        checks: checksOf(method, path, action),
      };
    }),
  );
  const groups = Map.groupBy(actions, ({ checks }) => checks.join());
  const rows = [...groups.values()].map((alike) => [
    ...(alike[0]?.checks ?? []),
    alike.map(({ named }) => named).join(', '),
  ]);
  const plain = routes.filter(({ actions = [] }) => actions.length === 0);
  return `# Checks

<!-- Made from the routes and their tables: npm run generate -->

Which check runs for which route, in [the order of the checks](protocol/README.md#order-of-checks). The first check that
fails decides the response, and nothing after it runs.

1. **Framing**: one \`Host\`, and an end of the body that is certain. Otherwise 400, and the connection closes.
2. **Route and method**
3. **Limit of the address**, unless its credentials are right
4. **Who**; of a user, otherwise \`page_expired\`
5. **Body**: media type, at most 16 KiB, syntax. A form without an \`Authorization\` header is read before step 3.
6. **Input**, read by the schema of the operation or by the route
7. **Limit of the call**: [what counts](protocol/limits.md#rate-limits)
8. **Rule**, by the name of the action. With AUDIT=required, a change is refused while the log fails.
9. **Audit**: every refusal; the last column says which other calls.

A rule alone is an operation, whose route stands in [the protocol](protocol/operations.md); over tRPC, it has the same
checks, and the schema is applied by its procedure. \`→\` names the rule behind a route for browsers and OAuth clients.

| 3 address | 4 who | 5 body | 6 input | 7 call | 9 audit | 8 rule |
| --- | --- | --- | --- | --- | --- | --- |
${rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}

Steps 1 and 2 alone: ${plain.map(({ method, path }) => `\`${method} ${path}\``).join(', ')}.
`;
}
