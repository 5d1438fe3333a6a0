"""An application that links accounts with httpx-oauth and Flask.

    flask --app httpx_oauth_client run

Reads LATCHKEY_URL, CLIENT_ID and CLIENT_SECRET from the environment. Register
`http://127.0.0.1/callback` at Latchkey: it matches on any port.
"""

import os
import secrets
from base64 import urlsafe_b64encode
from hashlib import sha256

import httpx
from flask import Flask, abort, redirect, request, session, url_for
from httpx_oauth.oauth2 import OAuth2, OAuth2Error

LATCHKEY_URL = os.environ.get('LATCHKEY_URL', 'http://127.0.0.1:3000')

app = Flask(__name__)
app.secret_key = secrets.token_bytes(32)
latchkey = OAuth2(
    os.environ['CLIENT_ID'],
    os.environ['CLIENT_SECRET'],
    f'{LATCHKEY_URL}/oauth/authorize',
    f'{LATCHKEY_URL}/oauth/token',
    revoke_token_endpoint=f'{LATCHKEY_URL}/oauth/revoke',
    token_endpoint_auth_method='client_secret_basic',
    revocation_endpoint_auth_method='client_secret_basic',
)
# By user. Keep them in your database: a session of Flask is a cookie that its browser can read.
tokens = {}


@app.get('/connect')
async def connect():
    session['state'], session['verifier'] = secrets.token_urlsafe(), secrets.token_urlsafe()
    challenge = urlsafe_b64encode(sha256(session['verifier'].encode()).digest()).rstrip(b'=')
    url = await latchkey.get_authorization_url(
        url_for('callback', _external=True),
        state=session['state'],
        scope=['profile.read'],
        code_challenge=challenge.decode(),
        code_challenge_method='S256',
    )
    return redirect(url)


@app.get('/callback')
async def callback():
    # The library leaves these checks to the application.
    expected = (session.pop('state', ''), LATCHKEY_URL)
    if (request.args.get('state'), request.args.get('iss')) != expected:
        abort(400, 'Begin at /connect.')
    if 'code' not in request.args:
        abort(400, f"Not linked: {request.args.get('error_description')}")
    token = await latchkey.get_access_token(
        request.args['code'], url_for('callback', _external=True), session.pop('verifier')
    )
    session['user'] = secrets.token_hex()
    tokens[session['user']] = token
    return redirect('/account')


@app.get('/account')
def account():
    headers = {'Authorization': f'Bearer {access_token()}'}
    response = httpx.get(f'{LATCHKEY_URL}/v1/account', headers=headers)
    return response.json(), response.status_code


@app.post('/revoke')
async def revoke():
    await latchkey.revoke_token(access_token())
    return {}


def access_token():
    token = tokens.get(session.get('user')) or abort(401)
    return token['access_token']


@app.errorhandler(OAuth2Error)
def refused(error):
    # Only the response says what is wrong.
    return error.response.text if error.response else str(error), 400
