import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { longer } from '@latchkey/test-kit/long';
import { seededRandom } from '@latchkey/test-kit/seeded-random';
import { expect, test } from 'vitest';
import { sqliteDatabase } from '../http/databases.ts';
import { linkedApplication } from '../http/linked-application.ts';
import { Load } from './load.ts';
import { startProcess } from './server-process.ts';

const ROUNDS = longer(3, 200);

test('a service on SQLite that is killed at random moments keeps what it acknowledged', {
  timeout: longer(300_000, 1_800_000),
}, async () => {
  const random = seededRandom('kill -9 of the service');
  const database = await sqliteDatabase();
  const place = { url: '' };
  const server = await startProcess(database.url);
  place.url = server.url;
  const load = new Load(place, await linkedApplication(place), random);
  for (let round = 0; round < ROUNDS; round++) {
    load.start(8);
    const links = Math.floor(random() * 20);
    while (load.linked < links) await sleep(1);
    await sleep(random() * 20);
    await server.kill();
    await load.stop();

    expect(integrityOf(database.url)).toBe('ok');
    await server.restart();
    place.url = server.url;
    await load.verify();
  }
  await server.kill();
  await database.remove();
});

/** What SQLite says of the file, which it has to open without anybody's help. A writer would take the log away. */
function integrityOf(url: string): unknown {
  const database = new DatabaseSync(url.slice('file:'.length), { readOnly: true });
  try {
    return database.prepare('PRAGMA integrity_check').get()?.integrity_check;
  } finally {
    database.close();
  }
}
