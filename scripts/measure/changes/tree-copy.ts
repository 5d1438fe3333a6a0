import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../../', import.meta.url));

/** A copy of the tree as it is, with what is installed and built. */
export class TreeCopy {
  readonly folder = mkdtempSync(join(tmpdir(), 'latchkey-tree-'));

  constructor() {
    const words = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
    const paths = execFileSync('git', words, { cwd: root, encoding: 'utf8' }).split('\0');
    for (const path of paths) if (path !== '' && existsSync(join(root, path))) this.#copy(path);
    for (const path of paths.filter((one) => /(?:^|\/)package\.json$/.test(one))) {
      const installed = join(dirname(path), 'node_modules');
      if (existsSync(join(root, installed))) this.#copyInstalled(installed);
      const built = join(dirname(path), 'dist');
      if (existsSync(join(root, built))) this.#copy(built);
    }
    this.#git('init', '--quiet');
    this.#git('add', '--all');
    this.#git(
      '-c',
      'user.name=-',
      '-c',
      'user.email=-',
      'commit',
      '--quiet',
      '--message',
      'As it is',
    );
  }

  readonly read = (path: string): string => readFileSync(join(this.folder, path), 'utf8');

  write(contents: ReadonlyMap<string, string>): void {
    for (const [path, text] of contents) {
      mkdirSync(dirname(join(this.folder, path)), { recursive: true });
      writeFileSync(join(this.folder, path), text);
    }
    // For what asks git which files are there.
    this.#git('add', '--all');
  }

  /** Undoes what was written or generated. */
  reset(): void {
    this.#git('reset', '--quiet', '--hard');
    this.#git('clean', '--quiet', '--force', '-d');
  }

  /** Runs a program in the copy. The output is empty if it succeeds. */
  run(program: string, words: readonly string[]): string {
    const bin = join(this.folder, 'node_modules', '.bin');
    // What vitest and turbo say to their own programs is not for those of the copy.
    const inherited = Object.entries(process.env).filter(
      ([name]) => !/^(?:VITEST|TURBO)/.test(name),
    );
    const env = {
      ...Object.fromEntries(inherited),
      PATH: bin + delimiter + process.env.PATH,
    };
    const { status, stdout, stderr } = spawnSync(program, words, {
      cwd: this.folder,
      env,
      encoding: 'utf8',
    });
    return status === 0 ? '' : `${program} ${words.join(' ')} failed:\n${stdout}${stderr}`;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  #git(...words: string[]): void {
    execFileSync('git', words, { cwd: this.folder });
  }

  #copy(path: string): void {
    cpSync(join(root, path), join(this.folder, path), { recursive: true, verbatimSymlinks: true });
  }

  /** Its links lead to other packages of the copy. The packages of the lockfile are shared. */
  #copyInstalled(path: string): void {
    mkdirSync(join(this.folder, path), { recursive: true });
    for (const name of readdirSync(join(root, path))) {
      const [from, to] = [join(root, path, name), join(this.folder, path, name)];
      if (name !== '.pnpm') this.#copy(join(path, name));
      else if (lstatSync(from).isDirectory()) symlinkSync(from, to);
    }
  }
}
