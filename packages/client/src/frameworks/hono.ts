import type { HttpRequest, HttpResponse, Route } from './http.ts';

/** The part of Hono's context that makes a response. */
interface HonoContext {
  readonly req: { readonly raw: HttpRequest };
  body(body: never, status: never, headers: Record<string, string>): Response;
}

/** Makes a handler or middleware of Hono. */
export const onHono =
  <Context extends HonoContext>(route: Route<Context, HttpResponse | undefined, Context>) =>
  async (context: Context, next: () => Promise<void>): Promise<Response | undefined> => {
    const answer = await route(context, context.req.raw, context);
    if (!answer) return void (await next());
    // With 204, not even an empty body is allowed. A route makes responses of its statuses alone.
    const body = answer.status === 204 ? null : answer.body;
    return context.body(body as never, answer.status as never, answer.headers);
  };
