import { Client, type QueryResultRow } from 'pg';

/** Runs one statement over a connection of its own. */
export async function query<Row extends QueryResultRow>(
  url: string,
  text: string,
  values?: unknown[],
): Promise<Row[]> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 30_000 });
  // A server that is killed ends the connection: the statement says so.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query<Row>(text, values)).rows;
  } finally {
    await client.end();
  }
}
