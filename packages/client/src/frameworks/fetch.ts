import type { HttpRequest, HttpResponse, Route } from './http.ts';

/** Makes a handler that takes a request and returns a response. */
export const onFetch =
  <Incoming extends HttpRequest, Other = Response>(
    route: Route<Incoming, HttpResponse | undefined, void>,
    next?: (request: Incoming) => Other | Promise<Other>,
  ) =>
  async (request: Incoming): Promise<Response | Other> => {
    const answer = await route(request, request);
    if (!answer) return (next as NonNullable<typeof next>)(request);
    // A body of an empty text would get a media type, and is not allowed with 204.
    return new Response(answer.body || null, answer);
  };
