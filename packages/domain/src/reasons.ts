import type { ErrorCode } from '@latchkey/schema';

export interface ReasonDefinition {
  readonly code: ErrorCode;
  readonly found: string;
  readonly advice: string;
}

/** On purpose, callers get only the code. Operators get the reason from `latchkey explain`. */
export const reasons = {
  header_unreadable: {
    code: 'credentials_invalid',
    found: 'The Authorization header is neither "Bearer <secret>" nor "Basic <base64>".',
    advice:
      'The caller has to send "Authorization: Bearer <secret>", with one space and nothing after the secret.',
  },
  header_repeated: {
    code: 'credentials_invalid',
    found: 'The request has more than one Authorization header.',
    advice:
      'Let the caller send one. If it does, a proxy on the way adds another: let the proxy replace the header or leave it alone.',
  },
  scheme_wrong: {
    code: 'credentials_invalid',
    found:
      'The Authorization header uses Basic, which this route does not take. Requests with a grant and the routes of OAuth clients do.',
    advice: 'The caller has to send the same secret as "Authorization: Bearer <secret>".',
  },
  client_id_of_another_application: {
    code: 'credentials_invalid',
    found:
      'The client_id is not the id of the application whose secret was sent, or it was left out.',
    advice:
      'The application has mixed up the credentials of two registrations. `latchkey app list` shows which secret belongs to which id.',
  },
  client_id_no_uuid: {
    code: 'credentials_invalid',
    found: 'The client_id is no UUID, and no secret was sent.',
    advice: 'The application has to send the id that `latchkey app list` shows.',
  },
  secret_required: {
    code: 'credentials_invalid',
    found:
      'Only a client_id was sent, but the application is not public or the call needs a secret.',
    advice:
      'An application with a secret has to send it as client_secret or in the Authorization header. A public application can convert its codes and revoke its own tokens, nothing else.',
  },
  credential_of_another_kind: {
    code: 'credentials_invalid',
    found: 'The credential is well formed, but of another kind than this route requires.',
    advice:
      'Routes under /oauth require an application secret (lk_app_…), routes under /v1 a grant secret (lk_grant_…). The caller has to check which of its secrets it sends here.',
  },
  credential_ill_formed: {
    code: 'credentials_invalid',
    found: 'The prefix, the length or the checksum of the credential is wrong.',
    advice:
      'The credential was cut short, mistyped or changed in transit, or it is not a Latchkey credential. The caller has to compare it with the one it stored. An application secret ends with the characters of its hint in `latchkey app list`.',
  },
  application_unknown: {
    code: 'credentials_invalid',
    found: 'There is no application with the id in the secret, or with the client_id.',
    advice:
      'The secret or the client_id probably belongs to another installation, such as a test system. `latchkey app list` shows the applications of this one.',
  },
  secret_unknown: {
    code: 'credentials_invalid',
    found:
      'The application exists but does not have this secret: it was removed, or never created.',
    advice:
      'Compare the hints in `latchkey app list` with the end of the secret that the caller sends. If the secret was removed, the caller still uses the old one: give it the new one.',
  },
  secret_expired: {
    code: 'credentials_invalid',
    found: 'The application secret is past its expires_at.',
    advice:
      'Add a new secret with `latchkey app secret add APP_ID` and give it to the application.',
  },
  application_disabled: {
    code: 'application_disabled',
    found: 'The credentials are valid, but the application that they belong to is disabled.',
    advice:
      'If it should work again, run `latchkey app enable APP_ID`. Its secrets and grants then work as before.',
  },
  application_deleted: {
    code: 'credentials_invalid',
    found: 'The application that the grant belongs to was deleted.',
    advice:
      'A deleted application does not come back. Create a new one; the users have to link their accounts again.',
  },
  basic_names_another_grant: {
    code: 'credentials_invalid',
    found:
      'The user name in the Basic credentials is not the id of the grant whose secret is the password.',
    advice:
      'The application has mixed up two of its grants. It has to send the grant_id that belongs to the secret, or send only the secret as Bearer.',
  },
  secret_of_unknown_grant: {
    code: 'credentials_invalid',
    found: 'The secret is well formed, but there is no grant with the id in it.',
    advice:
      'The secret probably belongs to another installation, or the database was restored to a time before the grant. Otherwise the user has to link the account again.',
  },
  grant_revoked: {
    code: 'credentials_invalid',
    found: 'The grant is revoked.',
    advice:
      '`latchkey grant history GRANT_ID` shows when, by whom and in which request. A revoked grant does not come back: the user has to link the account again.',
  },
  grant_idle: {
    code: 'credentials_invalid',
    found: 'The grant was not used for longer than the idle_days of its application.',
    advice:
      'If `latchkey app get APP_ID` shows too few idle days, allow more before the grant is revoked, which takes at most an hour. Otherwise the user has to link the account again. If the grant was in use, compare the clocks of the machines.',
  },
  grant_of_resource: {
    code: 'resource_mismatch',
    found: 'The grant is for a resource, and this route is not part of it.',
    advice:
      'The grant works at its resource. If the application needs this route too, it has to link the account without a resource.',
  },
  grant_secret_wrong: {
    code: 'credentials_invalid',
    found:
      'The grant is active, but this is not its secret: a recovery replaced the secret, or it is forged.',
    advice:
      '`latchkey grant history GRANT_ID` shows whether and when the grant was recovered. If it was, the application has to use the secret from the last recovery.',
  },
  admin_secret_wrong: {
    code: 'credentials_invalid',
    found:
      'The secret is neither a key nor the ADMIN_SECRET nor the ADMIN_SECRET_PREVIOUS of the service.',
    advice:
      'Compare the secret of the caller with those of the service. A new ADMIN_SECRET takes effect after a restart of the service, and one in a file after SIGHUP.',
  },

  key_unknown: {
    code: 'credentials_invalid',
    found: 'There is no such key: it was deleted, or it is of another service.',
    advice:
      'Compare the id with those of "latchkey key list". If the key was deleted, make a new one with "latchkey key create", and give it to the caller.',
  },
  key_expired: {
    code: 'credentials_invalid',
    found: 'The key has expired.',
    advice: 'Make a new key with "latchkey key create", and give it to the caller.',
  },

  code_ill_formed: {
    code: 'code_not_found',
    found: 'The prefix, the length or the checksum of the code is wrong.',
    advice:
      'The text was cut short or changed in transit, or it is not a code. Let the application log the length of what it receives: a code has 79 characters.',
  },
  code_ended_by_disabling: {
    code: 'code_not_found',
    found: 'The application was disabled after this code was issued.',
    advice: 'Enabling does not bring codes back. The user has to start again at the application.',
  },
  code_unknown: {
    code: 'code_not_found',
    found: 'There is no record of this code: it was never issued here, or it was cancelled.',
    advice:
      'Check that the service that issues codes and the application use the same installation. A cancellation over the API has a line in the log with action admin.codes.cancel.',
  },
  code_of_another_application: {
    code: 'code_not_found',
    found: 'The code was issued to another application than the one whose secret was sent.',
    advice:
      'Check that the user was redirected to the application that the code was issued to, and that this application uses its own secret. `latchkey grant history GRANT_ID` shows the application of the code. If the caller should never have seen the code, find out how it got it.',
  },
  code_forged: {
    code: 'code_not_found',
    found: 'The grant id in the code is right, but the random part of the code is not.',
    advice:
      'This is not a typing error, which the checksum would detect: somebody made the code up. Codes cannot be guessed. Find out who sends it.',
  },
  code_from_the_future: {
    code: 'code_not_found',
    found: 'The id in the code says that it was issued more than a minute in the future.',
    advice:
      'The clock of the process that issued it is ahead, or was. Compare the clocks of all processes and keep them with NTP. The user can link again once they agree.',
  },
  code_too_old: {
    code: 'code_expired',
    found: 'The code was issued more than 300 seconds ago, according to the time in its id.',
    advice:
      'The user has to start again. If fresh codes expire, compare the clocks of the machines that issue and convert them.',
  },
  code_replayed: {
    code: 'code_already_used',
    found: 'This application has already converted this code.',
    advice:
      '`latchkey grant history GRANT_ID` shows which request did. If the application never got the response, it can recover the grant within 10 minutes of the conversion. The replay changed nothing.',
  },

  redirect_uri_differs: {
    code: 'redirect_uri_mismatch',
    found: 'The redirect_uri is not the one that the browser was sent to with the code.',
    advice:
      'The application has to send the same text twice: to /oauth/authorize and with the code. `latchkey app get APP_ID` shows what is registered. The port of a loopback address counts too.',
  },
  redirect_uri_missing: {
    code: 'redirect_uri_mismatch',
    found:
      'The redirect_uri was left out. The code is bound to one, and has no code challenge that could take its place.',
    advice: 'The application has to send the redirect_uri of its authorization request.',
  },
  verifier_wrong: {
    code: 'code_verifier_mismatch',
    found: 'The code_verifier is not that of the code challenge.',
    advice:
      'The application has mixed up two links of one user, or computes the challenge in another way than S256. If neither is the case, somebody has brought a code of their own to the callback of the application.',
  },
  verifier_missing: {
    code: 'code_verifier_mismatch',
    found: 'The code has a code challenge, and no code_verifier was sent.',
    advice:
      'The application has to keep the verifier from the authorization request until its callback. If it does not use PKCE, somebody has brought a code of their own to its callback.',
  },
  resource_differs: {
    code: 'target_mismatch',
    found: 'The resource is not the one that the code is for.',
    advice: 'The application has to send the resource of its authorization request, or none.',
  },
  verifier_unexpected: {
    code: 'code_verifier_mismatch',
    found: 'A code_verifier was sent, but the code has no code challenge.',
    advice:
      'The application sends a challenge with its authorization requests: then somebody has removed it on the way, or the code comes from another request. A code of `latchkey code issue` has a challenge only if it was given one.',
  },

  token_of_another_application: {
    code: 'token_of_another_application',
    found: 'The token is the secret of an active grant of another application.',
    advice:
      '`latchkey grant history GRANT_ID` shows the application of the grant. Find out how the caller got its secret. If it leaked, run `latchkey grant revoke GRANT_ID`.',
  },

  grant_unknown: {
    code: 'grant_not_found',
    found:
      'There is no record with this grant id: it was never issued here, or it was cancelled or expired.',
    advice:
      'Check that the id is the one from the conversion and that it belongs to this installation. `latchkey grant list --app APP_ID` lists the grants of an application.',
  },
  grant_of_another_application: {
    code: 'grant_not_found',
    found: 'The grant belongs to another application than the one whose secret was sent.',
    advice:
      '`latchkey grant history GRANT_ID` shows the application of the grant. The caller has to use the secret of that application. An operator can revoke any grant with `latchkey grant revoke GRANT_ID`.',
  },
  code_not_redeemed: {
    code: 'grant_not_found',
    found: 'The code of this grant was not converted yet, so there is no grant.',
    advice: 'To prevent its conversion, run `latchkey code cancel GRANT_ID`.',
  },
  code_redeemed: {
    code: 'grant_not_found',
    found: 'The code can no longer be cancelled: it was converted into a grant.',
    advice: 'To end the grant, run `latchkey grant revoke GRANT_ID`.',
  },
  revoked_before_recovery: {
    code: 'grant_not_found',
    found: 'The grant to be recovered is revoked.',
    advice:
      '`latchkey grant history GRANT_ID` shows when and by whom. A revoked grant does not come back: the user has to link the account again.',
  },

  grant_used: {
    code: 'grant_not_recoverable',
    found:
      'A request was authenticated with the secret of the grant, so the response with it was not lost.',
    advice:
      '`latchkey grant history GRANT_ID` shows which request. If the application lost the secret afterwards, revoke the grant and let the user link the account again.',
  },
  redeemed_too_long_ago: {
    code: 'grant_not_recoverable',
    found: 'The code was converted more than 10 minutes ago.',
    advice: 'Revoke the grant and let the user link the account again.',
  },
  client_id_missing: {
    code: 'client_unknown',
    found: 'The authorization request has no client_id.',
    advice: 'The application has to send its id, as `latchkey app list` shows it, as client_id.',
  },
  client_id_repeated: {
    code: 'client_unknown',
    found: 'The authorization request has more than one client_id.',
    advice: 'The application has to send one. Its OAuth library and its own code may both add it.',
  },
  client_id_ill_formed: {
    code: 'client_unknown',
    found: 'The client_id is no UUID, so it can be no application here.',
    advice:
      'The application has to send its id, as `latchkey app list` shows it. Perhaps the id of another provider is configured.',
  },
  client_not_found: {
    code: 'client_unknown',
    found: 'There is no application with this client_id.',
    advice:
      'It was deleted, or it belongs to another installation, such as a test system. `latchkey app list` shows the applications of this one.',
  },
  client_disabled: {
    code: 'client_unknown',
    found: 'The application with this client_id is disabled.',
    advice: 'If it should work again, run `latchkey app enable APP_ID`.',
  },
  client_id_of_document: {
    code: 'client_unknown',
    found: 'The client_id is the id of an application with a document.',
    advice:
      'The application has to send the address of its document. `latchkey app list --documents` shows it.',
  },
  client_address_not_taken: {
    code: 'client_unknown',
    found: 'The client_id is an address that is not taken here, or that is not written plainly.',
    advice:
      'CLIENT_DOCUMENTS says whose documents are taken. If its host is there, the address has a user, a query, a fragment, a short path or another spelling: docs/protocol/clients.md has the rules. An address below PUBLIC_URL/oauth/clients is that of a client that registered itself: CLIENT_REGISTRATION and CLIENT_SCHEMES say what is taken of it.',
  },
  client_host_too_long: {
    code: 'client_unknown',
    found: 'The client_id is an https: address whose host has more than 60 characters.',
    advice:
      'Pages show all of a host, so that its end says whose it is. The developers need an address with a shorter one.',
  },
  document_address_refused: {
    code: 'client_document_invalid',
    found: 'Its host has no address that this service connects to.',
    advice:
      'The name resolves to an address of a private network. If that is a test of yours, set OUTBOUND_ALLOW=private and name the host in CLIENT_DOCUMENTS.',
  },
  document_connection_failed: {
    code: 'client_document_unavailable',
    found: 'Its host could not be reached, or did not respond with HTTP.',
    advice:
      'Look whether this machine may connect to the internet, and whether the address opens in a browser.',
  },
  document_tls_failed: {
    code: 'client_document_unavailable',
    found: 'Its host has no certificate that this service trusts.',
    advice:
      'The developers have to fix their certificate. For a CA of your own, set NODE_EXTRA_CA_CERTS.',
  },
  document_late: {
    code: 'client_document_unavailable',
    found: 'It was not there within 5 seconds, or within one while others waited.',
    advice: 'The developers have to serve it faster. It is asked for again with the next try.',
  },
  document_too_large: {
    code: 'client_document_invalid',
    found: 'It is larger than 10 KiB.',
    advice: 'The developers have to shorten it.',
  },
  document_status: {
    code: 'client_document_unavailable',
    found: 'Its address did not respond with status 200. Redirects are not followed.',
    advice: 'The developers have to serve it at exactly this address.',
  },
  document_gone: {
    code: 'client_document_invalid',
    found: 'Its address responded with status 410: the document is gone for good.',
    advice: 'The developers have withdrawn it. The application has to send another address.',
  },
  document_encoded: {
    code: 'client_document_invalid',
    found: 'It was served with a Content-Encoding, which was not asked for.',
    advice: 'The developers have to serve it without compression.',
  },
  document_content_type: {
    code: 'client_document_unavailable',
    found: 'Its Content-Type is neither application/json nor application/…+json.',
    advice: 'The developers have to serve it as application/json.',
  },
  document_no_json: {
    code: 'client_document_unavailable',
    found: 'It is no JSON object in UTF-8.',
    advice: 'The developers have to fix it.',
  },
  document_client_id: {
    code: 'client_document_invalid',
    found: 'client_id is not the address of the document, character for character.',
    advice: 'The developers have to write the address into it that they send as client_id.',
  },
  document_client_secret: {
    code: 'client_document_invalid',
    found: 'client_secret is in a document that everybody can read.',
    advice: 'The developers have to take it out, and to give it up.',
  },
  document_grant_types: {
    code: 'client_document_invalid',
    found: 'grant_types has no authorization_code.',
    advice: 'The developers have to add it, or to leave grant_types out.',
  },
  document_response_types: {
    code: 'client_document_invalid',
    found: 'response_types has no code.',
    advice: 'The developers have to add it, or to leave response_types out.',
  },
  document_redirect_uris: {
    code: 'client_document_invalid',
    found: 'redirect_uris has none that could be registered here.',
    advice:
      'The developers have to add one with https:, with http: on loopback, or with a scheme of their own.',
  },
  document_auth_method: {
    code: 'client_document_invalid',
    found:
      'token_endpoint_auth_method is neither none nor private_key_jwt, and token_endpoint_auth_methods_supported has neither.',
    advice: 'The developers have to name one of the two.',
  },
  document_signing_alg: {
    code: 'client_document_invalid',
    found: 'token_endpoint_auth_signing_alg is none that is taken here.',
    advice: 'The developers have to use RS256, PS256, ES256 or EdDSA, or to leave it out.',
  },
  document_keys: {
    code: 'client_document_invalid',
    found: 'jwks_uri and jwks are both there or both missing, or jwks is no set of keys.',
    advice: 'The developers have to give one of them.',
  },
  document_keys_address: {
    code: 'client_document_invalid',
    found: 'jwks_uri is no https: address that is taken here.',
    advice: 'The developers have to write it plainly, without a user, a query and a fragment.',
  },
  document_keys_secret: {
    code: 'client_document_invalid',
    found: 'jwks has a private or a symmetric key.',
    advice: 'Everybody could read it. The developers have to take it out, and to make new keys.',
  },
  client_id_not_address: {
    code: 'credentials_invalid',
    found: 'The client_id is the id of an application with a document.',
    advice: 'The application has to send the address of its document, here as at its beginning.',
  },
  assertion_missing: {
    code: 'credentials_invalid',
    found:
      'The document of the application names private_key_jwt, but no client_assertion was sent.',
    advice:
      'The application has to sign with its key, as its document says. Another program may have used its client_id.',
  },
  assertion_unexpected: {
    code: 'credentials_invalid',
    found: 'A client_assertion was sent for an application that has no keys.',
    advice: 'Its document has to name private_key_jwt, and its user has to link it again.',
  },
  assertion_ill_formed: {
    code: 'credentials_invalid',
    found:
      'The client_assertion is no signed token of at most 8 KiB, or its header or claims lack a member or have one of a wrong type.',
    advice:
      'The application has to send a JWT with alg, iss, sub, aud and exp (RFC 7523, section 3). iss, sub and kid are texts, aud is a text or a list of 1 to 10 texts, and times are numbers.',
  },
  assertion_invalid: {
    code: 'credentials_invalid',
    found:
      'The client_assertion has a wrong signature, iss, sub, aud or time, or an algorithm that is not taken.',
    advice:
      'Compare the clock of the application, and its aud with the issuer. exp has to be at most 10 minutes away.',
  },
  assertion_key_unknown: {
    code: 'credentials_invalid',
    found: 'No key of the application fits its client_assertion.',
    advice:
      'Its key set lacks the key, or was replaced less than a minute ago. The application may try again.',
  },
  redirect_uri_repeated: {
    code: 'redirect_uri_unregistered',
    found: 'The authorization request has more than one redirect_uri.',
    advice: 'The application has to send one.',
  },
  redirect_uri_omitted: {
    code: 'redirect_uri_unregistered',
    found:
      'The authorization request has no redirect_uri, and the application has not exactly one registered.',
    advice:
      'The application has to say which one it wants. `latchkey app get APP_ID` shows those that are registered.',
  },
  redirect_uri_other: {
    code: 'redirect_uri_unregistered',
    found: 'The redirect_uri is none of the registered ones.',
    advice:
      'Compare it with those that `latchkey app get APP_ID` shows, character for character: scheme, port, upper and lower case, and a slash at the end count. If it is right, add it with `latchkey app update APP_ID --redirect-uri URI`, together with the others.',
  },
  scope_missing: {
    code: 'scope_unknown',
    found:
      'The authorization request has no scope, and neither the application nor the resource has a default.',
    advice:
      'The application has to ask for at least one scope, or needs a default: `latchkey app update APP_ID --default-scope SCOPE`.',
  },
  scope_default_unusable: {
    code: 'scope_unknown',
    found: 'The authorization request has no scope, and can ask for none of the default.',
    advice:
      'Each scope of the default has to be described, and among the scopes of the application. Of a resource without a default, they must not be sensitive either. `latchkey app get APP_ID` and `latchkey scope list` show them.',
  },
  scope_ill_formed: {
    code: 'scope_unknown',
    found:
      'The scope, the optional scope, or both together, are no list of up to 32 different tokens with single spaces.',
    advice: 'The application has to separate its scopes by single spaces, and name each once.',
  },
  scope_undescribed: {
    code: 'scope_unknown',
    found:
      'The scope or the optional scope has a token that is not described, so no user could be asked for it.',
    advice:
      '`latchkey scope list` shows the described scopes. Describe the missing one with `latchkey scope put SCOPE --title TITLE`, or let the application ask for less.',
  },
  scope_not_allowed: {
    code: 'scope_unknown',
    found: 'The scope or the optional scope has a token that this application may not ask for.',
    advice:
      '`latchkey app get APP_ID` shows its scopes. Add the missing one with `latchkey app update APP_ID --scope SCOPE`, together with the others.',
  },
  scope_not_asked_for: {
    code: 'scope_unknown',
    found: 'More was to be approved than the application had asked for.',
    advice:
      'Approve a part of scope and optional_scope of the link request, or all of its scope by leaving scope out.',
  },
  resource_repeated: {
    code: 'target_unknown',
    found: 'The authorization request has more than one resource.',
    advice: 'The application has to ask for one resource at a time.',
  },
  resource_unregistered: {
    code: 'target_unknown',
    found: 'The resource is none of the registered ones.',
    advice:
      '`latchkey resource list` shows them. Add the missing one with `latchkey resource create URL --name NAME`, or let the application send the right address.',
  },
  state_repeated: {
    code: 'state_invalid',
    found: 'The authorization request has more than one state.',
    advice: 'The application has to send one. Its OAuth library and its own code may both add it.',
  },
  state_ill_formed: {
    code: 'state_invalid',
    found: 'The state is longer than 2048 characters, or is not all printable ASCII.',
    advice:
      'Let the application send a random text of letters and digits as state, and keep what belongs to it at its own side.',
  },
  redirect_too_long: {
    code: 'state_invalid',
    found:
      'The redirect URI, the form-encoded state and twice PUBLIC_URL have more than 2700 bytes.',
    advice:
      'Proxies refuse a redirect that is so long. Let the application send a random text of letters and digits as state, and keep what belongs to it at its own side.',
  },
  challenge_of_public_application: {
    code: 'challenge_required',
    found: 'The application is public and sent no code_challenge.',
    advice: 'Turn on PKCE (RFC 7636) with the method S256 in the OAuth library of the application.',
  },
  challenge_of_application: {
    code: 'challenge_required',
    found: 'The application is registered with challenge_required, and sent no code_challenge.',
    advice:
      'Turn on PKCE (RFC 7636) with the method S256 in the OAuth library of the application. If it has none, set challenge_required to false: `latchkey app update APP_ID --no-challenge-required`.',
  },
  challenge_or_state: {
    code: 'challenge_required',
    found: 'The authorization request has neither a code_challenge nor a state.',
    advice:
      'Turn on PKCE (RFC 7636) with the method S256 in the OAuth library of the application, or let it send a random state and compare it afterwards.',
  },

  link_ill_formed: {
    code: 'link_not_found',
    found: 'The prefix, the length or the checksum of the link is wrong.',
    advice:
      'It was cut short or changed in transit, or it is no link. A link has 79 characters; the sign-in page gets it as the parameter `link`.',
  },
  link_unknown: {
    code: 'link_not_found',
    found: 'There is no record of this link request.',
    advice:
      'It is older than four hours, belongs to another installation, or the account that it named was erased. The user can start again at the application.',
  },
  link_superseded: {
    code: 'link_not_found',
    found: 'The link request exists, but this is not its latest link.',
    advice:
      'The user asked for another account, and the sign-in page got a new link: use that one. If nobody did, somebody made this link up.',
  },
  link_of_deleted_application: {
    code: 'link_not_found',
    found: 'The application that asked for the link was deleted.',
    advice: 'A deleted application does not come back: nothing can be linked to it.',
  },
  link_of_disabled_application: {
    code: 'link_not_found',
    found: 'The application that asked for the link is disabled, or was disabled since.',
    advice:
      'The link does not work again. Once the application is enabled, with `latchkey app enable APP_ID`, the user can start again there.',
  },
  link_redirect_uri_removed: {
    code: 'link_not_found',
    found: 'The redirect URI of the link request was taken away from the application.',
    advice:
      'The link does not work again, also if the redirect URI is put back. `latchkey app get APP_ID` shows those that are registered now. The user has to start again at the application.',
  },
  link_scope_removed: {
    code: 'link_not_found',
    found:
      'A scope of the link request was taken away from the application, or its description was deleted.',
    advice:
      'The link does not work again, also if the scope is put back. The user has to start again at the application.',
  },
  link_resource_removed: {
    code: 'link_not_found',
    found: 'The resource of the link request was deleted, or a scope was taken away from it.',
    advice:
      'The link does not work again, also if the resource is put back. The user has to start again at the application.',
  },

  page_cookie_missing: {
    code: 'page_expired',
    found: 'The request has no cookie of this page.',
    advice:
      'The page was opened in another browser, the cookie has expired, or the browser takes no cookies. The user has to come from the host again. If everybody sees this, check that the proxy passes Cookie and Set-Cookie, and that PUBLIC_URL has the scheme that browsers use.',
  },
  page_cookie_refused: {
    code: 'cookies_refused',
    found:
      'The browser opened the page less than 300 seconds ago, and came back without its cookie.',
    advice:
      'The user has to allow cookies of the host of PUBLIC_URL, or use another browser. If everybody sees this, check that the proxy passes Cookie and Set-Cookie, and that PUBLIC_URL has the scheme that browsers use.',
  },
  page_ticket_ill_formed: {
    code: 'page_expired',
    found: 'The prefix, the length or the checksum of the ticket is wrong.',
    advice:
      'The address of the page was cut short or changed. The host has to send the browser to the address as it is.',
  },
  page_session_ill_formed: {
    code: 'page_expired',
    found: 'The prefix, the length or the checksum of the cookie is wrong.',
    advice:
      'The cookie was changed on the way, or made up. The user has to come from the host again.',
  },
  page_unknown: {
    code: 'page_expired',
    found: 'There is no record of this page.',
    advice:
      'It is too old, the account was erased, or the page belongs to another installation. The user has to come from the host again.',
  },
  page_of_another_address: {
    code: 'page_expired',
    found: 'The ticket or the cookie is that of another page than the address names.',
    advice: 'The host has to send the browser to the address as it is.',
  },
  page_ticket_wrong: {
    code: 'page_expired',
    found: 'The page exists, but this is not its ticket.',
    advice:
      'This is not a typing error, which the checksum would detect: somebody made the ticket up. Tickets cannot be guessed.',
  },
  page_ticket_used: {
    code: 'page_expired',
    found: 'The ticket was used before, and the browser has no cookie of the page.',
    advice:
      'The address opens the page in one browser: the first that comes back with a cookie of the page. Something may have done so before the user, such as a program that looks at links in mails or chats. The user has to come from the host again.',
  },
  page_ticket_expired: {
    code: 'page_expired',
    found: 'The ticket is older than 300 seconds.',
    advice:
      'The host has to make the page when it sends the browser there, and not earlier. If it does, compare the clocks of all processes.',
  },
  page_session_wrong: {
    code: 'page_expired',
    found: 'The page exists, but the cookie is not that of the browser that opened it.',
    advice:
      'This is not a typing error, which the checksum would detect: somebody made the cookie up. It cannot be guessed.',
  },
  page_session_over: {
    code: 'page_expired',
    found: 'The page was opened more than 30 minutes ago.',
    advice: 'The user has to come from the host again.',
  },
  page_superseded: {
    code: 'page_expired',
    found: 'A newer page was made for the same link request.',
    advice:
      'The user signed in again, perhaps in another tab. The newer page works; so does a start at the application.',
  },
  page_link_unknown: {
    code: 'page_expired',
    found: 'There is no record of the link request that the page is about.',
    advice:
      'It is older than four hours, or never existed here. The user can start again at the application.',
  },
  page_of_deleted_application: {
    code: 'page_expired',
    found: 'The application that asked for the link was deleted.',
    advice: 'A deleted application does not come back: nothing can be linked to it.',
  },
  page_of_disabled_application: {
    code: 'page_expired',
    found: 'The application that asked for the link is disabled, or was disabled since.',
    advice:
      'The page does not work again. Once the application is enabled, with `latchkey app enable APP_ID`, the user can start again there.',
  },
  page_redirect_uri_removed: {
    code: 'page_expired',
    found: 'The redirect URI of the link request was taken away from the application.',
    advice:
      'The page does not work again, also if the redirect URI is put back. `latchkey app get APP_ID` shows those that are registered now. The user has to start again at the application.',
  },
  page_scope_removed: {
    code: 'page_expired',
    found:
      'A scope of the link request was taken away from the application, or its description was deleted.',
    advice:
      'The page does not work again, also if the scope is put back. The user has to start again at the application.',
  },
  page_resource_removed: {
    code: 'page_expired',
    found: 'The resource of the link request was deleted, or a scope was taken away from it.',
    advice:
      'The page does not work again, also if the resource is put back. The user has to start again at the application.',
  },
  page_signed_out: {
    code: 'page_expired',
    found: 'The host has ended the pages of the account since: its user has signed out.',
    advice: 'The user has to sign in at the host again, and gets a new page there.',
  },
  page_account_erased: {
    code: 'page_expired',
    found: 'The account that the page is for was erased.',
    advice: 'The user has to sign in with an account that exists.',
  },

  form_of_another_site: {
    code: 'form_rejected',
    found: 'Sec-Fetch-Site says that another site has sent the form.',
    advice:
      'Only the page itself may send its form. If a user reports this, another site has tried to press the button for them.',
  },
  form_of_another_origin: {
    code: 'form_rejected',
    found: 'The Origin header is neither that of PUBLIC_URL nor null.',
    advice:
      'If users report this from the page itself, PUBLIC_URL is not the address that they see, or a proxy changes the header.',
  },
  form_token_missing: {
    code: 'form_rejected',
    found: 'The form has no form_token.',
    advice: 'The page has one in its form. A program that sends the form has to send all of it.',
  },
  form_token_wrong: {
    code: 'form_rejected',
    found: 'The form_token is not that of the page that this browser has open.',
    advice:
      'The page was opened anew in another tab, and this is an older copy of it. After a reload it works.',
  },
  log_failing: {
    code: 'store_unavailable',
    found: 'AUDIT is required, and the log could not be written: nothing was changed.',
    advice:
      'Make room where stderr is written to, or let its reader go on: changes are accepted again within a second. A reader that is gone takes a restart.',
  },

  too_many_failed_authentications: {
    code: 'rate_limited',
    found:
      'The address has sent more invalid credentials, failed assertions, or failed calls of public applications than its limits allow.',
    advice:
      'Valid credentials are still accepted, except assertions. If the address is that of your proxy, set TRUST_PROXY. If it is an application with an old secret, `latchkey app list` shows the secrets it has. RATE_LIMIT sets the limit "authentications"; failed assertions of one application and address are 60 in 60 seconds.',
  },
  too_many_failed_exchanges: {
    code: 'rate_limited',
    found:
      'The application has sent more codes that it could not convert than the limit "exchanges" allows.',
    advice:
      'Valid codes are still converted. Somebody may be calling the callback of the application with made-up codes: it has to check `state` before it converts a code. RATE_LIMIT sets the limit.',
  },
  too_many_links: {
    code: 'rate_limited',
    found: 'The address has started more links than the limit "links" allows.',
    advice:
      'Nothing was kept. If the address is that of your proxy, set TRUST_PROXY. Many users may share an address; RATE_LIMIT sets the limit.',
  },
  too_many_links_together: {
    code: 'rate_limited',
    found: 'All addresses together have started more links than the limit "links_total" allows.',
    advice:
      'Nothing was kept. Addresses that had a link approved within a day go on for longer. If this is no flood, RATE_LIMIT sets the limit.',
  },
  too_many_page_actions: {
    code: 'rate_limited',
    found: 'One page was used more often than its limit allows.',
    advice:
      'The page works again after Retry-After. A person does not reach the limit: look for a program that has the cookie of the page.',
  },
  too_many_requests: {
    code: 'rate_limited',
    found: 'The application has sent more requests than the limit "requests" allows.',
    advice:
      'Nothing was done. The application can continue after Retry-After. If it needs that many requests, raise the limit "requests" in RATE_LIMIT.',
  },
} as const satisfies Record<string, ReasonDefinition>;

export type Reason = keyof typeof reasons;
