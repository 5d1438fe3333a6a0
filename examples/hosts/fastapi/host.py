"""The service that has the accounts, with FastAPI. Its /link tells Latchkey who is signed in.

    uvicorn --port 4001 --no-access-log host:app

Reads LATCHKEY_URL (where it calls Latchkey), LATCHKEY_ADMIN_SECRET (a key with the role `host`) and
HOST_URL, its own address for browsers: SIGN_IN_URL is HOST_URL/link. It has one user, and asks her for no password.
"""

import logging
import os
import secrets
from typing import Annotated

import httpx
from fastapi import FastAPI, Form, HTTPException, Request, Response
from fastapi.responses import HTMLResponse

HOST_URL = os.environ.get('HOST_URL', 'http://127.0.0.1:4001')
SECURE = HOST_URL.startswith('https:')
COOKIE = '__Host-session' if SECURE else 'session'
ADA = {'account_id': '0193aa00-0000-7000-8000-0000000000a1', 'username': 'ada'}
FORM = """<!doctype html><title>Sign in</title><form method="post">
<button>Sign in</button> <button name="cancel" value="true">Cancel</button></form>"""
# Without form-action, which browsers apply to the redirect after a form too.
POLICY = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'"
HEADERS = {'Cache-Control': 'no-store', 'Content-Security-Policy': POLICY}
NO_LINK = 'This link does not work any more. Start again in the application that you came from.'
ANSWERED = 'You have already answered this request. You can close this page.'
DEAD_ENDS = {400: NO_LINK, 404: NO_LINK, 409: ANSWERED}
sessions = {}  # The account by cookie. Keep yours in your database, and let them end.
key = f'Bearer {os.environ["LATCHKEY_ADMIN_SECRET"]}'
latchkey = httpx.AsyncClient(base_url=os.environ['LATCHKEY_URL'], headers={'Authorization': key})
app = FastAPI(openapi_url=None)


@app.exception_handler(httpx.HTTPError)
async def failed(_: Request, error: httpx.HTTPError) -> Response:
    logging.error('Latchkey: %s', error)
    status = error.response.status_code if isinstance(error, httpx.HTTPStatusError) else 0
    text = DEAD_ENDS.get(status, 'Try again in a minute.')
    return HTMLResponse(text, status if status in DEAD_ENDS else 503, HEADERS)


async def lead(operation: str, **link: str) -> Response:
    response = await latchkey.post(f'/admin/links/{operation}', json=link)
    # If the link has expired, it says where the application learns of it.
    said = (response if response.status_code == 410 else response.raise_for_status()).json()
    return Response(status_code=303, headers={**HEADERS, 'Location': said['redirect_to']})


@app.get('/link')
async def hand_off(request: Request, link: str = '', prompt: str = '') -> Response:
    account = sessions.get(request.cookies.get(COOKIE))
    if not account or prompt == 'select_account':
        return HTMLResponse(FORM, headers=HEADERS)
    if not link:
        return HTMLResponse('You are signed in.', headers=HEADERS)
    account_id = account['account_id']  # Pages and applications show the names beside it.
    (await latchkey.put(f'/admin/accounts/{account_id}', json=account)).raise_for_status()
    return await lead('identify', link=link, account_id=account_id)


@app.post('/link')
async def sign_in(request: Request, link: str = '', cancel: Annotated[bool, Form()] = False):
    site, origin = request.headers.get('Sec-Fetch-Site'), request.headers.get('Origin')
    # A form of another site could sign its own user in, and link the account of that one.
    if site != 'same-origin' if site else origin != HOST_URL:
        raise HTTPException(403, 'Nothing was done. Go back, load the page again, and repeat it.')
    if cancel:
        return await lead('deny', link=link)
    # Your service checks the password here. The session is new, whatever the browser had before.
    sessions[cookie := secrets.token_urlsafe()] = ADA
    response = Response('', 303, {'Location': str(httpx.URL('/link', params={'link': link}))})
    response.set_cookie(COOKIE, cookie, httponly=True, samesite='lax', secure=SECURE)
    return response
