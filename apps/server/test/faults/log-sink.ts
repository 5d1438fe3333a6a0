import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { withMounts } from './mount-namespace.ts';

/** What the service's stderr is connected to, in a way that can be broken. */
export interface TestSink {
  /** A command to run the service in. */
  within: readonly string[];
  /** From now on nothing is taken. A pipe takes what it has room for. */
  break(pid: number): void;
  repair(pid: number): void;
  /** All that was taken. */
  text(pid: number): string;
}

/** A file on a disk of 4 MiB, which something else fills. */
export function onDisk(folder: string): TestSink {
  const disk = join(folder, 'disk');
  mkdirSync(disk);
  const script = 'mount -t tmpfs -o size=4m tmpfs "$0"; exec 2>>"$0/log"';
  const inside = (pid: number, name: string) => `/proc/${pid}/root${join(disk, name)}`;
  const fill = 'head -c 4m /dev/zero > "$0" 2>/dev/null || true';
  return {
    within: withMounts(script, disk),
    break: (pid) => execFileSync('sh', ['-c', fill, inside(pid, 'ballast')]),
    repair: (pid) => execFileSync('rm', [inside(pid, 'ballast')]),
    text: (pid) => readFileSync(inside(pid, 'log'), 'utf8'),
  };
}

/** A pipe with a reader that ends, and then another one. */
export function toReaderThatEnds(folder: string): TestSink {
  const pipe = new Pipe(folder);
  let reader = pipe.read();
  return {
    ...pipe.sink,
    break: () => reader.kill('SIGKILL'),
    repair() {
      reader = pipe.read();
    },
  };
}

/** A pipe with a reader that sleeps. */
export function toReaderThatSleeps(folder: string): TestSink {
  const pipe = new Pipe(folder);
  const reader = pipe.read();
  return {
    ...pipe.sink,
    break: () => reader.kill('SIGSTOP'),
    repair: () => reader.kill('SIGCONT'),
  };
}

class Pipe {
  readonly #path: string;
  readonly #copy: string;
  readonly sink: Pick<TestSink, 'within' | 'text'>;

  constructor(folder: string) {
    this.#path = join(folder, 'pipe');
    this.#copy = join(folder, 'copy');
    execFileSync('mkfifo', [this.#path]);
    this.sink = {
      within: ['sh', '-c', 'exec 2>"$0"; exec "$@"', this.#path],
      text: () => readFileSync(this.#copy, 'utf8'),
    };
  }

  /** A process that appends what it reads to a file. */
  read() {
    const script = 'exec cat "$0" >> "$1"';
    const reader = spawn('sh', ['-c', script, this.#path, this.#copy], { stdio: 'ignore' });
    onTestFinished(async () => {
      const ended = once(reader, 'close');
      if (reader.kill('SIGKILL')) await ended;
    });
    return reader;
  }
}
