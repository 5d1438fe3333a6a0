import type { Initiator } from '@latchkey/domain/initiator';
import type { AnyKind, Field, FieldType } from '@latchkey/store/kind';
import { copiedKinds, type Transfer } from '@latchkey/store/transfer';
import { describe, expect, test } from 'vitest';
import { anId } from './records.ts';
import { HOSTILE } from './texts.ts';

// Its members have names of ours: no caller chooses one.
const hostile = (text: string) => ({ text, list: [text, null, 1.5, true, {}, [[text]]] });

function initiator(text: string): Initiator {
  // A request id has no spaces, and no character but those of ASCII.
  const request_id = text.replace(/[^!-}]/g, '') || 'none';
  return { request_id, by: 'command_line', secret_id: null, os_user: text };
}

/** The values that a field of a type is given: the least, the largest, and what a text can do. */
const values: Record<FieldType, (text: string) => readonly unknown[]> = {
  id: () => [anId(), '00000000-0000-0000-0000-000000000000'],
  bytes: () => [new Uint8Array(32).fill(0xff), new Uint8Array(32)],
  text: (text) => [text, ''],
  time: () => [8_640_000_000_000, 0],
  number: () => [Number.MAX_SAFE_INTEGER, 0],
  flag: () => [true, false],
  json: (text) => [hostile(text), [text]],
  by: (text) => [initiator(text), { ...initiator(text), secret_id: anId(), key_id: anId() }],
};

/** A record for each place of the values, and one in which all that can be null is. */
function recordsOf({ fields, key, copied }: AnyKind, text: string) {
  const all = Object.entries<Field<unknown>>(fields);
  const needed = typeof copied === 'object' ? copied.set : key;
  return [0, 1, null].map((place) =>
    Object.fromEntries(
      all.map(([name, { type, isOptional }]) => {
        if (name === key) return [name, type === 'id' ? anId() : `${text} ${place}`];
        if (place === null && isOptional && name !== needed) return [name, null];
        return [name, values[type](text)[place ?? 0]];
      }),
    ),
  );
}

interface OpenTarget {
  target: Pick<Transfer, 'replace' | 'read' | 'write' | 'close'>;
  remove(): Promise<void>;
}

/**
 * Each field that a copy brings is read as it was written, whatever it has: the fields of the declarations.
 *
 * @param open - creates an empty database
 */
export function describeFields(open: () => Promise<OpenTarget>): void {
  describe('each field is copied as it is', () => {
    test.each(copiedKinds.map((kind) => [kind.name, kind] as const))('%s', async (_, kind) => {
      const { target, remove } = await open();
      const mark = { id: anId(), is: 'used' } as const;
      await target.replace(null, mark);
      const records = Object.values(HOSTILE).flatMap((text) => recordsOf(kind, text));
      await target.write(kind, { records }, mark);
      const found = await target.read(kind, { after: null, limit: records.length + 1 });
      const keyOf = (record: object) => String(Reflect.get(record, kind.key));
      const inOrder = (all: readonly object[]) =>
        all.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
      expect(inOrder(found)).toEqual(inOrder(records));
      await target.close();
      await remove();
    });
  });
}
