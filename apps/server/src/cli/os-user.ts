import { userInfo } from 'node:os';

export function osUser({ SUDO_USER }: NodeJS.ProcessEnv): string {
  const name = nameOfProcess();
  return SUDO_USER ? `${name} (sudo: ${SUDO_USER})` : name;
}

function nameOfProcess(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run as a user without an entry in /etc/passwd.
    return `uid ${process.getuid?.()}`;
  }
}
