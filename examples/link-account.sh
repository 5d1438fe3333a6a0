#!/usr/bin/env bash
# Links an account, uses it, and unlinks it, with curl.
#
#     bash examples/link-account.sh
#
# Reads LATCHKEY_URL, LATCHKEY_APPLICATION_SECRET and LATCHKEY_CODE from the environment;
# `bin/latchkey demo` prints a secret and a code to try it with.
set -euo pipefail

url="${LATCHKEY_URL:-http://127.0.0.1:3000}"
application_secret="${LATCHKEY_APPLICATION_SECRET-}"
response="$(mktemp)"
trap 'rm -f "$response"' EXIT

# call METHOD PATH SECRET [BODY]: writes the response to the file $response. Fails if the status is not
# 200. Every call may be repeated: no code is converted twice. With --retry, curl repeats it after a
# lost connection, and after 429 and 503 as Retry-After says. The secret and the body go through
# pipes: everyone on the machine can read the arguments of a program.
call() {
  local status
  status="$(printf '%s' "${4-}" |
    curl --silent --max-time 10 --retry 3 --retry-all-errors --request "$1" "$url$2" \
      --output "$response" --write-out '%{http_code}' \
      --header @<(printf 'Authorization: Bearer %s\n' "$3") \
      ${4+--header 'Content-Type: application/json' --data @-})" || return 1
  [[ $status == 200 ]]
}

# member NAME: prints a string member of the response. Enough for ids, secrets and names without
# escapes. Use jq for anything else.
member() {
  sed -n 's/.*"'"$1"'":"\([^"]*\)".*/\1/p' "$response"
}

# refused: says what to do about the error, and exits.
refused() {
  local code
  code="$(member error_code)"
  case "$code" in
    '') echo "No response from $url" ;;
    code_expired | code_not_found | grant_not_found | grant_not_recoverable)
      echo "$code: let the user start again." ;;
    credentials_*) echo "$code: check LATCHKEY_APPLICATION_SECRET." ;;
    *) echo "$code: $(member error_description)" ;;
  esac >&2
  exit 1
}

if ! call POST /oauth/convert "$application_secret" "{\"code\":\"${LATCHKEY_CODE-}\"}"; then
  # Only this program converts the code, so the response with the secret was lost: get a new secret.
  # An application first checks whether it has stored this grant.
  [[ "$(member error_code)" == code_already_used ]] || refused
  call POST /oauth/recover "$application_secret" "{\"grant_id\":\"$(member grant_id)\"}" || refused
fi
# Store grant_id and grant_secret in your own database. Encrypt the secret.
grant_id="$(member grant_id)"
grant_secret="$(member grant_secret)"
printf 'Linked %s for %s\n' "$(member username)" "$(member scope)"

# A 401 here means that the grant was revoked: delete it and let the user link again.
call GET /v1/account "$grant_secret" || refused
printf 'The account is %s\n' "$(member display_name)"

call POST /oauth/revoke "$application_secret" "{\"grant_id\":\"$grant_id\"}" || refused
echo 'Unlinked'
