"""An application with FastAPI and a "connect your account" button.

    uvicorn --port 4000 --no-access-log app:app

Reads LATCHKEY_URL, CLIENT_ID and CLIENT_SECRET from the environment, and REDIRECT_URI, which is
registered at Latchkey. The libraries are those of examples/hosts/fastapi/requirements.txt.
"""

import os
import secrets
from base64 import urlsafe_b64encode
from hashlib import sha256
from html import escape

import httpx
from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

LATCHKEY_URL = os.environ['LATCHKEY_URL']
REDIRECT_URI = os.environ.get('REDIRECT_URI', 'http://127.0.0.1:4000/callback')
CLIENT = (os.environ['CLIENT_ID'], os.environ['CLIENT_SECRET'])
CONNECT = '<p><a href="/connect">Connect your account</a></p>'
DISCONNECT = '<form method="post" action="/disconnect"><button>Disconnect</button></form>'
# By user. Keep the grants in your database, encrypted.
began, grants = {}, {}
latchkey = httpx.AsyncClient(base_url=LATCHKEY_URL)
app = FastAPI(openapi_url=None)


@app.exception_handler(httpx.HTTPError)
async def failed(_: Request, error: httpx.HTTPError) -> Response:
    return HTMLResponse('<p>Something went wrong. Try again in a minute.</p>', 503)


@app.middleware('http')
async def know_user(request: Request, go_on) -> Response:
    # In your application, users sign in. Here, each browser is a user.
    request.state.user = request.cookies.get('acme') or secrets.token_urlsafe()
    response = await go_on(request)
    # With Lax, no other site can submit the form of this one on behalf of the user. Over https, add secure.
    response.set_cookie('acme', request.state.user, httponly=True, samesite='lax')
    return response


@app.get('/connect')
async def connect(request: Request) -> Response:
    state, verifier = secrets.token_urlsafe(), secrets.token_urlsafe()
    began[request.state.user] = (state, verifier)
    challenge = urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b'=').decode()
    query = {
        'response_type': 'code',
        'client_id': CLIENT[0],
        'redirect_uri': REDIRECT_URI,
        'scope': 'profile.read',
        'state': state,
        'code_challenge': challenge,
        'code_challenge_method': 'S256',
    }
    return RedirectResponse(str(httpx.URL(f'{LATCHKEY_URL}/oauth/authorize', params=query)), 303)


@app.get('/callback')
async def callback(request: Request, state: str = '', iss: str = '', code: str = '') -> Response:
    expected, verifier = began.pop(request.state.user, ('', ''))
    if not state or (state, iss) != (expected, LATCHKEY_URL):
        return HTMLResponse(f'<p>That was begun somewhere else.</p>{CONNECT}', 400)
    if not code:
        return HTMLResponse(f'<p>You have not allowed it.</p>{CONNECT}')
    form = {
        'grant_type': 'authorization_code',
        'code': code,
        'redirect_uri': REDIRECT_URI,
        'code_verifier': verifier,
    }
    response = await latchkey.post('/oauth/token', data=form, auth=CLIENT)
    grants[request.state.user] = response.raise_for_status().json()['access_token']
    return RedirectResponse('/', 303)


@app.get('/')
async def home(request: Request) -> Response:
    grant = grants.get(request.state.user)
    if not grant:
        return HTMLResponse(f'<p>Welcome.</p>{CONNECT}')
    headers = {'Authorization': f'Bearer {grant}'}
    response = await latchkey.get('/v1/account', headers=headers)
    if response.status_code == 401:
        # The user has disconnected the application.
        del grants[request.state.user]
        return HTMLResponse(f'<p>Your account is no longer connected.</p>{CONNECT}')
    name = escape(response.raise_for_status().json()['display_name'])
    return HTMLResponse(f'<p>Connected as {name}</p>{DISCONNECT}')


@app.post('/disconnect')
async def disconnect(request: Request) -> Response:
    grant = grants.get(request.state.user)
    if grant:
        response = await latchkey.post('/oauth/revoke', data={'token': grant}, auth=CLIENT)
        response.raise_for_status()
        del grants[request.state.user]
    return RedirectResponse('/', 303)
