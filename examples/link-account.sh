#!/usr/bin/env bash
# Links an account, uses it, and unlinks it, with curl.
#
#     bash examples/link-account.sh
#
# Reads LATCHKEY_URL, LATCHKEY_APPLICATION_SECRET and LATCHKEY_CODE from the environment;
# `npm run -s latchkey -- demo` prints a secret and a code to try it with.
set -euo pipefail

url="${LATCHKEY_URL:-http://127.0.0.1:3000}"

# call METHOD PATH SECRET [BODY]: prints the answer; fails where its status is not 200. Secret and
# body go through pipes, since the arguments of a program can be read by everyone on the machine.
call() {
  printf '%s' "${4-}" |
    curl --silent --show-error --fail-with-body --max-time 10 --request "$1" "$url$2" \
      --header @<(printf 'Authorization: Bearer %s\n' "$3") \
      ${4+--header 'Content-Type: application/json' --data @-}
}

# member NAME: prints a string member of the JSON on stdin. Enough for ids, secrets and names
# without escapes; take jq for more.
member() {
  sed -n 's/.*"'"$1"'":"\([^"]*\)".*/\1/p'
}

# refused ANSWER: prints what the service says, and ends.
refused() {
  [[ -n $1 ]] || { printf 'No answer from %s\n' "$url" >&2; exit 1; }
  printf '%s: %s\n' "$(member error_code <<< "$1")" "$(member error_description <<< "$1")" >&2
  exit 1
}

# Keep grant_id and grant_secret in your own database, the secret encrypted.
grant="$(call POST /oauth/convert "${LATCHKEY_APPLICATION_SECRET-}" \
  "{\"code\":\"${LATCHKEY_CODE-}\"}" 2> /dev/null)" || refused "$grant"
grant_id="$(member grant_id <<< "$grant")"
grant_secret="$(member grant_secret <<< "$grant")"
printf 'Linked %s for %s\n' "$(member username <<< "$grant")" "$(member scope <<< "$grant")"

account="$(call GET /v1/account "$grant_secret")"
verified=''
[[ $account == *'"verified":true'* ]] && verified=', verified'
printf 'The account is %s%s\n' "$(member display_name <<< "$account")" "$verified"

call POST /oauth/revoke "${LATCHKEY_APPLICATION_SECRET-}" "{\"grant_id\":\"$grant_id\"}" > /dev/null
# Not needed, but here to be seen: the secret is good for nothing any more.
if call GET /v1/account "$grant_secret" > /dev/null 2>&1; then
  echo 'The grant still works.' >&2
  exit 1
fi
echo 'Unlinked'
