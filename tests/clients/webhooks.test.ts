import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { verifyEvent } from '@latchkey/client/events';
import { installFromLockfile } from '@latchkey/test-kit/tools-from-lockfile';
import { installFromRequirements } from '@latchkey/test-kit/tools-from-requirements';
import { signEvent } from '@latchkey/testing';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { withoutSettings } from '../../scripts/environment.mjs';
import { freePort } from '../support/linking-program.ts';
import { type RunningProgram, startProgram } from '../support/program.ts';
import { type Environment, succeed } from '../support/service.ts';
import { describeWith } from '../support/tools.ts';

// Libraries of Standard Webhooks, unmodified, verify the messages of events, and the SDK verifies theirs.
// The programs in Python and Go are those of examples/events.

const tools = fileURLToPath(new URL('webhooks', import.meta.url));
const examples = fileURLToPath(new URL('../../examples/events', import.meta.url));

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;
const secret = newSecret();
const grant_id = '0193aa00-0000-7000-8000-000000000001';
const event = { type: 'grant.revoked', data: { grant_id, reason: 'user' } } as const;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-webhooks-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A class of both libraries. */
interface Webhook {
  verify(body: string, headers: Record<string, string>): unknown;
  sign(id: string, at: Date, body: string): string;
}

describe.each(['standardwebhooks', 'svix'])('%s, of npm', (library) => {
  let create: (secret: string) => Webhook;
  beforeAll(async () => {
    const packages = await installFromLockfile(join(tools, 'javascript'), 'webhook-libraries');
    const { Webhook } = createRequire(join(packages, 'package.json'))(library);
    create = (of) => new Webhook(of);
  });

  test('verifies what the service sends, with the new secret and with the one before', () => {
    const before = newSecret();
    const { body, headers } = signEvent(event, [secret, before]);
    // It throws if it does not. Not every version returns the event.
    for (const each of [secret, before]) create(each).verify(body, headers);
    expect(() => create(newSecret()).verify(body, headers)).toThrow('No matching signature');
    expect(() => create(secret).verify(`${body} `, headers)).toThrow('No matching signature');
  });

  test('signs what the SDK verifies', async () => {
    const at = new Date();
    const { body } = signEvent(event, secret);
    const headers = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': `${Math.floor(at.getTime() / 1000)}`,
      'webhook-signature': create(secret).sign('msg_1', at, body),
    };
    expect(await verifyEvent(body, headers, secret)).toMatchObject(event);
  });
});

/** Package managers need the settings of the machine, such as its proxy. */
const environmentWith = (more: Environment): Environment => ({
  ...(withoutSettings(process.env) as Environment),
  ...more,
});

/** Starts a program, and stops it with the test. */
async function start(words: readonly string[]): Promise<RunningProgram> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/latchkey-events`;
  const env = environmentWith({ LATCHKEY_EVENTS_SECRET: secret, PORT: port });
  const program = await startProgram(words, { cwd: folder, env }, () =>
    fetch(url, { method: 'POST' }).then(
      () => url,
      () => undefined,
    ),
  );
  onTestFinished(program.stop);
  return program;
}

/** Sends messages to a program, and wrong ones that each receiver has to refuse. */
async function receives({ url, printed }: RunningProgram): Promise<void> {
  const send = async (message: { body: string | Uint8Array; headers: Record<string, string> }) =>
    (await fetch(url, { method: 'POST', ...(message as RequestInit) })).status;
  const message = signEvent(event, secret);
  const { body, headers } = message;
  const hour = 3_600_000;
  const notText = new Uint8Array([0xff]);
  const wrong = {
    changed: { headers, body: `${body} ` },
    'of another endpoint': signEvent(event, newSecret()),
    old: signEvent(event, secret, { at: Date.now() - hour }),
    'of the future': signEvent(event, secret, { at: Date.now() + hour }),
    'not signed': { body, headers: {} },
    'without a version': { body, headers: { ...headers, 'webhook-signature': 'AAAA' } },
    'of no base64': { body, headers: { ...headers, 'webhook-signature': 'v1,A' } },
    'of an empty key': {
      body,
      headers: { ...headers, 'webhook-signature': signatureWithoutKey(headers, body) },
    },
    'no text': { body: notText, headers },
    'too large': { body: 'x'.repeat(65_537), headers },
  };
  for (const [name, each] of Object.entries(wrong)) {
    expect([400, 413], name).toContain(await send(each));
  }
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.write('POST /latchkey-events HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n');
  // It waits for no end of the connection.
  expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.\d 4/);
  expect(printed()).not.toContain('ended:');

  expect(await send(signEvent({ type: 'ping', data: {} }, secret))).toBe(204);
  expect(await send(signEvent(event, [newSecret(), secret]))).toBe(204);
  await expect.poll(printed).toContain(`ended: ${grant_id}\n`);
}

function signatureWithoutKey(headers: Record<string, string>, body: string): string {
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  return `v1,${createHmac('sha256', '').update(signed).digest('base64')}`;
}

await describeWith('python3', () => {
  let python: string;
  beforeAll(async () => {
    const requirements = join(tools, 'python/requirements.txt');
    const bin = await installFromRequirements(requirements, 'webhook-libraries', process.env);
    python = join(bin, 'python');
  });

  test('the program in Python receives messages, with standardwebhooks of PyPI', async () => {
    await receives(await start([python, join(examples, 'receiver.py')]));
  });

  test('standardwebhooks of PyPI signs what the SDK verifies', async () => {
    const { body } = signEvent(event, secret);
    const program = `
import datetime, json, sys
from standardwebhooks import Webhook

at = datetime.datetime.now(datetime.timezone.utc)
print(json.dumps([int(at.timestamp()), Webhook(sys.argv[1]).sign("msg_1", at, sys.argv[2])]))
`;
    const words = ['-c', program, secret, body];
    const printed = await succeed(python, words, { env: environmentWith({}) });
    const [timestamp, signature] = JSON.parse(printed);
    const headers = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': `${timestamp}`,
      'webhook-signature': signature,
    };
    expect(await verifyEvent(body, headers, secret)).toMatchObject(event);
  });
});

await describeWith('go', () => {
  let program: string;
  beforeAll(async () => {
    program = join(folder, 'application');
    const options = { cwd: folder, env: environmentWith({}) };
    await succeed('go', ['build', '-o', program, join(examples, 'receiver.go')], options);
  });

  test('the program in Go receives messages', async () => {
    await receives(await start([program]));
  });

  test('the program in Go does not start without a secret', async () => {
    for (const wrong of ['', 'whsec_', 'lk_app_1']) {
      const env = environmentWith({ LATCHKEY_EVENTS_SECRET: wrong, PORT: await freePort() });
      await expect(succeed(program, [], { cwd: folder, env })).rejects.toThrow('is not whsec_…');
    }
  });
});
