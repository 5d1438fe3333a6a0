import type { Adapter, Steps } from '@latchkey/store/adapter';
import { givens, type Term, termsOf, type Where } from '@latchkey/store/condition';
import type { AnyKind } from '@latchkey/store/kind';

// A mistake is one condition of a write that is left out. Each has a name that says where it is.

type AnyWhere = Where<AnyKind>;
type Site = (given: never) => unknown;
type Primitive = (kind: AnyKind, site: Site, ...rest: unknown[]) => unknown;

/** The primitives whose condition decides. The others read, or have none: `next` raises a number always. */
export const conditional = [
  'change',
  'changeAllowed',
  'changeSome',
  'changeEach',
  'remove',
  'removeSome',
];

/**
 * @param plant - the name of the mistake that is made; null for none
 * @param onMistake - gets the name of each mistake that could be made
 */
export function withMistake(
  db: Adapter,
  plant: string | null,
  onMistake: (name: string) => void = () => {},
): Adapter {
  const seen = new Map<string, number>();

  function planted(primitive: string, kind: AnyKind, site: Site): Site {
    const whole = site(givens as never) as AnyWhere | { where: AnyWhere; set: object };
    const isChange = 'set' in (whole as object) && 'where' in (whole as object);
    const where = isChange ? (whole as { where: AnyWhere }).where : (whole as AnyWhere);
    const set = isChange ? Object.keys((whole as { set: object }).set) : [];
    const terms = simpleTerms(termsOf(where));
    const names = terms.map(({ name }) => name);
    const call = `${primitive} ${kind.name} (${names.join(' ')})${isChange ? ` to ${set.join(' ')}` : ''}`;
    const times = (seen.get(call) ?? 0) + 1;
    seen.set(call, times);
    const place = names.findIndex((name, index) => {
      // Without it, the write would name no record.
      if (name === kind.key && terms[index]?.is === 'equal') return false;
      const before = names.slice(0, index).filter((one) => one === name).length;
      const mistake = `${name}${before > 0 ? ` (${before + 1})` : ''} of ${call}${times > 1 ? `, no. ${times}` : ''}`;
      onMistake(mistake);
      return mistake === plant;
    });
    if (place === -1) return site;
    const wrong = without(where, { place });
    return () => (isChange ? { ...(whole as object), where: wrong } : wrong);
  }

  const within = <T extends object>(primitives: T): T =>
    new Proxy(primitives, {
      get(target, name: string) {
        const primitive = Reflect.get(target, name) as Primitive;
        if (!conditional.includes(name)) return primitive;
        return (kind: AnyKind, site: Site, ...rest: unknown[]) =>
          primitive(kind, planted(name, kind, site), ...rest);
      },
    });
  const sequence: Adapter['sequence'] = (steps, options) =>
    db.sequence((own: Steps) => steps(within(own)), options);

  return new Proxy(within(db), {
    get: (target, name) => (name === 'sequence' ? sequence : Reflect.get(target, name)),
  });
}

/** What a condition asks of one field each, in its order. */
const simpleTerms = (terms: readonly Term[]): Extract<Term, { name: string }>[] =>
  terms.flatMap((term) => {
    if (term.is === 'either') return term.of.flatMap(simpleTerms);
    return term.is === 'optional' ? simpleTerms(term.terms) : [term];
  });

/** The same without the condition in this place, counted as in {@link simpleTerms}. */
function without(where: AnyWhere, left: { place: number }): AnyWhere {
  if (Array.isArray(where)) return where.map((one) => without(one, left));
  const like = (members: object) =>
    Object.assign(Object.create(Object.getPrototypeOf(where)), where, members);
  if ('of' in where && Array.isArray(where.of)) {
    return like({ of: where.of.map((one) => without(one as AnyWhere, left)) });
  }
  if ('where' in where) return like({ where: without(where.where as AnyWhere, left) });
  return Object.fromEntries(Object.entries(where).filter(() => left.place-- !== 0));
}
