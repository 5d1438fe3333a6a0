/**
 * A condition of each statement whose result decides something, and of each write. Where there are synchronous
 * standbys, its commit waits for them even if it changes nothing, so a deposed primary can't respond. A standby refuses
 * it. It is a part of the statement, so it needs no state of a session, and a batch shares it.
 */
export const FENCED = `(SELECT CASE
    WHEN concat(set_config('synchronous_commit', 'on', true), set_config('client_min_messages', 'warning', true)) <> ''
      AND current_setting('synchronous_standby_names') <> '' THEN pg_logical_emit_message(true, 'latchkey', '')
    ELSE pg_current_wal_lsn()
  END) IS NOT NULL`;

/** In its place, of a write that a failover may lose. */
export const UNFENCED = `(SELECT set_config('synchronous_commit', 'local', true)) IS NOT NULL`;
