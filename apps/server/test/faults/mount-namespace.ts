import { spawnSync } from 'node:child_process';

// A process may have mounts of its own, which go when it goes. Root may make them, and elsewhere
// whoever is let have a user namespace, as most Linux machines do.
const ways = [
  ['unshare', '--mount'],
  ['unshare', '--user', '--map-root-user', '--mount'],
];

const way = ways.find(([program = '', ...args]) => {
  const probe = ['sh', '-c', 'mount -t tmpfs tmpfs /tmp'];
  return spawnSync(program, [...args, ...probe], { stdio: 'ignore' }).status === 0;
});

/** Whether {@link withMounts} works here. */
export const canMount = way !== undefined;

/** A command that runs the one behind it where a shell script, with `$0` a folder, has mounted. */
export function withMounts(script: string, folder: string): string[] {
  return [...(way ?? []), 'sh', '-c', `set -e; ${script}; exec "$@"`, folder];
}
