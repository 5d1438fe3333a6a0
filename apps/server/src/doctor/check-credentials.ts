import type { Milliseconds } from '@latchkey/domain/clock';
import { isLive } from '@latchkey/domain/credentials/credentials';
import type { Service } from '@latchkey/rules/service';
import { openClaim } from '@latchkey/rules/vouchers';
import { type Finding, ok, warning } from '@latchkey/store/finding';
import type { ApplicationRecord, KeyRecord, SecretRecord } from '@latchkey/store/records';
import type { Settings } from '../settings.ts';
import { isLoopback } from './check-settings.ts';
import { everyOne } from './every-one.ts';

const UNUSED_DAYS = 90;
const UNUSED: Milliseconds = UNUSED_DAYS * 86_400_000;

const MOST_NAMED = 3;

type Source = Pick<Service, 'store' | 'clock'>;

export async function* checkKeys(
  { store, clock }: Source,
  { signInUrl }: Pick<Settings, 'signInUrl'>,
): AsyncGenerator<Finding> {
  const now = clock();
  const keys = await store.listKeys();
  const live = keys.filter((key) => isLive(key, now));
  const warnings: Finding[] = [];
  if (signInUrl !== null && !live.some(({ role }) => role === 'host')) {
    warnings.push(
      warning(
        'keys',
        'SIGN_IN_URL is set, but no key has the role host: your sign-in may have ADMIN_SECRET.',
        "Run latchkey key create 'our sign-in' --role host, and give your sign-in this key.",
      ),
    );
  }
  const unused = live.filter((key) => isUnused(key, now));
  if (unused.length > 0) {
    warnings.push(
      warning(
        'keys',
        `Not used for ${UNUSED_DAYS} days: ${named(unused, nameOf)}.`,
        'Delete those that nobody needs: docs/guides/rotate-a-secret.md#a-key.',
      ),
    );
  }
  yield* warnings;
  if (warnings.length > 0) return;
  const unlimited = live.filter(({ expires_at }) => expires_at === null);
  const endless = unlimited.length === 0 ? '' : ` Without an end: ${named(unlimited, nameOf)}.`;
  yield ok('keys', `${live.length} can be used.${endless}`);
}

export async function* checkApplications({ store, clock }: Source): AsyncGenerator<Finding> {
  const now = clock();
  let count = 0;
  const unlimited: ApplicationRecord[] = [];
  const onThisMachine: ApplicationRecord[] = [];
  const withSpareSecrets: ApplicationRecord[] = [];
  const registered = everyOne((range) => store.listApplications(range, { documented: false }));
  for await (const application of registered) {
    if (application.disabled) continue;
    count += 1;
    const live = application.secrets.filter((secret) => isLive(secret, now));
    if (application.scopes === null) unlimited.push(application);
    if (application.redirect_uris.some((uri) => isOnThisMachine(openClaim(uri, 'operator'))))
      onThisMachine.push(application);
    if (live.length > 1 && live.some((secret) => isUnused(secret, now))) {
      withSpareSecrets.push(application);
    }
  }
  const warnings = [
    [unlimited, 'May ask for every scope', 'latchkey app update ID --scope SCOPE names its own.'],
    [
      onThisMachine,
      'Has a redirect URI on the machine of its user, as a test has',
      'Unless it is a program that users install: latchkey app update ID --redirect-uri URI.',
    ],
    [
      withSpareSecrets,
      `Has a secret that was not used for ${UNUSED_DAYS} days beside another one`,
      'latchkey app get ID shows which: docs/guides/rotate-a-secret.md.',
    ],
  ] as const;
  for (const [applications, found, advice] of warnings) {
    if (applications.length === 0) continue;
    yield warning('applications', `${found}: ${named(applications, ({ id }) => id)}.`, advice);
  }
  if (warnings.every(([applications]) => applications.length === 0)) {
    yield ok('applications', `${count} can link. Each has a list of scopes.`);
  }
}

const nameOf = ({ name }: KeyRecord) => name;

const isUnused = ({ created_at, last_used_at }: SecretRecord, now: Milliseconds) =>
  now - (last_used_at ?? created_at) > UNUSED;

const isOnThisMachine = (uri: string) => URL.canParse(uri) && isLoopback(new URL(uri).hostname);

function named<Listed>(list: readonly Listed[], nameOf: (listed: Listed) => string): string {
  const first = list.slice(0, MOST_NAMED).map(nameOf);
  return [...first, ...(list.length > MOST_NAMED ? [`${list.length} in all`] : [])].join(', ');
}
