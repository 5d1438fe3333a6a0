import type { ErrorCode } from '@latchkey/schema';

/** A row of {@link reasons}. */
export interface ReasonDefinition {
  /** What the caller is told, which is the same for all reasons of a code. */
  readonly code: ErrorCode;
  /** Which check failed, and how. */
  readonly found: string;
  /** What the operator can do about it. */
  readonly advice: string;
}

/**
 * Why a call was refused, where its error code stands for more than one check. The wire tells the
 * code alone, on purpose; `latchkey explain` tells the operator the reason. An error code without a
 * reason here is explained by its row in the error table.
 */
export const reasons = {
  header_unreadable: {
    code: 'credentials_invalid',
    found: 'The Authorization header is neither "Bearer <secret>" nor "Basic <base64>".',
    advice:
      'Let the caller send "Authorization: Bearer <secret>": one word, one space, the secret and nothing else.',
  },
  scheme_wrong: {
    code: 'credentials_invalid',
    found: 'The Authorization header is Basic, which only requests with a grant may use.',
    advice: 'Let the caller send the same secret as "Authorization: Bearer <secret>".',
  },
  credential_of_another_kind: {
    code: 'credentials_invalid',
    found: 'The credential is well formed, but of another kind than this route asks for.',
    advice:
      'Routes under /oauth take an application secret (lk_app_…), routes under /v1 a grant secret (lk_grant_…). Let the caller look at which of its secrets it sends here.',
  },
  credential_ill_formed: {
    code: 'credentials_invalid',
    found: 'The prefix, the length or the checksum of the credential is wrong.',
    advice:
      'It was cut short, mistyped or changed on its way, or is no Latchkey credential at all. Let the caller compare it with the one it stored; an application secret ends with the letters of its hint in `latchkey app list`.',
  },
  application_unknown: {
    code: 'credentials_invalid',
    found: 'The secret is well formed, but there is no application with the id in it.',
    advice:
      'The secret is probably of another installation, such as a test system. `latchkey app list` shows the applications of this one.',
  },
  secret_unknown: {
    code: 'credentials_invalid',
    found: 'The application exists, but has no such secret: it was removed, or never made.',
    advice:
      'Compare the hints in `latchkey app list` with the end of the secret that the caller sends. If it was removed, the caller still uses the old one: give it the new one.',
  },
  secret_expired: {
    code: 'credentials_invalid',
    found: 'The application secret is past its expires_at.',
    advice: 'Add a new one with `latchkey app secret add APP_ID`, and give it to the application.',
  },
  application_disabled: {
    code: 'credentials_invalid',
    found:
      'The application is disabled, or gone from the database, and with it all its secrets and grants.',
    advice: 'If it should work again: `latchkey app enable APP_ID`.',
  },
  basic_names_another_grant: {
    code: 'credentials_invalid',
    found: 'The user name of Basic is not the id of the grant whose secret is the password.',
    advice:
      'The application mixed up two of its grants. Let it send the grant_id that belongs to the secret, or the secret alone as Bearer.',
  },
  secret_of_unknown_grant: {
    code: 'credentials_invalid',
    found: 'The secret is well formed, but there is no grant with the id in it.',
    advice:
      'The secret is probably of another installation, or of a database that was restored to a time before the grant. Otherwise the user has to link the account again.',
  },
  grant_revoked: {
    code: 'credentials_invalid',
    found: 'The grant is revoked.',
    advice:
      '`latchkey grant history GRANT_ID` tells when, by whom and by which request. A revoked grant does not come back: the user has to link the account again.',
  },
  grant_secret_wrong: {
    code: 'credentials_invalid',
    found:
      'The grant is active, but this is not its secret: a recovery replaced it, or it is forged.',
    advice:
      '`latchkey grant history GRANT_ID` tells whether and when the grant was recovered. If it was, the application has to use the secret that it got from the last recovery.',
  },
  admin_secret_wrong: {
    code: 'credentials_invalid',
    found: 'The secret is not the ADMIN_SECRET that the service was started with.',
    advice:
      'Compare the caller’s with the service’s. A new ADMIN_SECRET takes effect when the service is started again.',
  },

  code_ill_formed: {
    code: 'code_not_found',
    found: 'The prefix, the length or the checksum of the code is wrong.',
    advice:
      'It was cut short, changed on its way, or is no code at all. Let the application log the length of what it gets: a code has 79 characters.',
  },
  code_unknown: {
    code: 'code_not_found',
    found: 'There is no record of this code: it was never issued here, or was cancelled.',
    advice:
      'Check that the service that issues codes and the application use the same installation. The log tells of a cancellation: a line with action admin.codes.cancel.',
  },
  code_of_another_application: {
    code: 'code_not_found',
    found: 'The code was issued to another application than the one whose secret was sent.',
    advice:
      'Check that the user was sent back to the application that the code was issued to, and that it uses its own secret. `latchkey grant history GRANT_ID` names the application of the code. If this one should never have seen the code, find out how it got it.',
  },
  code_forged: {
    code: 'code_not_found',
    found: 'The grant id in the code is right, but the random part of the code is not.',
    advice:
      'This does not come from a typing error, which the checksum finds: somebody made the code up. It can’t be guessed; find out who sends it.',
  },
  code_too_old: {
    code: 'code_expired',
    found: 'The code was issued more than 300 seconds ago, by the time in its id.',
    advice:
      'Let the user start again. If fresh codes expire, compare the clocks of the machines that issue and exchange them.',
  },
  code_replayed: {
    code: 'code_already_used',
    found: 'This application exchanged this code before.',
    advice:
      '`latchkey grant history GRANT_ID` tells which request did. If the application never got its answer, it can recover the grant within 10 minutes of the exchange; the replay itself changed nothing.',
  },

  grant_unknown: {
    code: 'grant_not_found',
    found: 'There is no record under this grant id: never issued here, cancelled, or expired.',
    advice:
      'Check that the id is the one of the exchange, and that it is of this installation. `latchkey grant list --app APP_ID` lists the grants of an application.',
  },
  grant_of_another_application: {
    code: 'grant_not_found',
    found: 'The grant belongs to another application than the one whose secret was sent.',
    advice:
      '`latchkey grant history GRANT_ID` names the application it belongs to. Let the caller use the secret of that one; the operator can revoke any grant with `latchkey grant revoke GRANT_ID`.',
  },
  code_not_exchanged: {
    code: 'grant_not_found',
    found: 'The code of this grant was not exchanged yet, so there is no grant.',
    advice: 'To stop it from being exchanged: `latchkey code cancel GRANT_ID`.',
  },
  code_exchanged: {
    code: 'grant_not_found',
    found: 'The code can’t be cancelled any more: it was exchanged, and is a grant now.',
    advice: 'To end the grant: `latchkey grant revoke GRANT_ID`.',
  },
  revoked_before_recovery: {
    code: 'grant_not_found',
    found: 'The grant that was to be recovered is revoked.',
    advice:
      '`latchkey grant history GRANT_ID` tells when and by whom. A revoked grant does not come back: the user has to link the account again.',
  },

  grant_used: {
    code: 'grant_not_recoverable',
    found: 'A request was authenticated with the secret of the grant, so its answer was not lost.',
    advice:
      '`latchkey grant history GRANT_ID` tells which request. If the application lost its secret afterwards, revoke the grant and let the user link the account again.',
  },
  exchanged_too_long_ago: {
    code: 'grant_not_recoverable',
    found: 'The code was exchanged more than 10 minutes ago.',
    advice: 'Revoke the grant, and let the user link the account again.',
  },
  too_many_failed_authentications: {
    code: 'rate_limited',
    found: 'The address has sent more wrong credentials than the limit "authentications" allows.',
    advice:
      'Good credentials pass all the same. If the address is a proxy of yours, set TRUST_PROXY; if it is an application with an old secret, `latchkey app list` shows which secrets it has. RATE_LIMIT sets the number.',
  },
  too_many_failed_exchanges: {
    code: 'rate_limited',
    found:
      'The application has sent more unknown or expired codes than the limit "exchanges" allows.',
    advice:
      'Good codes are exchanged all the same. Somebody may be calling its callback with made-up codes: let it check `state` before it exchanges. RATE_LIMIT sets the number.',
  },
  too_many_requests: {
    code: 'rate_limited',
    found: 'The application has sent more requests than the limit "requests" allows.',
    advice:
      'Nothing was done; it may go on after Retry-After. If it needs that many, raise the limit "requests" in RATE_LIMIT.',
  },
} as const satisfies Record<string, ReasonDefinition>;

/** The name of a reason: stable, as it stands in the log. */
export type Reason = keyof typeof reasons;
