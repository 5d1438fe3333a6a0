/** The parts of a request that the frameworks have under the same names. */
export interface HttpRequest {
  readonly method?: string | undefined;
  /** The address that was requested, or its path and query. */
  readonly url?: string | undefined;
  /** The address that was requested, if the framework keeps it where a router or a rewrite changes `url`. */
  readonly originalUrl?: string | undefined;
  /** A `Headers`, or the object of Node. */
  // biome-ignore lint/suspicious/noExplicitAny: The types of the features say which ones there are.
  readonly headers: any;
}

/** The response of a route. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * What a framework calls. Without a response, the framework goes on to the next handler.
 *
 * @typeParam Incoming - the request, or what the framework has in its place
 * @typeParam Reply - what else the framework has for the response
 */
export type Route<Incoming, Response = HttpResponse, Reply = unknown> = (
  incoming: Incoming,
  request: HttpRequest,
  reply: Reply,
) => Promise<Response>;

/** Makes a handler of each route. */
export const handlersOf = <Name extends string, Each, Handler>(
  routes: Readonly<Record<Name, Each>>,
  handlerOf: (route: Each) => Handler,
) =>
  Object.fromEntries(
    Object.entries<Each>(routes).map(([name, route]) => [name, handlerOf(route)]),
  ) as Record<Name, Handler>;

/** A header by its name in lower case; nothing if the request does not have it. */
export const headerOf = ({ headers }: HttpRequest, name: string) =>
  typeof headers.get === 'function' ? headers.get(name) : headers[name];

/** The parameters of an address, whatever comes before them. */
export const queryOf = (request: HttpRequest) =>
  new URLSearchParams(urlOf(request).replace(/^[^?]*/, ''));

/** The address that was requested, also where a router or a rewrite has changed `url`. */
export const urlOf = ({ originalUrl, url = '' }: HttpRequest) => originalUrl ?? url;

/** Nothing that a request brought is kept: its address may have a link or a code in it. */
export const answer = (
  status: number,
  headers: Record<string, string> = {},
  body = '',
): HttpResponse => ({
  status,
  headers: { 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer', ...headers },
  body,
});

/** Sends the browser to an address, which stays as it is written. */
export const redirect = (location: string): HttpResponse => answer(303, { Location: location });
