"""Imports every module that openapi-python-client made, then links an account, reads it, and unlinks
it. Prints the results.
"""

import importlib
import json
import os
import pkgutil

import latchkey_api
from latchkey_api import AuthenticatedClient

for module in pkgutil.walk_packages(latchkey_api.__path__, 'latchkey_api.'):
    importlib.import_module(module.name)

from latchkey_api.api.applications import grants_convert, grants_revoke
from latchkey_api.api.grants import account_get
from latchkey_api.models import GrantsConvertBody, GrantsRevokeBodyType0

url = os.environ['LATCHKEY_URL']
application = AuthenticatedClient(url, os.environ['LATCHKEY_APPLICATION_SECRET'])
body = GrantsConvertBody(code=os.environ['LATCHKEY_CODE'])

grant = grants_convert.sync(client=application, body=body)
account = account_get.sync(client=AuthenticatedClient(url, grant.grant_secret))
again = grants_convert.sync(client=application, body=body)
revocation = GrantsRevokeBodyType0(grant_id=grant.grant_id)
revoked = grants_revoke.sync_detailed(client=application, body=revocation)
print(json.dumps([account.username, again.error_code, revoked.status_code]))
