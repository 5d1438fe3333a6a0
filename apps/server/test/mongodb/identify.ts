import { type Document, MongoClient } from 'mongodb';

export interface Identity {
  name: string;
  isStandIn: boolean;
}

/** Asks the server what it is. A stand-in reports the MongoDB version it imitates, and more. */
export async function identify(url: string): Promise<Identity> {
  return withClient(url, async (client) => {
    const info = await client.db('admin').command({ buildInfo: 1 });
    const ferretdb: unknown = info.ferretdb?.version;
    if (typeof ferretdb === 'string') {
      return { name: `FerretDB ${ferretdb} (as MongoDB ${info.version})`, isStandIn: true };
    }
    // Every mongod and mongos lists the engines it was built with; no imitation seen so far does.
    const isStandIn = !Array.isArray(info.storageEngines);
    const name = isStandIn ? 'a server that says it is MongoDB' : 'MongoDB';
    return { name: `${name} ${info.version}`, isStandIn };
  });
}

export async function hello(url: string): Promise<Document> {
  return withClient(url, (client) => client.db('admin').command({ hello: 1 }));
}

export async function withClient<T>(
  url: string,
  work: (client: MongoClient) => Promise<T>,
): Promise<T> {
  const client = new MongoClient(url, {
    serverSelectionTimeoutMS: 3_000,
    connectTimeoutMS: 3_000,
    maxPoolSize: 1,
  });
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}
