import type { Login } from 'oauth-race';

/** The login page of the servers in Python and Go. */
const login: Login = async (authorizationUrl, browser) => {
  await browser.open(authorizationUrl);
  return browser.submit({ username: 'ada' });
};
export default login;
