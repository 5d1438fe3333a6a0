/** The part of Node's response that is used after an error. */
interface FailingResponse {
  writeHead(status: number, headers: Record<string, string>): { end(body: string): unknown };
}

/** What Express and its like pass on to. Node's own server has none. */
export type Next = ((error?: unknown) => void) | undefined;

/**
 * Passes an error on. Where nobody takes it, a rejection would end the process: it is printed, and the
 * response is 500.
 */
export function passOn(error: unknown, response: FailingResponse, next: Next): void {
  if (next) {
    next(error);
    return;
  }
  // biome-ignore lint/suspicious/noConsole: Nobody else would hear of it.
  console.error(error);
  try {
    response.writeHead(500, {}).end('');
  } catch {
    // It has begun already.
  }
}
