import type { HttpRequest, HttpResponse, Route } from './http.ts';

/** The part of Express's response that sends one. Node's own response fits too. */
export interface ExpressResponse {
  /**
   * Sends the status and the headers.
   *
   * @param status - the HTTP status
   * @param headers - the headers by name
   * @returns an object that sends the body
   */
  writeHead(status: number, headers: Record<string, string>): { end(body: string): unknown };
}

/** Makes a handler of Express, and of everything that takes `(request, response, next)`. */
export const onExpress =
  <Incoming extends HttpRequest, Reply extends ExpressResponse>(
    route: Route<Incoming, HttpResponse | undefined, Reply>,
  ) =>
  async (request: Incoming, response: Reply, next?: (error?: unknown) => void): Promise<void> => {
    try {
      const answer = await route(request, request, response);
      if (answer) return void response.writeHead(answer.status, answer.headers).end(answer.body);
    } catch (error) {
      if (next) return next(error);
      // Node's own server has no `next`, and a rejection would end its process.
      // biome-ignore lint/suspicious/noConsole: Nobody else would hear of it.
      console.error(error);
      try {
        response.writeHead(500, {}).end('');
      } catch {
        // It has begun already.
      }
      return;
    }
    next?.();
  };
