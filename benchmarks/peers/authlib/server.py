"""An OAuth server by Authlib and Flask, with the tables of its SQLAlchemy integration, as its documentation
sets it up. Everybody who opens the authorization endpoint is ada."""

import os
import sys
import time

from authlib.integrations.flask_oauth2 import AuthorizationServer, ResourceProtector
from authlib.integrations.sqla_oauth2 import (
    OAuth2AuthorizationCodeMixin,
    OAuth2ClientMixin,
    OAuth2TokenMixin,
    create_bearer_token_validator,
    create_query_client_func,
    create_save_token_func,
)
from authlib.oauth2.rfc6749 import grants
from authlib.oauth2.rfc7636 import CodeChallenge
from flask import Flask
from flask_sqlalchemy import SQLAlchemy

app = Flask(__name__)
# The driver reads the host, the user and the rest from the environment.
app.config["SQLALCHEMY_DATABASE_URI"] = "postgresql+psycopg://"
db = SQLAlchemy(app)


class User(db.Model):
    id = db.Column(db.Integer, primary_key=True)

    def get_user_id(self):
        return self.id


class Client(db.Model, OAuth2ClientMixin):
    id = db.Column(db.Integer, primary_key=True)


class Code(db.Model, OAuth2AuthorizationCodeMixin):
    id = db.Column(db.Integer, primary_key=True)
    user_id = db.Column(db.Integer, db.ForeignKey("user.id"))


class Token(db.Model, OAuth2TokenMixin):
    id = db.Column(db.Integer, primary_key=True)
    user_id = db.Column(db.Integer, db.ForeignKey("user.id"))
    user = db.relationship("User")


class CodeGrant(grants.AuthorizationCodeGrant):
    def save_authorization_code(self, code, request):
        data = request.payload.data
        saved = Code(
            code=code,
            client_id=request.client.client_id,
            redirect_uri=request.payload.redirect_uri,
            scope=request.payload.scope,
            user_id=request.user.id,
            code_challenge=data.get("code_challenge"),
            code_challenge_method=data.get("code_challenge_method"),
        )
        db.session.add(saved)
        db.session.commit()
        return saved

    def query_authorization_code(self, code, client):
        found = Code.query.filter_by(code=code, client_id=client.client_id).first()
        return found if found and not found.is_expired() else None

    def delete_authorization_code(self, authorization_code):
        db.session.delete(authorization_code)
        db.session.commit()

    def authenticate_user(self, authorization_code):
        return db.session.get(User, authorization_code.user_id)


server = AuthorizationServer(
    app,
    query_client=create_query_client_func(db.session, Client),
    save_token=create_save_token_func(db.session, Token),
)
server.register_grant(CodeGrant, [CodeChallenge(required=True)])
require_token = ResourceProtector()
require_token.register_token_validator(create_bearer_token_validator(db.session, Token)())


@app.get("/authorize")
def authorize():
    user = User.query.one()
    grant = server.get_consent_grant(end_user=user)
    return server.create_authorization_response(grant_user=user, grant=grant)


@app.post("/token")
def issue():
    return server.create_token_response()


@app.get("/account")
@require_token("read")
def account():
    return {"username": "ada"}


def create(clients):
    """Creates the tables, the user and the clients, each given as `id:secret`."""
    with app.app_context():
        db.create_all()
        db.session.add(User(id=1))
        for given in clients:
            client_id, client_secret = given.split(":")
            client = Client(client_id=client_id, client_secret=client_secret)
            client.client_id_issued_at = int(time.time())
            client.set_client_metadata(
                {
                    "redirect_uris": [os.environ["REDIRECT_URI"]],
                    "grant_types": ["authorization_code"],
                    "response_types": ["code"],
                    "scope": "read",
                    "token_endpoint_auth_method": "client_secret_basic",
                }
            )
            db.session.add(client)
        db.session.commit()


if __name__ == "__main__":
    create(sys.argv[1:])
