import type { ConnectionPool } from '@latchkey/store/store';
import type { MongoClient } from 'mongodb';

/** Call it before the client connects. */
export function watchPool(client: MongoClient): () => ConnectionPool {
  let open = 0;
  let inUse = 0;
  let waiting = 0;
  client.on('connectionCreated', () => {
    open += 1;
  });
  client.on('connectionClosed', () => {
    open -= 1;
  });
  client.on('connectionCheckOutStarted', () => {
    waiting += 1;
  });
  client.on('connectionCheckedOut', () => {
    waiting -= 1;
    inUse += 1;
  });
  client.on('connectionCheckOutFailed', () => {
    waiting -= 1;
  });
  client.on('connectionCheckedIn', () => {
    inUse -= 1;
  });
  return () => ({ inUse, idle: open - inUse, waiting, limit: client.options.maxPoolSize });
}
