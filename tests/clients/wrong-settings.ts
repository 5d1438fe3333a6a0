import type { Passing } from './gateway.ts';

/** A setting of an application that is wrong. */
interface WrongSetting {
  /** What it changes in the requests of the application. */
  change(request: Passing): void;
  /** What has to be printed: the name of the parameter, and the next step. */
  printed: RegExp;
}

const isToken = ({ path }: Passing) => path === '/oauth/token';

/** Moves the secret of Basic into the form, where it can be changed. */
function secretInForm({ headers, form }: Passing): void {
  const [, encoded] = /^Basic (.+)$/.exec(headers.authorization ?? '') ?? [];
  if (encoded === undefined) return;
  const [id = '', secret = ''] = atob(encoded).split(':').map(decodeURIComponent);
  form.set('client_id', id);
  form.set('client_secret', secret);
  delete headers.authorization;
}

export const wrongSettings: Readonly<Record<string, WrongSetting>> = {
  secret: {
    change(request) {
      if (!isToken(request)) return;
      secretInForm(request);
      request.form.set('client_secret', `${request.form.get('client_secret')}x`);
    },
    printed: /Check that the secret is complete/,
  },
  'redirect URI': {
    change(request) {
      if (isToken(request)) request.form.set('redirect_uri', 'http://127.0.0.1/elsewhere');
    },
    printed: /Send the same redirect_uri as in the authorization request/,
  },
  'body type': {
    change(request) {
      if (!isToken(request)) return;
      secretInForm(request);
      request.headers['content-type'] = 'application/json';
      request.body = JSON.stringify(Object.fromEntries(request.form));
    },
    printed: /Send client_id and client_secret in a form/,
  },
  method: {
    change(request) {
      if (!isToken(request)) return;
      request.method = 'GET';
      request.body = '';
    },
    printed: /Use a method from the Allow header/,
  },
  scope: {
    change({ path, query }) {
      if (path === '/oauth/authorize') query.set('scope', 'profile.delete');
    },
    printed: /Ask only for scopes that the service describes/,
  },
  verifier: {
    change(request) {
      if (isToken(request)) request.form.set('code_verifier', 'x'.repeat(43));
    },
    printed: /Send the verifier of the same authorization request/,
  },
};
