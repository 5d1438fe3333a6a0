import { join } from 'node:path';
import { identify } from '../../apps/server/test/mongodb/identify.ts';
import type { Workbench } from './workbench.ts';

/** A kind of database that Latchkey works on. */
export interface StoreKind {
  name: string;
  /** The server that it is, with its version. */
  about?: string;
  /** Whether it only speaks like MongoDB. */
  isStandIn: boolean;
  /** The URL of an empty database. */
  newUrl(): Promise<string>;
  /** What part of the requests it gets: on a slow one fewer, so that a round ends. */
  share: number;
}

/** What there is to measure on: SQLite, and MongoDB where one was given. */
export async function storesOf(workbench: Workbench): Promise<StoreKind[]> {
  const sqlite: StoreKind = {
    name: 'SQLite',
    isStandIn: false,
    newUrl: async () => `file:${join(await workbench.folder(), 'latchkey.db')}`,
    share: 1,
  };
  if (workbench.mongodb === undefined) return [sqlite];
  const { name, isStandIn } = await identify(workbench.mongodb);
  const mongodb: StoreKind = {
    name: 'MongoDB',
    about: name,
    isStandIn,
    newUrl: async () => workbench.mongodbUrl() ?? '',
    share: 0.2,
  };
  return [sqlite, mongodb];
}

/** The servers that were measured on, for the conditions of a page. */
export const aboutOf = (stores: readonly StoreKind[]): string[] =>
  stores.flatMap(({ about = [] }) => about);
