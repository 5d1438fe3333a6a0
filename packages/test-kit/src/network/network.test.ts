import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { networkInterfaces } from 'node:os';
import { createInterface } from 'node:readline';
import { describe, expect, onTestFinished, test } from 'vitest';
import { canMakeNetworks, type Host, Network } from './network.ts';

const title = canMakeNetworks ? 'a network' : 'a network (not run: only root can make one)';

describe.skipIf(!canMakeNetworks)(title, () => {
  test('loses what goes in the directions that are cut, until they are repaired', async () => {
    const network = await Network.start(2);
    onTestFinished(() => network.stop());
    const [first, second] = (await Promise.all(network.hosts.map(talking))) as [Talker, Talker];

    await first.say('1', second);
    await second.heard('1');
    await network.cut([first.host], [second.host]);
    await first.say('lost', second);
    await second.say('2', first);
    await first.heard('2');

    await network.repair();
    // What is sent later arrives later.
    await first.say('3', second);
    await second.heard('3');
    expect(second.messages).toEqual(['1', '3']);
  });

  test('disappears when its process is killed', async () => {
    const program = `
      import { Network } from ${JSON.stringify(new URL('./network.ts', import.meta.url))};
      const { hosts: [host] } = await Network.start(1);
      console.log(host.address);`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await once(child.stdout, 'data');
    const before = neighbours(String(line));
    child.kill('SIGKILL');
    await expect.poll(() => neighbours(String(line))).toBe(0);
    expect(before).toBe(1);
  });
});

interface Talker {
  host: Host;
  messages: string[];
  say(message: string, to: Talker): Promise<void>;
  heard(message: string): Promise<void>;
}

/** A process on a host that says and hears single packets. */
async function talking(host: Host): Promise<Talker> {
  const program = `
    import { createSocket } from 'node:dgram';
    import { createInterface } from 'node:readline';
    const socket = createSocket('udp4').on('message', (message) => console.log('heard ' + message));
    socket.bind(${PORT}, () => console.log('ready'));
    createInterface(process.stdin).on('line', (line) => {
      const [message, address] = line.split(' ');
      socket.send(message, ${PORT}, address, () => console.log('said ' + message));
    });`;
  const [command = '', ...args] = [...host.within, process.execPath, '--input-type=module'];
  const child = spawn(command, [...args, '--eval', program], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines: string[] = [];
  createInterface(child.stdout).on('line', (line) => lines.push(line));
  const printed = (line: string) => expect.poll(() => lines).toContain(line);
  await printed('ready');
  return {
    host,
    get messages() {
      return lines.flatMap((line) => (line.startsWith('heard ') ? line.slice(6) : []));
    },
    async say(message, to) {
      child.stdin.write(`${message} ${to.host.address}\n`);
      await printed(`said ${message}`);
    },
    heard: (message) => printed(`heard ${message}`),
  };
}

// Nothing else is on the host.
const PORT = 5_000;

/** How many interfaces of this process are in the network of its first host. */
function neighbours(host: string): number {
  const address = host.trim().replace(/\d+$/, (last) => `${Number(last) - 1}`);
  const own = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return own.filter((each) => each.address === address).length;
}
