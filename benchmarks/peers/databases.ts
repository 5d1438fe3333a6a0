import {
  type MongoDBServer,
  MongoDBUnavailable,
  startMongoDB,
} from '../../packages/test-kit/src/mongodb/start.ts';
import {
  dropDatabase,
  freshName,
  urlOf,
} from '../../packages/test-kit/src/mongodb/test-databases.ts';
import { Unavailable } from './peer.ts';
import { type PostgresqlDatabase, type PostgresqlServer, startPostgresql } from './postgresql.ts';

/** An empty database. */
export interface Database {
  url: string;
  /** As in `MongoDB 8.0.1`. */
  description: string;
  drop(): Promise<void>;
}

/** The database servers of a run. Each is started when it is needed first. */
export class Databases {
  #mongodb: Promise<MongoDBServer> | undefined;
  #postgresql: Promise<PostgresqlServer> | undefined;

  /** @throws Unavailable */
  async mongodb(): Promise<Database> {
    this.#mongodb ??= startMongoDB();
    const server = await this.#mongodb.catch((error) => {
      throw error instanceof MongoDBUnavailable ? new Unavailable(error.message) : error;
    });
    const name = freshName();
    return {
      url: urlOf(server.url, name),
      description: server.description,
      drop: () => dropDatabase(server.url, name),
    };
  }

  /** @throws Unavailable */
  async postgresql(): Promise<PostgresqlDatabase> {
    this.#postgresql ??= startPostgresql();
    const server = await this.#postgresql;
    return server.createDatabase();
  }

  /** The process that those of PostgreSQL descend from. */
  async postgresqlPid(): Promise<number> {
    this.#postgresql ??= startPostgresql();
    const { pid } = await this.#postgresql;
    return pid;
  }

  async stop(): Promise<void> {
    const started = await Promise.allSettled([this.#mongodb, this.#postgresql]);
    for (const server of started) {
      if (server.status === 'fulfilled') await server.value?.stop();
    }
  }
}
