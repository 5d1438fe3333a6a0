import type { HttpRequest, HttpResponse, Route } from './http.ts';

/** A body of an empty text would get a media type, and is not allowed with 204. */
export const responseOf = (answer: HttpResponse) => new Response(answer.body || null, answer);

/** Makes a handler that takes a request and returns a response. */
export const onFetch =
  <Incoming extends HttpRequest>(route: Route<Incoming, HttpResponse, void>) =>
  async (request: Incoming): Promise<Response> =>
    responseOf(await route(request, request));
