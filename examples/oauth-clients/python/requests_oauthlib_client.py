"""An application that links accounts with requests-oauthlib and Flask.

    flask --app requests_oauthlib_client run

Reads LATCHKEY_URL, CLIENT_ID and CLIENT_SECRET from the environment. Register
`http://127.0.0.1/callback` at Latchkey: it matches on any port. Where Latchkey has no https, oauthlib
needs OAUTHLIB_INSECURE_TRANSPORT=1.
"""

import os
import secrets

from flask import Flask, abort, redirect, request, session, url_for
from oauthlib.oauth2 import OAuth2Error, WebApplicationClient
from requests_oauthlib import OAuth2Session

LATCHKEY_URL = os.environ.get('LATCHKEY_URL', 'http://127.0.0.1:3000')
CLIENT_ID = os.environ['CLIENT_ID']
CLIENT_SECRET = os.environ['CLIENT_SECRET']

app = Flask(__name__)
app.secret_key = secrets.token_bytes(32)
# By user. Keep them in your database: a session of Flask is a cookie that its browser can read.
tokens = {}


def latchkey(**options):
    redirect_uri = url_for('callback', _external=True)
    return OAuth2Session(CLIENT_ID, redirect_uri=redirect_uri, scope='profile.read', **options)


@app.get('/connect')
def connect():
    # With its option `pkce`, the verifier would be lost with the object, before the callback.
    pkce = WebApplicationClient(CLIENT_ID)
    session['verifier'] = pkce.create_code_verifier(43)
    url, session['state'] = latchkey().authorization_url(
        f'{LATCHKEY_URL}/oauth/authorize',
        code_challenge=pkce.create_code_challenge(session['verifier'], 'S256'),
        code_challenge_method='S256',
    )
    return redirect(url)


@app.get('/callback')
def callback():
    # Without a state to compare with, the library would skip the check.
    if 'state' not in session or request.args.get('iss') != LATCHKEY_URL:
        abort(400, 'Begin at /connect.')
    token = latchkey(state=session.pop('state')).fetch_token(
        f'{LATCHKEY_URL}/oauth/token',
        authorization_response=request.url,
        client_secret=CLIENT_SECRET,
        code_verifier=session.pop('verifier'),
    )
    session['user'] = secrets.token_hex()
    tokens[session['user']] = token
    return redirect('/account')


@app.get('/account')
def account():
    response = latchkey(token=token()).get(f'{LATCHKEY_URL}/v1/account')
    return response.json(), response.status_code


@app.post('/revoke')
def revoke():
    url, headers, body = WebApplicationClient(CLIENT_ID).prepare_token_revocation_request(
        f'{LATCHKEY_URL}/oauth/revoke', token()['access_token']
    )
    # withhold_token: the application itself is asking.
    response = latchkey().post(
        url, body, headers=headers, auth=(CLIENT_ID, CLIENT_SECRET), withhold_token=True
    )
    return response.json(), response.status_code


def token():
    return tokens.get(session.get('user')) or abort(401)


@app.errorhandler(OAuth2Error)
def refused(error):
    return str(error), 400
