import type {
  LatchkeyEvent,
  NewEndpoint,
  OperationInput,
  OperationName,
  OperationOutput,
} from '@latchkey/schema';
import type { Delivering, DeliverySettings } from '@latchkey/server/testing';
import { type EventToSign, type SignEventOptions, type SignedEvent, signEvent } from './events.ts';

/** What an endpoint is told, and whose it is. */
export interface EndpointOptions {
  /** Whether it is an endpoint of the host, which also hears of new grants. Default: of the application. */
  host?: boolean;
  /** The types of events that it is told. Default: all that its kind is told. */
  types?: readonly Exclude<LatchkeyEvent['type'], 'ping'>[];
}

/**
 * The messages that a test server sends to endpoints of the test. It sends them within milliseconds, and
 * signs them with the real time, wherever its clock is. Like the service, it sends a message again that was not
 * delivered: the first time 5.5 seconds later at the latest, by the server's clock.
 */
export interface TestEvents {
  /**
   * Creates an endpoint for an address of the test, such as `http://127.0.0.1:4000/latchkey-events`. It is told
   * what happens from then on.
   *
   * @param url - the address. `http:` and loopback addresses are allowed
   * @param options - whose endpoint it is, and what it is told
   * @returns the endpoint with its `id` and its `secret`, `whsec_…`
   * @throws Error if the address is not valid, or there are 3 endpoints of the application or 5 of the host
   *
   * @example
   * ```ts
   * import { expressEvents } from '@latchkey/client/events';
   *
   * const { secret } = await server.events.createEndpoint('http://127.0.0.1:4000/latchkey-events');
   * app.post(
   *   '/latchkey-events',
   *   expressEvents({ secret, on: { 'grant.revoked': ({ grant_id }) => forget(grant_id) } }),
   * );
   * ```
   */
  createEndpoint(url: string | URL, options?: EndpointOptions): Promise<NewEndpoint>;

  /**
   * From now on, messages wait until {@link TestEvents.deliver} or {@link TestEvents.drop}.
   *
   * @example
   * ```ts
   * server.events.hold();
   * await server.revoke(grantId); // your application does not hear of it yet
   * ```
   */
  hold(): void;

  /**
   * Ends a {@link TestEvents.hold}, and resolves when there is no message left that is due: your receiver has
   * responded to each of them, with whatever status. Without a hold, a test waits with it for what has happened.
   *
   * @example
   * ```ts
   * await server.revoke(grantId);
   * await server.events.deliver(); // your application has heard of it
   * ```
   */
  deliver(): Promise<void>;

  /**
   * Sends the last message once more, with the same `webhook-id` and the same body, to each endpoint that it was
   * sent to. Resolves when they have responded. During a {@link TestEvents.hold}, it waits like any other
   * message, and this resolves at once.
   *
   * @throws Error if no message was sent yet, or if the last one was not delivered: it is sent again anyway
   *
   * @example
   * ```ts
   * await server.revoke(grantId);
   * await server.events.deliver();
   * await server.events.duplicate();
   * ```
   */
  duplicate(): Promise<void>;

  /**
   * Loses every message that waits, whether held or to be sent again, and ends a {@link TestEvents.hold}. For
   * tests of an application that missed one.
   *
   * @example
   * ```ts
   * server.events.hold();
   * await server.revoke(grantId);
   * await server.events.drop();
   * await latchkey.account(grantSecret); // rejects with AuthenticationError
   * ```
   */
  drop(): Promise<void>;

  /**
   * Makes a message without an endpoint, as `signEvent` does.
   *
   * @param event - the type and the data
   * @param secret - the secret of the receiver, `whsec_…`, or a list: each of them signs the message
   * @param options - its id and its time, for tests of repeated, old and future messages
   * @returns the body and the headers of a `POST`
   * @throws TypeError if a secret has the wrong form
   *
   * @example
   * ```ts
   * const event = { type: 'grant.revoked', data: { grant_id: grantId } } as const;
   * const message = server.events.sign(event, secret);
   * await fetch(url, { method: 'POST', ...message });
   * ```
   */
  sign(
    event: EventToSign,
    secret: string | readonly string[],
    options?: SignEventOptions,
  ): SignedEvent;
}

