import { LatchkeyError } from './errors.ts';

// V8, Bun and newer versions of Safari have it.
interface StackCapturing {
  readonly captureStackTrace?: (target: object, below: unknown) => void;
}

const FIRST_FRAME = '\n    at ';

/**
 * Runs a method of the client. If it rejects with a LatchkeyError, the stack of the error is that of
 * the method's caller.
 *
 * Without this, most stacks would show only timers and the network: the calls in between that share a
 * request, or race an abort, break the chain that V8 follows.
 *
 * @param method - the method, which the stack leaves out, with everything that it calls
 */
export async function withCallerStack<Result>(
  method: unknown,
  run: () => Promise<Result>,
): Promise<Result> {
  const caller: { stack?: unknown } = {};
  // This takes about 10 µs: V8 collects the frames now, and formats them only if `stack` is read.
  (Error as StackCapturing).captureStackTrace?.(caller, method);
  try {
    return await run();
  } catch (error) {
    if (error instanceof LatchkeyError) showCaller(error, caller.stack);
    throw error;
  }
}

function showCaller(error: LatchkeyError, stack: unknown): void {
  // Programs can replace the format, or turn stacks off. The error keeps its own stack then.
  const start = typeof stack === 'string' ? stack.indexOf(FIRST_FRAME) : -1;
  if (start >= 0) error.stack = `${error}${(stack as string).slice(start)}`;
}
