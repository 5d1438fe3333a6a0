import { appendFile, copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Authority, createAuthority } from '@latchkey/test-kit/certificates';
import { describeWithPostgresql } from '@latchkey/test-kit/postgresql/describe';
import { giveToOwner } from '@latchkey/test-kit/postgresql/owner';
import { PostgresqlServer } from '@latchkey/test-kit/postgresql/server';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { poolConfigOf } from '../src/address.ts';
import { openPostgresqlStore } from '../src/postgresql-store.ts';

const password = 'pässword:@/?#%&=';

describeWithPostgresql('an address leads to a secured server', (programs) => {
  let folder: string;
  let server: PostgresqlServer;
  let authority: Authority;
  let stranger: Authority;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'latchkey-tls-'));
    await giveToOwner(folder);
    server = await PostgresqlServer.start(programs, {
      settings: { unix_socket_directories: folder },
    });
    authority = await createAuthority(folder, 'authority');
    stranger = await createAuthority(folder, 'stranger');
    const [ca, own] = [join(server.data, 'ca.pem'), join(server.data, 'server.pem')];
    await copyFile(authority.file, ca);
    await copyFile(await authority.issue('/O=Server/CN=postgres'), own);
    const access = join(server.data, 'pg_hba.conf');
    const former = await readFile(access, 'utf8');
    await writeFile(
      access,
      'hostssl all ada all scram-sha-256\nhostssl all eve all cert\nhost all ada,eve all reject\n',
    );
    await appendFile(access, former);
    await giveToOwner(server.data);
    await server.query(`CREATE ROLE ada LOGIN PASSWORD '${password}'`);
    await server.query('CREATE ROLE eve LOGIN');
    await server.configure({
      ...{ ssl: 'on', ssl_ca_file: ca, ssl_cert_file: own, ssl_key_file: own },
    });
  });
  afterAll(async () => {
    await server?.stop();
    await rm(folder, { recursive: true });
  });

  /** Whom the server sees, and whether by TLS. */
  async function connect(user: string, options: Record<string, string>, host = '127.0.0.1') {
    const query = new URLSearchParams(options);
    const client = new Client(
      poolConfigOf(`postgresql://${user}@${host}:${server.port}/postgres?${query}`),
    );
    client.on('error', () => undefined);
    try {
      await client.connect();
      const { rows } = await client.query(
        'SELECT usename AS user, ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE pid = pg_backend_pid()',
      );
      return rows[0];
    } finally {
      await client.end();
    }
  }
  const ada = `ada:${encodeURIComponent(password)}`;
  const verified = () => ({ sslmode: 'verify-full', sslrootcert: authority.file });
  const by = (certificate: string) => ({ sslcert: certificate, sslkey: certificate });

  test('with a password, and nothing but TLS', async () => {
    expect(await connect(ada, verified())).toEqual({ user: 'ada', ssl: true });
    await expect(connect(ada, { sslmode: 'disable' })).rejects.toThrow('pg_hba.conf');
    await expect(connect('ada:another', verified())).rejects.toThrow('authentication failed');
  });

  test('unless its certificate is of another authority, or of another host', async () => {
    await expect(connect(ada, { sslmode: 'verify-full' })).rejects.toThrow('certificate');
    await expect(connect(ada, { ...verified(), sslrootcert: stranger.file })).rejects.toThrow(
      'certificate',
    );
    await expect(connect(ada, verified(), 'localhost')).rejects.toThrow('does not match');
  });

  test('or the start fails with one line', async () => {
    const { host } = new URL(server.url);
    const url = `postgresql://${ada}@${host}/postgres?sslmode=verify-full`;
    await expect(openPostgresqlStore({ url, clock: Date.now })).rejects.toMatchObject({
      name: 'BadSetting',
      message: expect.stringMatching(/^DATABASE_URL: .*certificate.*sslrootcert\.$/),
    });
  });

  test('with the certificate of a user', async () => {
    const own = by(await authority.issue('/CN=eve'));
    expect(await connect('eve', { ...verified(), ...own })).toEqual({ user: 'eve', ssl: true });
    const other = by(await stranger.issue('/CN=eve'));
    await expect(connect('eve', { ...verified(), ...other })).rejects.toThrow();
  });

  test('over a socket', async () => {
    expect(await connect('latchkey', { pool_size: '1' }, encodeURIComponent(folder))).toEqual({
      user: 'latchkey',
      ssl: false,
    });
  });
});