type Operator = <Name extends Extract<OperationName, `admin.${string}`>>(
  name: Name,
  input: OperationInput<Name>,
) => Promise<OperationOutput<Name>>;

// A test must not notice that it waits.
const LOOK_EVERY_MILLISECONDS = 10;

/** Holds what the service would deliver, and notices when nothing is left to deliver. */
export class DeliveryControl {
  readonly settings: DeliverySettings = {
    isBusy: () => false,
    signingClock: Date.now,
    lookEvery: LOOK_EVERY_MILLISECONDS,
    control: (store) => this.#control(store),
  };
  isHeld = false;

  readonly #running = new Set<string>();
  /** The deliveries of each event that were tried. */
  readonly #tried = new Map<string, Set<string>>();
  #lastEvent: string | undefined;
  /** Those that wait until nothing is left, and those of them that wait since before the current look. */
  #waiting = new Set<() => void>();
  #asked = new Set<() => void>();

  /** The deliveries of the event that was sent last. */
  get last(): string[] {
    return [...(this.#tried.get(this.#lastEvent ?? '') ?? [])];
  }

  /** Resolves when nothing is left to deliver, or at the end. */
  delivered(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(resolve));
  }

  end(): void {
    for (const done of this.#waiting) done();
    this.#waiting.clear();
  }

  #control(store: Delivering): Delivering {
    return {
      ...store,
      makeDeliveries: async (...asked) => {
        this.#asked = new Set(this.#waiting);
        if (this.isHeld) return false;
        const more = await store.makeDeliveries(...asked);
        if (more) this.#asked.clear();
        return more;
      },
      listDueEndpoints: async (options) => {
        if (this.isHeld) return [];
        const due = await store.listDueEndpoints(options);
        if (due.length > 0 || this.#running.size > 0) return due;
        for (const done of this.#asked) {
          this.#waiting.delete(done);
          done();
        }
        return due;
      },
      claimDeliveries: async (options) => {
        const claimed = await store.claimDeliveries(options);
        for (const { delivery } of claimed) {
          this.#running.add(delivery.id);
          this.#lastEvent = delivery.event_id;
          const tried = this.#tried.get(delivery.event_id) ?? new Set();
          this.#tried.set(delivery.event_id, tried.add(delivery.id));
        }
        return claimed;
      },
      endTries: async (tries) => {
        const disabled = await store.endTries(tries);
        for (const { delivery_id } of tries) this.#running.delete(delivery_id);
        return disabled;
      },
    };
  }
}

/** @param makeDeliveries - makes deliveries of all events so far */
export function createTestEvents(
  control: DeliveryControl,
  {
    application_id,
    operator,
    refuseIfClosed,
    makeDeliveries,
  }: {
    application_id: string;
    operator: Operator;
    refuseIfClosed(): void;
    makeDeliveries(): Promise<void>;
  },
): TestEvents {
  return {
    createEndpoint: (url, { host = false, types } = {}) =>
      operator('admin.endpoints.create', {
        url: `${url}`,
        ...(!host && { application_id }),
        ...(types && { types: [...types] }),
      }),
    hold() {
      control.isHeld = true;
    },
    async deliver() {
      refuseIfClosed();
      control.isHeld = false;
      await control.delivered();
    },
    async duplicate() {
      const { last } = control;
      if (last.length === 0) {
        throw new Error('No message was sent yet. Call `await server.events.deliver()` first.');
      }
      for (const delivery_id of last) await operator('admin.deliveries.retry', { delivery_id });
      if (!control.isHeld) await control.delivered();
    },
    async drop() {
      control.isHeld = true;
      await makeDeliveries();
      // What is pending for an endpoint that is disabled is lost.
      const { data } = await operator('admin.endpoints.list', { limit: 100 });
      for (const { id: endpoint_id } of data.filter(({ disabled }) => !disabled)) {
        await operator('admin.endpoints.update', { endpoint_id, disabled: true });
        await operator('admin.endpoints.update', { endpoint_id, disabled: false });
      }
      control.isHeld = false;
    },
    sign: signEvent,
  };
}
