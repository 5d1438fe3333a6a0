import { randomUUID } from 'node:crypto';
import type { OperationInput, OperationName, Operations } from '@latchkey/schema';
import { succeed } from '../http/call.ts';
import type { LinkedApplication } from '../http/linked-application.ts';
import { operator, type ServerWithDatabase } from '../http/running-server.ts';
import type { World } from './world.ts';

/** An application of its own for each fault. */
export interface Context extends LinkedApplication {
  server: ServerWithDatabase;
  /** Calls an operation of the operator. */
  call(name: OperationName, input: Record<string, unknown>): ReturnType<typeof succeed>;
}

/** A call that is refused. */
export interface RefusedCall {
  input?: Record<string, unknown>;
  /** The Authorization header, where it is not that of the application or of the operator. */
  as?: string | undefined;
  /** The extra members of the error; some have the id of the request in them. */
  members?: object | ((request_id: string) => object);
}

/** Prepares a call that is refused. */
export type Arrange = (context: Context) => RefusedCall | Promise<RefusedCall>;

/** By their reason; where the code has only one, by when it is told. */
export type Faults = Record<string, Arrange | Arrange[]>;

/** These need a server of their own: `linking/store-full.test.ts`, `client-documents/flow.test.ts`. */
type ErrorOf<Name extends OperationName> = Exclude<
  Operations[Name]['errors'][number],
  'store_full' | 'application_documented'
>;

/** What the tests know of an operation. */
export type OperationCase<Name extends OperationName> = {
  /** A valid input with all of its members. Of those that exclude each other, it has one. */
  input(world: World): OperationInput<Name>;
} & ([ErrorOf<Name>] extends [never]
  ? { faults?: never }
  : { faults: { [Code in ErrorOf<Name>]: Faults } });

/** The cases of the operations whose names begin like that: none of them can be missing. */
export type Cases<Prefix extends string> = {
  [Name in OperationName & `${Prefix}${string}`]: OperationCase<Name>;
};

export const contextOf = (server: ServerWithDatabase, linked: LinkedApplication): Context => ({
  ...{ ...linked, server },
  call: (name, input) => succeed(server, name, input, operator),
});

/** @param others - further members of the input */
export const unknown = (member: string, others: object = {}): Faults => ({
  'it is unknown': () => ({ input: { ...others, [member]: randomUUID() } }),
});

/** There may be 200 of them already. */
export async function aResource({ call }: Pick<Context, 'call'>): Promise<string> {
  const { data } = await call('admin.resources.list', {});
  if (data.length > 0) return data[0].resource;
  const input = { resource: 'https://mcp0.example', name: 'One' };
  return (await call('admin.resources.create', input)).resource;
}

/** The members of a page of a list, and an address that an application has. */
export const page = { limit: 1, cursor: 'A'.repeat(22) };
export const ADDRESS = 'https://app.example/cb';
export const SINCE = '2026-11-21T02:15:30Z';
