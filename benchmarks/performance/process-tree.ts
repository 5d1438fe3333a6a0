import { execFileSync, spawnSync } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { isPinned, SERVER_CORE } from './server-process.ts';

/** The unit of the CPU times in `/proc/PID/stat`: see proc_pid_stat(5). */
const TICKS_PER_SECOND = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

interface ProcessStat {
  parent: number;
  /** Of its threads, and of its children that have ended. */
  ticks: number;
}

async function allProcesses(): Promise<Map<number, ProcessStat>> {
  const processes = new Map<number, ProcessStat>();
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, 'latin1').catch(() => null);
    // What follows the name, which may have spaces.
    const [, parent, ...rest] = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
    if (parent === undefined) continue;
    const ticks = rest.slice(9, 13).reduce((sum, time) => sum + Number(time), 0);
    processes.set(Number(name), { parent: Number(parent), ticks });
  }
  return processes;
}

/** A server of several processes: those that descend from some. */
export class ProcessTree {
  readonly #roots: readonly number[];

  constructor(roots: readonly number[]) {
    this.#roots = roots;
  }

  async #members(): Promise<Map<number, ProcessStat>> {
    const all = await allProcesses();
    const isMember = (pid: number): boolean => {
      const parent = all.get(pid)?.parent;
      return this.#roots.includes(pid) || (parent !== undefined && isMember(parent));
    };
    return new Map([...all].filter(([pid]) => isMember(pid)));
  }

  /** The CPU time of all so far, to a hundredth of a second for each process. */
  async cpuSeconds(): Promise<number> {
    let ticks = 0;
    for (const process of (await this.#members()).values()) ticks += process.ticks;
    return ticks / TICKS_PER_SECOND;
  }

  /** Pins all to the core of the servers, and whatever they start. */
  async pin(): Promise<void> {
    if (!isPinned) return;
    for (const pid of (await this.#members()).keys()) {
      spawnSync('taskset', ['-acp', String(SERVER_CORE), String(pid)]);
    }
  }
}
