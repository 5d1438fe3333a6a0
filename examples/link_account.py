"""Links an account, uses it, and unlinks it, with Python's standard library.

    python3 examples/link_account.py

Reads LATCHKEY_URL, LATCHKEY_APPLICATION_SECRET and LATCHKEY_CODE from the environment;
`npm run -s latchkey -- demo` prints a secret and a code to try it with.
"""

import json
import os
import sys
import urllib.error
import urllib.request

LATCHKEY_URL = os.environ.get('LATCHKEY_URL') or 'http://127.0.0.1:3000'
TIMEOUT_SECONDS = 10


class LatchkeyError(Exception):
    """An answer other than 200. `code` is stable, and the one to branch on."""

    def __init__(self, body):
        super().__init__(body['error_description'])
        self.code = body['error_code']
        self.grant_id = body.get('grant_id')


def call(path, secret, body=None):
    """Sends a request with a secret, and returns the object that comes back."""
    request = urllib.request.Request(
        LATCHKEY_URL + path,
        data=None if body is None else json.dumps(body).encode(),
        headers={'Authorization': f'Bearer {secret}', 'Content-Type': 'application/json'},
    )
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        raise LatchkeyError(json.load(error)) from None


def main():
    application_secret = os.environ.get('LATCHKEY_APPLICATION_SECRET', '')
    code = os.environ.get('LATCHKEY_CODE', '')

    # Keep grant_id and grant_secret in your own database, the secret encrypted.
    grant = call('/oauth/convert', application_secret, {'code': code})
    print(f"Linked {grant['account']['username']} for {grant['scope']}")

    account = call('/v1/account', grant['grant_secret'])
    print(f"The account is {account['display_name']}{', verified' if account['verified'] else ''}")

    call('/oauth/revoke', application_secret, {'grant_id': grant['grant_id']})
    # Not needed, but here to be seen: the secret is good for nothing any more.
    try:
        call('/v1/account', grant['grant_secret'])
    except LatchkeyError as error:
        if error.code != 'credentials_invalid':
            raise
    else:
        sys.exit('The grant still works.')
    print('Unlinked')


if __name__ == '__main__':
    try:
        main()
    except LatchkeyError as error:
        sys.exit(f'{error.code}: {error}')
    except urllib.error.URLError as error:
        sys.exit(f'No answer from {LATCHKEY_URL}: {error.reason}')
