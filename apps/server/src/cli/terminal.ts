import type { Readable } from 'node:stream';
import type { Step } from '@latchkey/store/step';

export interface Terminal {
  /** The service that `--url` names, whose operations are called instead of a database's. */
  serviceUrl?: string | undefined;
  environment: NodeJS.ProcessEnv;
  stdin: Readable & { isTTY?: boolean };
  stdout: Output;
  stderr: { write(text: string): unknown; isTTY?: boolean; columns?: number };
  /**
   * Says what a command does that takes long. Default: nothing is shown.
   *
   * @param step - default: its name; null: nothing is shown while a person types
   */
  showStep?(this: void, step?: Step | null): void;
}

export interface Output {
  /** Resolves when there is room for more. Never rejects: see {@link Output.failure}. */
  write(text: string): unknown;
  /** `EPIPE` means that the reader has enough, like `head` after its first lines. */
  readonly failure?: NodeJS.ErrnoException | null;
  readonly columns?: number | undefined;
}

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
