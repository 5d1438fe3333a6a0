import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Role } from './caller.ts';
import { errorCodes } from './errors.ts';
import {
  type OperationContract,
  type OperationRow,
  operationNames,
  operations,
} from './operations.ts';

describe.each(operationNames)('%s', (name) => {
  const { method, path, input, output, errors } = operations[name];
  const schema = (of: z.ZodType, io: 'input' | 'output') => z.toJSONSchema(of, { io });

  it('has JSON Schemas for its input and output', () => {
    for (const io of ['input', 'output'] as const) {
      expect(schema(input, io)).toMatchObject({ type: 'object' });
      // RFC 7009, section 2.2, gives a revocation no body; ours is an empty object.
      if (name === 'grants.revokeToken') continue;
      expect(JSON.stringify(schema(output, io))).toContain('"const"');
    }
  });

  it('takes every identifier of its path', () => {
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, member]) => member);
    expect(Object.keys(schema(input, 'input').properties ?? {})).toEqual(
      expect.arrayContaining(named),
    );
    for (const member of named) expect(schema(input, 'input').required).toContain(member);
  });

  it('describes each member of its input, for help and the documents', () => {
    const { properties = {} } = schema(input, 'input');
    const missing = Object.entries(properties).filter(
      ([, member]) => typeof member === 'object' && member.description === undefined,
    );
    expect(missing.map(([member]) => member)).toEqual([]);
  });

  it('names errors from the table, without duplicates', () => {
    expect(errorCodes).toEqual(expect.arrayContaining([...errors]));
    expect(new Set(errors).size).toBe(errors.length);
  });

  it('is the only one with its method and path', () => {
    const same = operationNames.filter(
      (other) => operations[other].method === method && operations[other].path === path,
    );
    // The members of the body tell the two revocations apart.
    const revocations = ['grants.revoke', 'grants.revokeToken'];
    expect(same).toEqual(revocations.includes(name) ? revocations : [name]);
  });
});

it('ends every list with a null cursor, and those that are complete have no other', () => {
  const lists = operationNames.filter((name) => name.endsWith('.list'));
  expect(lists).toEqual([
    'admin.applications.list',
    'admin.accounts.list',
    'admin.scopes.list',
    'admin.resources.list',
    'admin.documents.list',
    'admin.connections.list',
    'admin.grants.list',
    'admin.refusals.list',
    'admin.endpoints.list',
    'admin.deliveries.list',
    'admin.keys.list',
  ]);
  for (const name of lists) {
    const { output } = operations[name];
    const page = { object: 'list', data: [], next_cursor: null };
    expect(output.parse(page)).toEqual(page);
    const isComplete = /^admin\.(?:scopes|resources|keys)\.list$/.test(name);
    expect(output.safeParse({ ...page, next_cursor: 'x' }).success).toBe(!isComplete);
    expect(output.safeParse({ object: 'list', data: [] }).success).toBe(false);
  }
});

describe('the roles', () => {
  const operators = operationNames.filter((name) => operations[name].caller === 'operator');
  const may = (role: Role) =>
    operators.filter((name) => (operations[name] as OperationContract).roles?.includes(role));
  const only = (pattern: RegExp) => operators.filter((name) => pattern.test(name));

  it('are those of an operation of the operator alone', () => {
    expect(operationNames.filter((name) => 'roles' in operations[name])).toEqual(operators);
  });

  // By rules, not by lists: an operation that is added later must not widen a role by accident.
  it('let read look, and nothing else', () => {
    expect(may('read')).toEqual(only(/^admin\.(?!keys\.).*\.(?:get|list|history)$/));
    for (const name of may('read')) expect(operations[name].method).toBe('GET');
  });

  it('let the host link its users and keep their accounts', () => {
    expect(may('host')).toEqual(
      only(
        /^admin\.(?:(?:links|pages|codes|connections)\..+|accounts\.(?:put|get|list|erase|export)|(?:scopes|resources)\.list|self\.get)$/,
      ),
    );
  });

  it('let support look, end what a user asks for, and nothing else', () => {
    const looks = new Set<string>(may('read'));
    expect(may('support').filter((name) => !looks.has(name))).toEqual([
      'admin.accounts.export',
      'admin.codes.cancel',
      'admin.connections.revoke',
      'admin.pages.end',
      'admin.grants.revoke',
      'admin.endpoints.ping',
      'admin.deliveries.retry',
    ]);
    expect(may('support')).toEqual(expect.arrayContaining(may('read')));
  });

  it('let operate do everything but keys', () => {
    expect(may('operate')).toEqual(only(/^admin\.(?!keys\.)/));
  });

  it('are demanded by the compiler', () => {
    const { roles: _, ...unguarded } = operations['admin.grants.revoke'];
    // @ts-expect-error: an operation of the operator needs roles.
    const row: OperationRow = unguarded;
    expect(row).not.toHaveProperty('roles');
  });
});
