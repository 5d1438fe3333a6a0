import type { Login } from 'oauth-race';

/** The sign-in page of the host, whose button also allows the link. */
const login: Login = async (authorizationUrl, browser) => {
  await browser.open(authorizationUrl);
  // biome-ignore lint/suspicious/noThenProperty: the field of the host's form.
  return browser.submit({ then: 'approve' });
};
export default login;
