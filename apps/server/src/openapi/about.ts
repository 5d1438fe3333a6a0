import packageJson from '../../package.json' with { type: 'json' };

export const ABOUT = packageJson.description;

/** With the code marks of Markdown. */
export const FLOW = [
  'The application sends the browser to `GET /oauth/authorize`, which sends it to your sign-in (`SIGN_IN_URL`).',
  'Your service signs the user in, as it does today, and says who that is: `POST /admin/links/identify`.',
  'The user presses Allow on the consent page. The browser returns to the application with a code.',
  'The application sends the code, once, and gets an access token: `POST /oauth/token`, or `POST /oauth/convert`.',
  'The application calls your API with the token. At each call, your API asks whose it is: `GET /v1/grant`.',
];

const GUIDES = 'https://github.com/latchkey/latchkey/blob/main/docs';

/** @param page - a path in `docs/` */
export const guide = (page: string): string => `${GUIDES}/${page}`;
