/** What `--help` prints. The README has the same. */
export const USAGE = `Usage: oauth-race --issuer URL --client ID --login FILE [options]

--issuer URL                  read the addresses from the server's metadata
--authorization-endpoint URL  or give them yourself; these win over the metadata
--token-endpoint URL          may be given several times, for race-routes
--introspection-endpoint URL  does a token pass?
--resource URL                does a token pass? GET with it: 2xx is yes; 400, 401, 403: no
                              (default: the userinfo endpoint, if the scope has openid)
--revocation-endpoint URL

--client ID                   its secret is in OAUTH_RACE_SECRET
--other-client ID             its secret is in OAUTH_RACE_OTHER_SECRET
--client-auth METHOD          basic, post or none (default: none without a secret, otherwise as the
                              metadata says)
--redirect-uri URI            (default: http://127.0.0.1:8976/callback)
--scope SCOPE

--login FILE                  a module that gets a code
--login-command COMMAND       a command that prints a code
--login-page                  a page to click

--host NAME                   a host in place of the loopback; may be given several times
--row ID                      only this row, after exchange; may be given several times
--codes N                     codes of each race, at most 100 (default: 100); other rows take up to 10
--requests N                  requests at once, from 2 to 8 (default: 8)
--pause MS                    between two codes (default: 10; with --host: 250, and at least 100)
--timeout MS                  for one response (default: 10000); a login may take six times as long
--seed N                      repeats the order and the offsets of an earlier run

--markdown FILE, --json FILE, --junit FILE   write the report there, too
--help, --version
`;
