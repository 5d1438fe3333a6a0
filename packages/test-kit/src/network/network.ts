import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const script = fileURLToPath(new URL('./network.sh', import.meta.url));

// In CI, nobody would notice that no network is partitioned.
if (process.env.CI && spawnSync('ip', ['-V']).status !== 0) {
  throw new Error('There is no ip. Install it (Debian and Ubuntu: apt-get install iproute2).');
}

/** Whether a {@link Network} can be made here: on Linux, by root. */
export const canMakeNetworks =
  spawnSync('unshare', ['--net', 'sh', script, '1'], { input: '' }).status === 0;

/** A network namespace, which a connection may come from or go to. */
export interface Host {
  address: string;
  /** A command that runs the one behind it on this host. */
  within: readonly string[];
}

/**
 * Hosts on this machine, whose connections tests may cut in each direction. This process reaches all of
 * them, whatever is cut. The network disappears with the process.
 */
export class Network {
  readonly hosts: readonly Host[];
  readonly #shell: ChildProcess;
  readonly #cuts: ((what: 'add' | 'delete') => Promise<unknown>)[] = [];

  private constructor(hosts: readonly Host[], shell: ChildProcess) {
    this.hosts = hosts;
    this.#shell = shell;
  }

  /** @param size - of hosts, at most 12 */
  static async start(size: number): Promise<Network> {
    const shell = spawn('unshare', ['--net', 'sh', script, `${size}`]);
    let [lines, errors] = ['', ''];
    shell.stdout.setEncoding('utf8').on('data', (text) => {
      lines += text;
    });
    shell.stderr.setEncoding('utf8').on('data', (text) => {
      errors += text;
    });
    const ended = once(shell, 'close').then(() => Promise.reject(new Error(errors)));
    while (!lines.endsWith('\n\n')) await Promise.race([once(shell.stdout, 'data'), ended]);
    ended.catch(() => undefined);
    const hosts = lines
      .trim()
      .split('\n')
      .map((line): Host => {
        const [address = '', process] = line.split(' ');
        return { address, within: ['nsenter', `--net=/proc/${process}/ns/net`, '--'] };
      });
    return new Network(hosts, shell);
  }

  /** From now on, packets of these hosts get lost on their way to those. */
  async cut(from: readonly Host[], to: readonly Host[]): Promise<void> {
    const cuts = to.flatMap(({ within }) =>
      from.map(({ address }) => (what: 'add' | 'delete') => {
        return run([...within, 'ip', 'rule', what, 'pref', '0', 'from', address, 'blackhole']);
      }),
    );
    this.#cuts.push(...cuts);
    await Promise.all(cuts.map((change) => change('add')));
  }

  /** Packets arrive again. */
  async repair(): Promise<void> {
    await Promise.all(this.#cuts.splice(0).map((change) => change('delete')));
  }

  async stop(): Promise<void> {
    this.#shell.stdin?.end();
    await once(this.#shell, 'exit');
  }
}

const run = ([program = '', ...args]: readonly string[]) => promisify(execFile)(program, args);
