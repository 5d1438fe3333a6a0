/**
 * The caller of an operation: an application with its secret, a grant with its secret, or the
 * operator with the ADMIN_SECRET or a key.
 */
export type Caller = 'application' | 'grant' | 'operator';

/** What a key of the operator may do. A role is a list of operations, and no step above another. */
export type Role = 'read' | 'host' | 'support' | 'operate';
