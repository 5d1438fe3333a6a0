"""Links an account, uses it, and unlinks it, with Python's standard library.

    python3 examples/link_account.py

Reads LATCHKEY_URL, LATCHKEY_APPLICATION_SECRET and LATCHKEY_CODE from the environment;
`bin/latchkey demo` prints a secret and a code to try it with.
"""

import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.request

LATCHKEY_URL = os.environ.get('LATCHKEY_URL') or 'http://127.0.0.1:3000'
APPLICATION_SECRET = os.environ.get('LATCHKEY_APPLICATION_SECRET', '')
TIMEOUT_SECONDS = 10
TRIES = 4

TRY_AGAIN = {'rate_limited', 'store_unavailable', 'outcome_unknown'}
NO_GOOD_CODE = {'code_expired', 'code_not_found', 'grant_not_found', 'grant_not_recoverable'}
BAD_SECRET = {'credentials_missing', 'credentials_invalid'}
# No response, or one that is not from Latchkey: a proxy answered.
LOST = (OSError, http.client.HTTPException, ValueError, KeyError)


class LatchkeyError(Exception):
    """A response other than 200. Branch on `code`: it is stable."""

    def __init__(self, body, retry_after):
        super().__init__(body['error_description'])
        self.code = body['error_code']
        self.grant_id = body.get('grant_id')
        self.retry_after = retry_after


def send(path, secret, body):
    request = urllib.request.Request(
        LATCHKEY_URL + path,
        data=None if body is None else json.dumps(body).encode(),
        headers={'Authorization': f'Bearer {secret}', 'Content-Type': 'application/json'},
    )
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        retry_after = int(error.headers.get('Retry-After', 1))
        raise LatchkeyError(json.load(error), retry_after) from None


def call(path, secret, body=None):
    """Tries a few times. Every call may be repeated: no code is converted twice."""
    for tries_left in reversed(range(TRIES)):
        try:
            return send(path, secret, body)
        except LatchkeyError as error:
            # Nothing was done, or the outcome is unknown. Retry-After says when to try again.
            if error.code not in TRY_AGAIN or not tries_left:
                raise
            time.sleep(error.retry_after)
        except LOST:
            if not tries_left:
                raise
            time.sleep(1)


def link(code):
    """Converts a code into a grant."""
    try:
        return call('/oauth/convert', APPLICATION_SECRET, {'code': code})
    except LatchkeyError as error:
        if error.code != 'code_already_used':
            raise
        # Only this program converts the code, so the response with the secret was lost: get a new
        # secret. An application first checks whether it has stored this grant.
        return call('/oauth/recover', APPLICATION_SECRET, {'grant_id': error.grant_id})


def main():
    # Store grant_id and grant_secret in your own database. Encrypt the secret.
    grant = link(os.environ.get('LATCHKEY_CODE', ''))
    print(f"Linked {grant['account']['username']} for {grant['scope']}")

    # A 401 here means that the grant was revoked: delete it and let the user link again.
    account = call('/v1/account', grant['grant_secret'])
    print(f"The account is {account['display_name']}")

    call('/oauth/revoke', APPLICATION_SECRET, {'grant_id': grant['grant_id']})
    print('Unlinked')


if __name__ == '__main__':
    try:
        main()
    except LatchkeyError as error:
        if error.code in NO_GOOD_CODE:
            sys.exit(f'{error.code}: let the user start again.')
        if error.code in BAD_SECRET:
            sys.exit(f'{error.code}: check LATCHKEY_APPLICATION_SECRET.')
        sys.exit(f'{error.code}: {error}')
    except LOST as error:
        sys.exit(f'No response from {LATCHKEY_URL}: {error}')
