/**
 * By default, SQLite keeps each page as it was before, to undo the rows that are done if one breaks a constraint:
 * 90 MiB of memory for 200,000 of them. This undoes the transaction, as a batch of writes does anyway.
 */
export const UPDATE_MANY_DELIVERIES = 'UPDATE OR ROLLBACK deliveries';
