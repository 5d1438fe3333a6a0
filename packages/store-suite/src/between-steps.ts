import type { Adapter } from '@latchkey/store/adapter';
import { givens } from '@latchkey/store/condition';
import type { AnyKind } from '@latchkey/store/kind';
import { conditional } from './planted-mistakes.ts';

// What another caller does between two steps of an operation. The steps of a sequence are not among them: on SQL, they
// are one transaction.

type Primitive = (kind: AnyKind, site?: unknown, ...rest: unknown[]) => Step;
type Step = (input: unknown) => Promise<unknown>;

const waiting = new Map<string, () => Promise<unknown>>();

/**
 * Runs something once, before the next step with this name is made. If it fails, so does the operation, as if its
 * process was killed there.
 *
 * @param step - the primitive, the kind and what it sets: `change deliveries to body`, `insertNew deliveries`
 */
export function beforeStep(step: string, run: () => Promise<unknown>): void {
  waiting.set(step, run);
}

/** The steps that were not reached. Forgets them. */
export function notReached(): string[] {
  const steps = [...waiting.keys()];
  waiting.clear();
  return steps;
}

/** An adapter that calls back before its conditional writes, and before it inserts what another may have inserted. */
export function withCallbacks(db: Adapter): Adapter {
  return new Proxy(db, {
    get(target, name: string) {
      const primitive = Reflect.get(target, name) as Primitive;
      if (!conditional.includes(name) && name !== 'insertNew') return primitive;
      return (kind: AnyKind, site?: unknown, ...rest: unknown[]): Step => {
        const call = primitive(kind, site, ...rest);
        const step = nameOf(name, kind, site);
        return async (input) => {
          const run = waiting.get(step);
          waiting.delete(step);
          await run?.();
          return call(input);
        };
      };
    },
  });
}

function nameOf(primitive: string, { name }: AnyKind, site: unknown): string {
  const { set } = (typeof site === 'function' ? site(givens) : {}) as { set?: object };
  return `${primitive} ${name}${set ? ` to ${Object.keys(set).join(' ')}` : ''}`;
}
