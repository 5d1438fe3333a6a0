import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { errorCodes } from './errors.ts';
import { operationNames, operations } from './operations.ts';

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
    'admin.connections.list',
    'admin.grants.list',
  ]);
  for (const name of lists) {
    const { output } = operations[name];
    const page = { object: 'list', data: [], next_cursor: null };
    expect(output.parse(page)).toEqual(page);
    const isComplete = /^admin\.(?:scopes|resources|connections)\.list$/.test(name);
    expect(output.safeParse({ ...page, next_cursor: 'x' }).success).toBe(!isComplete);
    expect(output.safeParse({ object: 'list', data: [] }).success).toBe(false);
  }
});
