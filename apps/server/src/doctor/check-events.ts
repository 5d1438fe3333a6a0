import type { Milliseconds } from '@latchkey/domain/clock';
import { fingerprintsOf } from '@latchkey/rules/events/endpoint-secret';
import type { Service } from '@latchkey/rules/service';
import { MAX_COUNTED_EVENTS } from '@latchkey/rules/summary/summary';
import { formatTimestamp } from '@latchkey/schema';
import { DEMO_ENDPOINT_ID, knownAfter } from '@latchkey/store/events-keys';
import { type Finding, ok, problem, warning } from '@latchkey/store/finding';
import type { EndpointRecord } from '@latchkey/store/records';
import { isDemo } from '../is-demo.ts';
import { eventsFrom } from '../open-service.ts';
import type { Settings } from '../settings.ts';
import { everyOne } from './every-one.ts';

/** As of the alert: by then, an endpoint that fails has had four tries of a message. */
const LATE: Milliseconds = 3_600_000;

const MOST_NAMED = 3;

export async function* checkEvents(
  { store, clock }: Pick<Service, 'store' | 'clock'>,
  settings: Settings,
): AsyncGenerator<Finding> {
  let count = 0;
  const failing: EndpointRecord[] = [];
  const disabled: EndpointRecord[] = [];
  for await (const endpoint of everyOne((range) => store.listEndpoints({}, range))) {
    if (endpoint.id === DEMO_ENDPOINT_ID && !isDemo(settings)) continue;
    count += 1;
    const { disabled_reason, failing_since } = endpoint;
    // An operator who disabled one knows it.
    if (disabled_reason === 'failing' || disabled_reason === 'gone') disabled.push(endpoint);
    else if (disabled_reason === null && failing_since !== null) failing.push(endpoint);
  }
  if (settings.eventsKey === null && !isDemo(settings)) {
    yield count === 0
      ? ok('events', 'Events are off: EVENTS_KEY is not set.')
      : problem(
          'events',
          `EVENTS_KEY is not set, but the database has ${count} ${endpoints(count)}: the service does not start.`,
          'Set it to that of the services that use the database.',
        );
    return;
  }
  const keys = eventsFrom(settings)?.keys();
  const known = await store.findEventsKeys();
  if (count > 0 && keys !== undefined && knownAfter(known, fingerprintsOf(keys)) === null) {
    yield problem(
      'events',
      `EVENTS_KEY is another key than that of the secrets of the ${count} ${endpoints(count)}: the service does not start.`,
      'Set it to that of the services that use the database, or EVENTS_KEY_PREVIOUS to the key before.',
    );
    return;
  }
  const now = clock();
  const { pending, oldest_at } = await store.countEvents(MAX_COUNTED_EVENTS);
  const isLate = oldest_at !== null && now - oldest_at > LATE;
  if (failing.length === 0 && disabled.length === 0 && !isLate) {
    const some = pending === MAX_COUNTED_EVENTS ? `at least ${pending}` : pending;
    yield ok('events', `Events are on: ${count} ${endpoints(count)}, ${some} not delivered yet.`);
  }
  if (failing.length > 0) {
    yield warning(
      'events',
      `${failing.length} ${endpoints(failing.length)} failed at the last try: ${named(failing, sinceWhen)}.`,
      'latchkey delivery list --endpoint ID shows the tries.',
    );
  }
  if (disabled.length > 0) {
    yield warning(
      'events',
      `${disabled.length} ${endpoints(disabled.length)} failed until disabled, and heard of nothing since: ${named(disabled, why)}.`,
      'Ask for a receiver that works, then run latchkey endpoint update ID --enable; or delete it.',
    );
  }
  if (isLate) {
    yield warning(
      'events',
      `The oldest event that is not delivered happened at ${formatTimestamp(oldest_at)}.`,
      'If no endpoint fails, see whether a service runs on this database.',
    );
  }
}

const endpoints = (count: number) => (count === 1 ? 'endpoint' : 'endpoints');
const sinceWhen = ({ failing_since }: EndpointRecord) =>
  `since ${formatTimestamp(failing_since ?? 0)}`;
const why = ({ disabled_reason }: EndpointRecord) => `(${disabled_reason})`;

function named(list: readonly EndpointRecord[], more: (endpoint: EndpointRecord) => string) {
  const first = list.slice(0, MOST_NAMED).map((endpoint) => `${endpoint.id} ${more(endpoint)}`);
  return [...first, ...(list.length > MOST_NAMED ? ['…'] : [])].join(', ');
}
