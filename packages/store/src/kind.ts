import type { Claimed } from '@latchkey/domain/claimed';
import type { Milliseconds } from '@latchkey/domain/clock';
import type { Initiator } from '@latchkey/domain/initiator';
import type { EventType } from '@latchkey/schema';

/**
 * How a field is stored: `id` a UUID, `time` milliseconds since 1970, `by` who made a change, `json` a value
 * that no condition looks into.
 */
export type FieldType = 'id' | 'bytes' | 'text' | 'time' | 'number' | 'flag' | 'json' | 'by';

export interface Field<T> {
  readonly type: FieldType;
  /** Whether it can be null, which means: not set. */
  readonly isOptional?: true;
  /** What a record has that was inserted without the field. MongoDB does not store it. */
  readonly initial?: T;
  /** Whether it is set once and never changed. */
  readonly isOnce?: true;
  /** Whether the insertion sets it, and nothing sets another value. */
  readonly isFixed?: true;
  /** Whether a value that was replaced never comes again. */
  readonly isRandom?: true;
}

const field = <T>(type: FieldType): Field<T> => ({ type });

export const id = () => field<string>('id');
export const bytes = () => field<Uint8Array>('bytes');
export const text = <T extends string = string>() => field<T>('text');
/** What an application says of itself. */
export const claim = () => field<Claimed<string>>('text');
export const time = () => field<Milliseconds>('time');
export const number = () => field<number>('number');
export const flag = () => field<boolean>('flag');
export const json = <T>() => field<T>('json');
export const by = () => field<Initiator>('by');

export const optional = <T>(of: Field<T>) => ({ ...of, isOptional: true }) as Field<T | null>;
export const initially = <T>(of: Field<T>, initial: T): Field<T> => ({ ...of, initial });
/** By it, a call whose response was lost knows that another call has made the change. */
export const once = <T>(of: Field<T>): Field<T> => ({ ...of, isOnce: true });
/** By it, a call whose response was lost knows that its condition on this field will never hold. */
export const fixed = <T>(of: Field<T>): Field<T> => ({ ...of, isFixed: true });
/** By it, a call whose response was lost knows that its own condition will never hold again. */
export const random = <T>(of: Field<T>): Field<T> => ({ ...of, isRandom: true });

export type Fields = Record<string, Field<unknown>>;

export interface Index<Name extends string = string> {
  readonly on: readonly Name[];
  /** It has only the records with these fields set, or not set. Default: all. */
  readonly where?: { readonly set?: readonly Name[]; readonly unset?: readonly Name[] };
  /** Whether only a setting needs it, since each change has to write to it. */
  readonly isOptional?: true;
}

/** From when on the database removes a record by itself. */
export interface Expiry<Name extends string = string> {
  /** A record without it stays. */
  readonly at: Name;
  /** How long it is kept after that. Default: 0. */
  readonly kept?: Milliseconds;
}

export interface KindOptions<F extends Fields, Internal extends keyof F = never> {
  readonly key: keyof F & string;
  /** The fields that no caller is given. Default: none. */
  readonly internal?: readonly Internal[];
  readonly indexes?: { readonly [name: string]: Index<keyof F & string> };
  readonly expiry?: Expiry<keyof F & string>;
  /** What a copy of the database brings: all records, or those with this field set. Default: none. */
  readonly copied?: 'all' | { readonly set: keyof F & string };
  /** Whether SQLite stores its records apart from their keys, since few would fill a page: see decision 32. */
  readonly isLong?: true;
  /** Events with the field whose setting is the event: the same write records it. */
  readonly events?: { readonly [type in EventType]?: keyof F & string };
}

/** A kind of record, declared once for every database. */
export interface Kind<F extends Fields = Fields, Internal extends keyof F = never>
  extends KindOptions<F, Internal> {
  readonly name: string;
  readonly fields: F;
}

/** Any kind: what an adapter sees. */
// biome-ignore lint/suspicious/noExplicitAny: the fields of a kind are in no relation to those of another
export type AnyKind = Kind<any, any>;

/** What is stored of a kind. */
export type RecordOf<K extends { fields: Fields }> = {
  [N in keyof K['fields']]: K['fields'][N] extends Field<infer T> ? T : never;
};

/** The fields that callers are given. */
type ShownName<K> = K extends Kind<infer F, infer Internal> ? Exclude<keyof F, Internal> : never;

/** A record without its internal fields. */
export type ShownOf<K extends { fields: Fields }> = Pick<
  RecordOf<K>,
  ShownName<K> & keyof RecordOf<K>
>;

/** A record of which these are set. */
export type WithSet<R, N extends keyof R> = R & { [M in N]: NonNullable<R[M]> };

export const kind = <F extends Fields, const Internal extends keyof F = never>(
  name: string,
  fields: F,
  options: KindOptions<F, Internal>,
): Kind<F, Internal> => ({ name, fields, ...options });

export const shownFields = <K extends AnyKind>({ fields, internal = [] }: K) =>
  Object.keys(fields).filter((name) => !internal.includes(name)) as (keyof ShownOf<K> & string)[];

export interface NamedIndex extends Index {
  readonly name: string;
  /** So long after the time in its field, a record is removed. */
  readonly expiresAfter?: Milliseconds;
}

/** The indexes of a kind: those that are declared, and one of what expires. */
export const indexesOf = (
  { name, fields, indexes = {}, expiry }: AnyKind,
  { withOptional = false } = {},
): NamedIndex[] => [
  ...Object.entries(indexes as Record<string, Index>)
    .filter(([, { isOptional }]) => withOptional || !isOptional)
    .map(([name, index]) => ({ name, ...index })),
  ...(expiry
    ? [
        {
          name: `${name}_by_expiry`,
          on: [expiry.at],
          ...(fields[expiry.at].isOptional && { where: { set: [expiry.at] } }),
          expiresAfter: expiry.kept ?? 0,
        },
      ]
    : []),
];
