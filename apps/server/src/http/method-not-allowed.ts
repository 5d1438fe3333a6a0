import { DomainError } from '../domain-error.ts';

/** The route exists, but does not take the method. */
export class MethodNotAllowed extends DomainError {
  /** What it takes, as the Allow header has it (RFC 9110, section 10.2.1). */
  readonly allow: string;

  constructor(methods: readonly string[]) {
    super('method_not_allowed');
    this.allow = allowedMethods(methods).join(', ');
  }
}

/** HEAD is answered wherever GET is. */
function allowedMethods(methods: readonly string[]): string[] {
  return methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
}
