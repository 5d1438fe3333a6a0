import {
  chmod,
  cp,
  glob,
  mkdir,
  mkdtemp,
  readFile,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { INSTALL_TIMEOUT_MS } from '@latchkey/test-kit/tools-from-lockfile';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Environment, run, succeed } from './support/service.ts';
import { describeWith } from './support/tools.ts';

// What tests/ci.test.ts can't know of the workflows without a download.

const path = (file: string) => fileURLToPath(new URL(`../${file}`, import.meta.url));
// Go and apt-get need the machine's own settings.
const env = process.env as Environment;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-ci-'));
});
afterAll(() => rm(folder, { recursive: true }));

await describeWith('go', () => {
  test('actionlint finds nothing in the workflows, but something in a wrong one', {
    timeout: INSTALL_TIMEOUT_MS,
  }, async () => {
    // Built from the module that tests/linters/go.sum has the hash of.
    const actionlint = join(folder, 'actionlint');
    const build = ['build', '-mod=readonly', '-o', actionlint];
    const module = 'github.com/rhysd/actionlint/cmd/actionlint';
    await succeed('go', [...build, module], { cwd: path('tests/linters'), env });
    const workflows: string[] = [];
    for await (const file of glob(path('.github/workflows/*.yml'))) workflows.push(file);
    await succeed(actionlint, workflows, { env });

    const [workflow = ''] = workflows;
    const wrong = join(folder, 'wrong.yml');
    await cp(workflow, wrong);
    await writeFile(wrong, '\n  more:\n    needs: nothing\n    runs-on: ubuntu-24.04\n', {
      flag: 'a',
    });
    expect((await run(actionlint, [wrong], { env })).stdout).toMatch(/needs job "nothing"/);
  });
});

await describeWith('apt-get', () => {
  test('.ci/tools asks for packages that exist, together', {
    timeout: INSTALL_TIMEOUT_MS,
  }, async () => {
    const bin = join(folder, 'bin');
    const lists = join(folder, 'lists');
    for (const made of [bin, join(lists, 'partial')]) await mkdir(made, { recursive: true });
    // Ubuntu has Chromium in no package, and the hosts have Chrome.
    await symlink('/bin/true', join(bin, 'google-chrome'));
    for (const name of ['bash', 'dirname']) {
      const found = await succeed('/bin/sh', ['-c', `command -v ${name}`], { env });
      await symlink(found.trim(), join(bin, name));
    }
    // Its own lists of packages: those of the machine may be gone, or another user's.
    await writeFile(
      join(bin, 'apt-get'),
      `#!/bin/bash
echo "$*" >> ${folder}/calls
simulate=(); [[ " $* " = *" install "* ]] && simulate=(--simulate)
PATH=${env.PATH} exec /usr/bin/apt-get "\${simulate[@]}" -o Dir::State::Lists=${lists} -o Dir::Cache=${folder} \\
  -o APT::Sandbox::User=root -o Debug::NoLocking=1 "$@"\n`,
    );
    await writeFile(join(bin, 'sudo'), '#!/bin/bash\nexec "$@"\n');
    for (const name of ['apt-get', 'sudo']) await chmod(join(bin, name), 0o755);
    const ended = await run('/bin/bash', [path('.ci/tools')], { env: { ...env, PATH: bin } });
    expect(ended, ended.stderr).toMatchObject({ exitCode: 0 });
    // Its output leaves out what is installed already.
    expect(await readFile(join(folder, 'calls'), 'utf8')).toMatch(/ install .*\bhaproxy\b/);
  });
});
