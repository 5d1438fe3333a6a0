/** Makes logs and stacks show a name of a class of errors, even if a user's bundler minifies it. */
export function keepName(errorClass: { readonly prototype: Error }, value: string): void {
  Object.defineProperty(errorClass, 'name', { value });
  // On the prototype, because the stack is written before any field of the error is set.
  Object.defineProperty(errorClass.prototype, 'name', {
    value,
    configurable: true,
    writable: true,
  });
}
