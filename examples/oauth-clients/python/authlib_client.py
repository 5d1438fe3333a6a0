"""An application that links accounts with Authlib and Flask.

    flask --app authlib_client run

Reads LATCHKEY_URL, CLIENT_ID and CLIENT_SECRET from the environment. Register
`http://127.0.0.1/callback` at Latchkey: it matches on any port.
"""

import os
import secrets

from authlib.integrations.base_client import OAuthError
from authlib.integrations.flask_client import OAuth
from authlib.integrations.requests_client import OAuth2Session
from flask import Flask, abort, redirect, request, session, url_for

LATCHKEY_URL = os.environ.get('LATCHKEY_URL', 'http://127.0.0.1:3000')
CLIENT_ID = os.environ['CLIENT_ID']
CLIENT_SECRET = os.environ['CLIENT_SECRET']

app = Flask(__name__)
app.secret_key = secrets.token_bytes(32)
latchkey = OAuth(app).register(
    'latchkey',
    client_id=CLIENT_ID,
    client_secret=CLIENT_SECRET,
    server_metadata_url=f'{LATCHKEY_URL}/.well-known/oauth-authorization-server',
    api_base_url=f'{LATCHKEY_URL}/v1/',
    client_kwargs={'scope': 'profile.read', 'code_challenge_method': 'S256'},
)
# By user. Keep them in your database: a session of Flask is a cookie that its browser can read.
tokens = {}


@app.get('/connect')
def connect():
    return latchkey.authorize_redirect(url_for('callback', _external=True))


@app.get('/callback')
def callback():
    # Authlib checks the state. The issuer is left to the application.
    if request.args.get('iss') != LATCHKEY_URL:
        abort(400, 'Another issuer.')
    session['user'] = secrets.token_hex()
    tokens[session['user']] = latchkey.authorize_access_token()
    return redirect('/account')


@app.get('/account')
def account():
    response = latchkey.get('account', token=token())
    return response.json(), response.status_code


@app.post('/introspect')
def introspect():
    client = OAuth2Session(CLIENT_ID, CLIENT_SECRET)
    url = f'{LATCHKEY_URL}/oauth/introspect'
    return client.introspect_token(url, token()['access_token']).json()


@app.post('/revoke')
def revoke():
    client = OAuth2Session(CLIENT_ID, CLIENT_SECRET)
    response = client.revoke_token(f'{LATCHKEY_URL}/oauth/revoke', token()['access_token'])
    return response.json(), response.status_code


def token():
    return tokens.get(session.get('user')) or abort(401)


@app.errorhandler(OAuthError)
def refused(error):
    return str(error), 400
