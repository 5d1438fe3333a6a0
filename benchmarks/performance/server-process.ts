import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

const [SERVER_CORE, LOAD_CORE] = [0, 1];

/** Whether server and load get a core each: that takes two, and Linux's `taskset`. */
export const pinned =
  availableParallelism() > 1 && spawnSync('taskset', ['--version']).status === 0;

/** Keeps this process, which makes the load, off the servers' core. */
export function pinLoad(): void {
  if (pinned) spawnSync('taskset', ['-acp', String(LOAD_CORE), String(process.pid)]);
}

// However this process ends, none of its servers outlives it.
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** A server in a process of its own. */
export class ServerProcess {
  readonly #child: ChildProcess;
  /** When it was started, by `performance.now()`. */
  readonly startedAt = performance.now();
  #stdout = '';

  /**
   * @param words - the arguments of Node
   * @param options.folder - where it runs, and where what it writes on stderr goes: `stderr.log`
   */
  constructor(words: readonly string[], options: { folder: string; env?: NodeJS.ProcessEnv }) {
    const command = [process.execPath, ...words];
    const [program = '', ...args] = pinned
      ? ['taskset', '-c', String(SERVER_CORE), ...command]
      : command;
    this.#child = spawn(program, args, {
      cwd: options.folder,
      env: { PATH: process.env.PATH, ...options.env },
      stdio: ['ignore', 'pipe', openSync(join(options.folder, 'stderr.log'), 'a')],
    });
    this.#child.stdout?.on('data', (chunk) => {
      this.#stdout += chunk;
    });
    running.add(this.#child);
  }

  get #hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Resolves to what it printed first in the form of a pattern. */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.#stdout);
      if (match) return match;
      if (this.#hasEnded) throw new Error(`It ended: ${this.#child.spawnargs.join(' ')}`);
      await Promise.race([
        once(this.#child.stdout ?? this.#child, 'data'),
        once(this.#child, 'exit'),
      ]);
    }
  }

  /** CPU time of all its threads so far, in seconds; the kernel counts nanoseconds. */
  async cpuSeconds(): Promise<number> {
    const tasks = `/proc/${this.#child.pid}/task`;
    let nanoseconds = 0;
    for (const task of await readdir(tasks)) {
      const [onCpu] = (await readFile(`${tasks}/${task}/schedstat`, 'latin1')).split(' ');
      nanoseconds += Number(onCpu);
    }
    return nanoseconds / 1e9;
  }

  /** The memory it has resident, in MiB. */
  residentMemory(): Promise<number> {
    return this.#memory('VmRSS');
  }

  /** The most memory it had resident, in MiB, since {@link ServerProcess.forgetPeak} or ever. */
  peakMemory(): Promise<number> {
    return this.#memory('VmHWM');
  }

  /** Lets the peak of memory begin anew. */
  async forgetPeak(): Promise<void> {
    // 5: see proc_pid_clear_refs(5).
    await writeFile(`/proc/${this.#child.pid}/clear_refs`, '5');
  }

  async #memory(name: 'VmRSS' | 'VmHWM'): Promise<number> {
    const status = await readFile(`/proc/${this.#child.pid}/status`, 'latin1');
    const [, kibibytes] = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status) ?? [];
    return Number(kibibytes) / 1024;
  }

  /** Ends it in order. */
  async stop(): Promise<void> {
    running.delete(this.#child);
    if (this.#hasEnded) return;
    this.#child.kill('SIGTERM');
    await once(this.#child, 'exit');
  }
}
