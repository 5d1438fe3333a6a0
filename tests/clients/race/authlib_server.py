"""An OAuth server by Authlib and Flask, in memory. Everybody who sends the form is ada."""

import os
import time

from authlib.integrations.flask_oauth2 import AuthorizationServer, ResourceProtector
from authlib.oauth2.rfc6749 import ClientMixin, TokenMixin, grants
from authlib.oauth2.rfc6750 import BearerTokenValidator
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7636 import CodeChallenge
from flask import Flask, request

CODES, TOKENS = {}, {}


class Client(ClientMixin):
    def __init__(self, client_id):
        self.client_id = client_id
        self.secret = os.environ[f"SECRET_OF_{client_id}"]

    def get_client_id(self):
        return self.client_id

    def get_default_redirect_uri(self):
        return os.environ["REDIRECT_URI"]

    def get_allowed_scope(self, scope):
        return scope or ""

    def check_redirect_uri(self, redirect_uri):
        return redirect_uri == os.environ["REDIRECT_URI"]

    def check_client_secret(self, client_secret):
        return client_secret == self.secret

    def check_endpoint_auth_method(self, method, endpoint):
        return method == "client_secret_basic"

    def check_response_type(self, response_type):
        return response_type == "code"

    def check_grant_type(self, grant_type):
        return grant_type == "authorization_code"


CLIENTS = {client_id: Client(client_id) for client_id in ("client", "other")}


class Code:
    def __init__(self, code, sent):
        self.code = code
        self.client_id = sent.payload.client_id
        self.redirect_uri = sent.payload.redirect_uri
        self.code_challenge = sent.payload.data.get("code_challenge")
        self.code_challenge_method = sent.payload.data.get("code_challenge_method")

    def get_redirect_uri(self):
        return self.redirect_uri

    def get_scope(self):
        return ""


class Token(TokenMixin):
    def __init__(self, token, client_id):
        self.token, self.client_id = token, client_id
        self.ends_at, self.is_ended = time.time() + token["expires_in"], False

    def check_client(self, client):
        return client.get_client_id() == self.client_id

    def get_scope(self):
        return ""

    def is_expired(self):
        return self.ends_at < time.time()

    def is_revoked(self):
        return self.is_ended


class CodeGrant(grants.AuthorizationCodeGrant):
    def save_authorization_code(self, code, request):
        CODES[code] = Code(code, request)

    def query_authorization_code(self, code, client):
        found = CODES.get(code)
        return found if found and found.client_id == client.client_id else None

    def delete_authorization_code(self, authorization_code):
        CODES.pop(authorization_code.code, None)

    def authenticate_user(self, authorization_code):
        return "ada"


class Revocation(RevocationEndpoint):
    def query_token(self, token_string, token_type_hint):
        return TOKENS.get(token_string)

    def revoke_token(self, token, request):
        token.is_ended = True


class Validator(BearerTokenValidator):
    def authenticate_token(self, token_string):
        return TOKENS.get(token_string)


def save_token(token, sent):
    TOKENS[token["access_token"]] = Token(token, sent.client.client_id)


app = Flask(__name__)
server = AuthorizationServer(app, query_client=CLIENTS.get, save_token=save_token)
server.register_grant(CodeGrant, [CodeChallenge(required=False)])
server.register_endpoint(Revocation)
require_token = ResourceProtector()
require_token.register_token_validator(Validator())


@app.get("/authorize")
def show():
    return '<form method="post"><input name="username"><button>Sign in</button></form>'


@app.post("/authorize")
def authorize():
    grant = server.get_consent_grant(end_user="ada")
    return server.create_authorization_response(grant_user="ada", grant=grant)


@app.post("/token")
def issue():
    return server.create_token_response()


@app.post("/revoke")
def revoke():
    return server.create_endpoint_response(Revocation.ENDPOINT_NAME)


@app.get("/account")
@require_token()
def account():
    return {"username": "ada"}
