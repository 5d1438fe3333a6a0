import type { Readable } from 'node:stream';

/** What a command reads its settings and its input from, and prints to. */
export interface Terminal {
  environment: NodeJS.ProcessEnv;
  stdin: Readable & { isTTY?: boolean };
  stdout: Output;
  stderr: { write(text: string): unknown; isTTY?: boolean };
}

/** Where a command prints its result. */
export interface Output {
  /**
   * Resolves when there is room for more. Never rejects: see {@link Output.failure}. Writes nothing
   * once it has failed.
   */
  write(text: string): unknown;
  /**
   * Why nothing can be written any more. The code `EPIPE` only says that the reader has enough, as
   * `head` after its first lines.
   */
  readonly failure?: NodeJS.ErrnoException | null;
  /** The width of the terminal, in characters; undefined if it is none, such as a file or a pipe. */
  readonly columns?: number | undefined;
}

/** Prints to a stream of the process, and keeps its errors from ending the process. */
export function outputTo(stream: NodeJS.WriteStream): Output {
  let failure: NodeJS.ErrnoException | null = null;
  stream.on('error', (error) => {
    failure ??= error;
  });
  return {
    get failure() {
      return failure;
    },
    get columns() {
      return stream.isTTY ? stream.columns : undefined;
    },
    async write(text) {
      if (failure !== null) return;
      await new Promise<void>((resolve) => {
        stream.write(text, (error) => {
          if (error) failure ??= error;
          resolve();
        });
      });
    },
  };
}
