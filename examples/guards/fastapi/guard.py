"""An API for the grants of one resource, with FastAPI. It asks Latchkey about each request.

    uvicorn --port 4002 guard:app

Reads LATCHKEY_URL (where it calls Latchkey), PUBLIC_URL (Latchkey's, if it is another), RESOURCE (its address as in
`resource list`; default: PUBLIC_URL/v1), and CLIENT_ID and CLIENT_SECRET of an application with `resource_server`.
"""

import logging
import re
from collections.abc import Iterable
from os import environ
from typing import Annotated

import httpx
from fastapi import Depends, FastAPI, HTTPException, Request, Response

LATCHKEY_URL = environ['LATCHKEY_URL']
PUBLIC_URL = environ.get('PUBLIC_URL', LATCHKEY_URL)
RESOURCE = environ.get('RESOURCE', f'{PUBLIC_URL}/v1')
METADATA_URL = re.sub(r'^\w+://[^/]+', r'\g<0>/.well-known/oauth-protected-resource', RESOURCE)
credentials = (environ['CLIENT_ID'], environ['CLIENT_SECRET'])
latchkey = httpx.AsyncClient(base_url=LATCHKEY_URL, auth=credentials)
app = FastAPI(openapi_url=None)


@app.get(httpx.URL(METADATA_URL).path)
async def metadata(response: Response) -> dict:
    """Tells clients without a grant where to get one (RFC 9728)."""
    response.headers['Access-Control-Allow-Origin'] = '*'
    scopes = ['notes.read', 'notes.write']
    servers = {'authorization_servers': [PUBLIC_URL], 'bearer_methods_supported': ['header']}
    return {'resource': RESOURCE, 'scopes_supported': scopes, **servers}


def refusal(status: int, scopes: Iterable[str], error: str | None = None) -> HTTPException:
    parts = {'realm': 'latchkey', 'error': error, 'scope': ' '.join(scopes)}
    parts['resource_metadata'] = METADATA_URL
    challenge = ', '.join(f'{name}="{value}"' for name, value in parts.items() if value)
    headers = {'WWW-Authenticate': f'Bearer {challenge}', 'Cache-Control': 'no-store'}
    return HTTPException(status, error or 'Send "Authorization: Bearer <grant secret>".', headers)


async def introspect(token: str) -> dict:
    # Each time: what is cached would let in a grant that was revoked meanwhile.
    try:
        response = await latchkey.post('/oauth/introspect', data={'token': token})
        return response.raise_for_status().json()
    except (httpx.HTTPError, ValueError) as error:
        logging.error('Latchkey: %s', error)
        # Not 401: the caller would delete a grant that works again later.
        said = error.response.headers if isinstance(error, httpx.HTTPStatusError) else {}
        headers = {'Retry-After': said.get('Retry-After', '5'), 'Cache-Control': 'no-store'}
        raise HTTPException(503, 'The grant could not be checked.', headers) from None


def grant_with(*required: str):
    """Makes a dependency: the live grant of a request, for this resource and with these scopes."""

    async def grant(request: Request) -> dict:
        header = request.headers.get('Authorization')
        if header is None:
            raise refusal(401, required)
        token = re.fullmatch(r'bearer +(lk_grant_[0-9a-z]{71}) *', header, re.IGNORECASE)
        said = await introspect(token[1]) if token else {}
        if said.get('active') is not True or said['aud'] != RESOURCE:
            raise refusal(401, required, 'invalid_token')
        held = said['scope'].split(' ')
        if not set(required) <= set(held):
            # All of them: clients ask for exactly what is named here, and go on with the new grant.
            raise refusal(403, dict.fromkeys([*held, *required]), 'insufficient_scope')
        return said

    return grant


@app.get('/notes')
async def notes(grant: Annotated[dict, Depends(grant_with('notes.read'))]) -> dict:
    return {'owner': grant['sub'], 'notes': ['Buy milk.']}
