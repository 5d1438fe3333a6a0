import { type Document, MongoClient } from 'mongodb';

/** Runs one command on the `admin` database, over a connection of its own. */
export async function commandOf(url: string, command: Document): Promise<Document> {
  const client = new MongoClient(url, {
    serverSelectionTimeoutMS: 3_000,
    connectTimeoutMS: 3_000,
    // The driver waits this long before it looks again for a server that is about to listen.
    minHeartbeatFrequencyMS: 50,
    maxPoolSize: 1,
  });
  try {
    return await client.db('admin').command(command);
  } finally {
    await client.close();
  }
}
