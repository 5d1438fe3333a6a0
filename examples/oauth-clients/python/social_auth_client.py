"""An application that links accounts with python-social-auth and Django.

    python social_auth_client.py

Reads LATCHKEY_URL, CLIENT_ID and CLIENT_SECRET from the environment. Register
`http://127.0.0.1/complete/latchkey/` at Latchkey: it matches on any port.
"""

import os
import secrets

import django
import requests
from django.conf import settings
from django.core.management import call_command
from django.http import HttpResponse, JsonResponse
from django.template import engines
from django.urls import include, path
from social_core.backends.oauth import BaseOAuth2PKCE
from social_core.exceptions import AuthSessionError

LATCHKEY_URL = os.environ.get('LATCHKEY_URL', 'http://127.0.0.1:3000')


class Latchkey(BaseOAuth2PKCE):
    name = 'latchkey'
    AUTHORIZATION_URL = f'{LATCHKEY_URL}/oauth/authorize'
    ACCESS_TOKEN_URL = f'{LATCHKEY_URL}/oauth/token'
    DEFAULT_SCOPE = ['profile.read']
    USE_BASIC_AUTH = True
    # Otherwise it adds a parameter to the redirect URI, which is compared to the letter.
    REDIRECT_STATE = False

    def auth_complete(self, *args, **kwargs):
        # The library checks the state. The issuer is left to the application.
        if self.data.get('iss') != LATCHKEY_URL:
            raise AuthSessionError(self, 'Another issuer.')
        return super().auth_complete(*args, **kwargs)

    def user_data(self, access_token, *args, **kwargs):
        return read_account(access_token).json()

    def get_user_details(self, response):
        return {'username': response['username'], 'fullname': response['display_name']}


def read_account(access_token):
    headers = {'Authorization': f'Bearer {access_token}'}
    return requests.get(f'{LATCHKEY_URL}/v1/account', headers=headers)


settings.configure(
    SECRET_KEY=secrets.token_hex(),
    ROOT_URLCONF=__name__,
    DEBUG=True,
    # In memory. Use your database.
    DATABASES={'default': {'ENGINE': 'django.db.backends.sqlite3', 'NAME': ':memory:'}},
    DEFAULT_AUTO_FIELD='django.db.models.BigAutoField',
    INSTALLED_APPS=[
        'django.contrib.auth',
        'django.contrib.contenttypes',
        'django.contrib.sessions',
        'social_django',
    ],
    MIDDLEWARE=[
        'django.contrib.sessions.middleware.SessionMiddleware',
        'django.middleware.csrf.CsrfViewMiddleware',
        'django.contrib.auth.middleware.AuthenticationMiddleware',
        'social_django.middleware.SocialAuthExceptionMiddleware',
    ],
    TEMPLATES=[{'BACKEND': 'django.template.backends.django.DjangoTemplates', 'APP_DIRS': True}],
    AUTHENTICATION_BACKENDS=[f'{__name__}.Latchkey'],
    LOGIN_REDIRECT_URL='/account',
    SOCIAL_AUTH_LATCHKEY_KEY=os.environ['CLIENT_ID'],
    SOCIAL_AUTH_LATCHKEY_SECRET=os.environ['CLIENT_SECRET'],
)
django.setup()

PAGE = """<form method="post" action="{% url 'social:begin' 'latchkey' %}">
  {% csrf_token %}<button>Sign in with Latchkey</button>
</form>"""


def connect(request):
    return HttpResponse(engines['django'].from_string(PAGE).render(request=request))


def account(request):
    if not request.user.is_authenticated:
        return JsonResponse({}, status=401)
    link = request.user.social_auth.get(provider='latchkey')
    response = read_account(link.access_token)
    return JsonResponse(response.json(), status=response.status_code)


urlpatterns = [
    path('connect', connect),
    path('account', account),
    path('', include('social_django.urls')),
]

if __name__ == '__main__':
    call_command('migrate', verbosity=0)
    port = os.environ.get('PORT', '8080')
    # One thread, since the database is in memory.
    call_command('runserver', f'127.0.0.1:{port}', use_reloader=False, use_threading=False)
