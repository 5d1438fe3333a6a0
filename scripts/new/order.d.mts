import type { Role } from './projects.mjs';

/** What `npm run new` is asked for. */
export interface Order {
  role: Role;
  framework: string;
  folder: string;
  /** That users see. Default: the name of the folder. */
  name?: string;
  /** Of the service. */
  url: string;
  port: number;
}

export class Refused extends Error {}

export const USAGE: string;

/** Null if it is asked how to ask. Throws `Refused` for anything that cannot be made. */
export function readOrder(args: readonly string[]): Order | null;
