/**
 * The caller of an operation: an application with its secret, a grant with its secret, or the
 * operator with the ADMIN_SECRET.
 */
export type Caller = 'application' | 'grant' | 'operator';
