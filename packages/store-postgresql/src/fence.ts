/** For its statement alone, whatever the role and the database have set. Evaluated before any row is locked. */
const set = (settings: Readonly<Record<string, string>>) =>
  Object.entries({
    // Less than the 5 s of an operation: a wait for a lock outlasts its connection, and its row locks would hold up
    // others, until no connection is left.
    lock_timeout: '4s',
    ...settings,
  })
    .map(([name, value]) => `set_config('${name}', '${value}', true)`)
    .join(' || ');

/**
 * A condition of each statement whose result decides something, and of each write. Where there are synchronous
 * standbys, its commit waits for them even if it changes nothing, so a deposed primary can't respond. A standby refuses
 * it. It is a part of the statement, so it needs no state of a session, and a batch shares it.
 */
export const FENCED = `(SELECT ${set({ synchronous_commit: 'on', client_min_messages: 'warning' })}
    || pg_current_wal_lsn()::text || CASE current_setting('synchronous_standby_names') WHEN '' THEN ''
      ELSE pg_logical_emit_message(true, 'latchkey', '')::text END) IS NOT NULL`;

/** In its place, of a write that a failover may lose. */
export const UNFENCED = `(SELECT ${set({ synchronous_commit: 'local' })}) IS NOT NULL`;
