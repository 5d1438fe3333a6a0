import type { Flight } from './flight.ts';
import type { WithRequestId } from './request-id.ts';

/** The flights under way, each under what tells it apart. What has landed is forgotten. */
export class SharedFlights<Result extends object> {
  readonly #flights = new Map<string, Flight<Result>>();

  /** Joins the flight that is under way there, or else the one that `depart` makes. */
  async join(
    key: string,
    depart: () => Flight<Result>,
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ): Promise<WithRequestId<Result>> {
    let flight = this.#flights.get(key);
    if (!flight?.canBeJoined) {
      flight = depart();
      this.#flights.set(key, flight);
    }
    try {
      return await flight.join(timeoutMs, signal);
    } finally {
      if (!flight.canBeJoined && this.#flights.get(key) === flight) this.#flights.delete(key);
    }
  }
}
