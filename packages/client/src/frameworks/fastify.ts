import type { HttpRequest, HttpResponse, Route } from './http.ts';

/** The part of Fastify's reply that sends a response. */
export interface FastifyReply {
  /**
   * Sets the status.
   *
   * @param status - the HTTP status
   */
  code(status: number): unknown;
  /**
   * Sets the headers. A cookie is added to those of the reply.
   *
   * @param headers - the headers by name
   */
  headers(headers: Record<string, string>): unknown;
  /**
   * Sends the response.
   *
   * @param body - the body
   */
  send(body: string): unknown;
}

/** Makes a handler or a hook of Fastify. */
export const onFastify =
  <Incoming extends HttpRequest, Reply extends FastifyReply>(
    route: Route<Incoming, HttpResponse | undefined, Reply>,
  ) =>
  async (request: Incoming, reply: Reply): Promise<unknown> => {
    const answer = await route(request, request, reply);
    // Without a response, a hook lets Fastify go on to the route.
    if (!answer) return undefined;
    reply.code(answer.status);
    reply.headers(answer.headers);
    reply.send(answer.body);
    // Returning the reply tells Fastify that it has a response.
    return reply;
  };
