import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

export const SERVER_CORE = 0;
const LOAD_CORE = 1;

/** Whether servers and load run on separate cores. It needs two cores, and Linux's `taskset`. */
export const isPinned =
  availableParallelism() > 1 && spawnSync('taskset', ['--version']).status === 0;

/** Pins this process, which makes the load, to a core that no server uses. */
export function pinLoad(): void {
  if (isPinned) spawnSync('taskset', ['-acp', String(LOAD_CORE), String(process.pid)]);
}

// No server outlives this process.
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** A server in its own process. */
export class ServerProcess {
  readonly #child: ChildProcess;
  /** By `performance.now()`. */
  readonly startedAt = performance.now();
  #stdout = '';

  /**
   * @param args - for Node
   * @param options.folder - its working directory; its stderr goes to `stderr.log` there
   * @param options.besideLoad - whether it shares the core of the load. Default: that of the servers
   */
  constructor(
    args: readonly string[],
    options: { folder: string; env?: NodeJS.ProcessEnv; besideLoad?: boolean },
  ) {
    const core = options.besideLoad ? LOAD_CORE : SERVER_CORE;
    const command = [process.execPath, ...args];
    const [program = '', ...rest] = isPinned
      ? ['taskset', '-c', String(core), ...command]
      : command;
    this.#child = spawn(program, rest, {
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

  /** Resolves when stdout matches the pattern. */
  async waitForOutput(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.#stdout);
      if (match) return match;
      if (this.#hasEnded)
        throw new Error(`The server ended before it listened: ${this.#child.spawnargs.join(' ')}`);
      await Promise.race([
        once(this.#child.stdout ?? this.#child, 'data'),
        once(this.#child, 'exit'),
      ]);
    }
  }

  /** The CPU time of all its threads so far. */
  async cpuSeconds(): Promise<number> {
    const tasks = `/proc/${this.#child.pid}/task`;
    let nanoseconds = 0;
    for (const task of await readdir(tasks)) {
      const [onCpu] = (await readFile(`${tasks}/${task}/schedstat`, 'latin1')).split(' ');
      nanoseconds += Number(onCpu);
    }
    return nanoseconds / 1e9;
  }

  /** Resident memory, in MiB. */
  residentMemory(): Promise<number> {
    return this.#memory('VmRSS');
  }

  /** The most resident memory since the start or {@link ServerProcess.resetPeak}, in MiB. */
  peakMemory(): Promise<number> {
    return this.#memory('VmHWM');
  }

  async resetPeak(): Promise<void> {
    // 5 resets VmHWM: see proc_pid_clear_refs(5).
    await writeFile(`/proc/${this.#child.pid}/clear_refs`, '5');
  }

  async #memory(name: 'VmRSS' | 'VmHWM'): Promise<number> {
    const status = await readFile(`/proc/${this.#child.pid}/status`, 'latin1');
    const [, kibibytes] = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status) ?? [];
    return Number(kibibytes) / 1024;
  }

  async stop(): Promise<void> {
    running.delete(this.#child);
    if (this.#hasEnded) return;
    this.#child.kill('SIGTERM');
    await once(this.#child, 'exit');
  }
}
