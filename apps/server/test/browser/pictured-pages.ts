import type { Location } from '@latchkey/rules/linking/redirect';
import type { Scope } from '@latchkey/schema';
import { createTextCatalog } from '../../src/http/linking/text-catalog.ts';
import { connectionsPage } from '../../src/http/linking/views/connections-page.ts';
import { consentPage } from '../../src/http/linking/views/consent-page.ts';
import { disconnectPage } from '../../src/http/linking/views/disconnect-page.ts';
import { endPage } from '../../src/http/linking/views/end-page.ts';
import { errorPage, type ShownError } from '../../src/http/linking/views/error-page.ts';
import type { Page, PageFrame } from '../../src/http/linking/views/page.ts';
import { en } from '../../src/page-texts/en.ts';

/** What differs between two pictures of a page. */
export interface Variant {
  letters: 3 | 40 | 64 | 200;
  scopes: 1 | 3 | 8;
  language: 'en' | 'de' | 'ar';
}

const NAMES = {
  3: 'Box',
  40: 'Acme Notes for Teams and Their Followers',
  // Nothing in it says where to break it.
  64: 'Rinderkennzeichnungsfleischetikettierungsueberwachungsaufgabenwe',
  // The longest that a name can be.
  200: 'W'.repeat(200),
};

/** The longest that a host can be. */
const HOST = 'accounts.notes-for-teams.a-long-brand-of-notes.example.co.uk';

const logo = (color: string, strokes: string) =>
  `data:image/svg+xml;base64,${Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48"><rect width="48" height="48" rx="10" fill="${color}"/><path d="${strokes}" fill="none" stroke="#fff" stroke-width="4" stroke-linecap="round" stroke-linejoin="round"/></svg>`,
  ).toString('base64')}`;

const APPLICATION_LOGO = logo('#c2410c', 'M15 14h18M15 24h18M15 34h10');
const SERVICE_LOGO = logo('#0b62d6', 'M13 20h22l-2 15H15zM18 20v-2a6 6 0 0 1 12 0v2');

/** As long as English, from right to left, with the punctuation of Arabic. */
const rightToLeft = Object.fromEntries(
  Object.entries(en).map(([key, text]) => [
    key,
    text.replace(/\{\w+\}|[a-z’]+|[?,;]/gi, (part) => {
      if (part.startsWith('{')) return part;
      return { '?': '؟', ',': '،', ';': '؛' }[part] ?? 'لمحاسبةالتطبيقات'.slice(0, part.length);
    }),
  ]),
);
const catalog = createTextCatalog({ ar: rightToLeft });

const TITLES = [
  ['Read your profile', 'Your name, your picture and the languages that you speak.'],
  ['Send money to whoever is in your address book', null],
  ['Read and write your notes', 'Also those that others have shared with you.'],
  ['See when you are online', null],
  ['Send messages', 'To people and groups that you already know.'],
  ['Read your calendar', 'Titles, times and guests of every event.'],
  ['Delete files', 'They stay in the bin for 30 days.'],
  ['See what you have bought', null],
] as const;

const scopesOf = (count: number): Scope[] =>
  TITLES.slice(0, count).map(([title, description], i) => ({
    ...{ object: 'scope', scope: `scope.${i}`, title, description, texts: {} },
    sensitive: i % 3 === 1,
  }));

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 10, 28);

const frameIn = (language: string): PageFrame => ({
  theme: { name: 'Example Shop', logo: SERVICE_LOGO, home: null, color: '#0b62d6' },
  texts: catalog.choose([language]),
  basePath: '',
  assets: { style: '/link/assets/page.css', script: '/link/assets/page.js' },
});

const applicationOf = (name: string, host: string | null = null) => ({
  ...{ id: '0193aa00-0000-7000-8000-000000000001', host, name },
  claim: host === null ? null : name,
  logo_uri: host === null ? APPLICATION_LOGO : null,
  homepage_uri: host === null ? 'https://notes.acme.example/' : null,
  policy_uri: 'https://notes.acme.example/privacy',
  tos_uri: 'https://notes.acme.example/terms',
});

const accountOf = (name: string) => ({
  display_name: `Ada ${name}`,
  username: 'ada.lovelace@analytical.example',
});

const question = ({ letters, scopes }: Variant) => ({
  link_id: '0193aa00-0000-7000-8000-000000000003',
  application: applicationOf(NAMES[letters]),
  account: accountOf(NAMES[letters]),
  resource: null,
  scopes: scopesOf(scopes),
  optional_scopes: scopesOf(scopes - 1).slice(0, 2),
  allowed_scopes: scopesOf(scopes - 1),
  choice: null,
  redirect_host: 'notes.acme.example',
  redirect_kind: 'web' as const,
  formToken: 'token',
});

/** As many options as are seen at a glance, or as many as there can be. */
const choiceOf = ({ letters, scopes }: Variant) => ({
  title: `Which workspace of ${NAMES[letters].slice(0, 81)}?`,
  options: Array.from({ length: scopes === 8 ? 100 : scopes * 2 }, (_, i) => ({
    ...{ id: `ws-${i}`, label: `${i} ${NAMES[letters].slice(0, 96)}` },
  })),
});

function list({ letters, scopes }: Variant) {
  const choices = Array.from({ length: scopes }, (_, i) => ({ id: `${i}`, label: NAMES[letters] }));
  const connection = {
    ...{ scopes: scopesOf(scopes), resources: [], connected_at: NOW - 9 * DAY },
    choices: choices.slice(1),
  };
  const one = { ...applicationOf(NAMES[letters]), disabled: false };
  const other = { ...applicationOf(NAMES[letters].slice(0, 40), HOST), disabled: true };
  const resources = [{ resource: 'https://mcp.notes.example:8443/mcp', name: NAMES[letters] }];
  return {
    account: accountOf(NAMES[letters]),
    connections: [
      { ...connection, application: one, last_used_at: NOW - 2 * DAY },
      {
        ...connection,
        application: { ...other, id: `${other.id}2` },
        resources,
        last_used_at: null,
      },
    ],
    ...{ return_url: 'https://shop.example/settings', ended: null, next: null, now: NOW },
  };
}

const failed = (error_code: ShownError['error_code'], members: Partial<ShownError>) => ({
  ...{ error_code, request_id: '0193aa00-0000-7000-8000-000000000009', host: 'link.shop.example' },
  ...{ wayBack: null, ownAddress: null, returns: null },
  ...{ refusedUri: null, refusedClient: null, problem: null },
  ...members,
});

/** The question as the guides show it. */
export const questionOfTheGuides: Page = consentPage(frameIn('en'), {
  ...question({ letters: 3, scopes: 1, language: 'en' }),
  application: { ...applicationOf('Acme Notes'), policy_uri: null, tos_uri: null },
  account: { display_name: 'Ada Lovelace', username: 'ada' },
  scopes: scopesOf(3).filter(({ sensitive }) => !sensitive),
  optional_scopes: [],
  allowed_scopes: [],
});

const stranger = { voucher: 'stranger', href: `https://${HOST}/`, target: HOST } as const;

const views = {
  consent: (frame, variant) => consentPage(frame, question(variant)),
  'consent of a client on this device': (frame, variant) =>
    consentPage(frame, {
      ...question(variant),
      application: applicationOf(NAMES[variant.letters].slice(0, 40), HOST),
      resource: { resource: 'https://mcp.shop.example/mcp', name: NAMES[variant.letters] },
      ...{ redirect_host: 'localhost', redirect_kind: 'loopback' },
    }),
  'consent with a choice': (frame, variant) =>
    consentPage(frame, { ...question(variant), choice: choiceOf(variant) }),
  connections: (frame, variant) => connectionsPage(frame, list(variant)),
  'connections after a disconnect': (frame, variant) =>
    connectionsPage(frame, { ...list(variant), ended: applicationOf(NAMES[variant.letters]) }),
  'no connections': (frame, variant) =>
    connectionsPage(frame, { ...list(variant), connections: [] }),
  disconnect: (frame, { letters }) =>
    disconnectPage(frame, { application: applicationOf(NAMES[letters]), formToken: 'token' }),
  'the end': (frame, { letters }) =>
    endPage(frame, {
      link: { decision: { status: 'approved' } },
      ...{ application: applicationOf(NAMES[letters]), account: accountOf(NAMES[letters]) },
      answer: { voucher: 'operator', location: 'com.acme.notes:/callback' as Location },
    }),
  'the end of nothing': (frame, { letters }) =>
    endPage(frame, {
      ...{ link: { decision: { status: 'denied' } }, application: null, answer: stranger },
      account: accountOf(NAMES[letters]),
    }),
  'a decided link': (frame, { letters }) => {
    const to = { name: NAMES[letters], host: null };
    return errorPage(frame, failed('link_decided', { wayBack: { url: stranger.href, to } }));
  },
  'a refused address': (frame) => {
    const refusedUri = `https://evil.example/${'x'.repeat(180)}`;
    return errorPage(frame, failed('redirect_uri_unregistered', { refusedUri }));
  },
  'an unknown client': (frame) => {
    const refusedClient = `https://${HOST}/${'clients/'.repeat(16)}`;
    return errorPage(frame, failed('client_unknown', { refusedClient }));
  },
  'refused cookies': (frame, { letters }) => {
    const wayBack = { url: stranger.href, to: { name: NAMES[letters], host: null } };
    return errorPage(frame, failed('cookies_refused', { host: HOST, wayBack }));
  },
  'one more step': (frame) =>
    errorPage(frame, failed('parameter_invalid', { ownAddress: '/link?ticket=lk_ticket' })),
  'a document out of reach': (frame) =>
    errorPage(
      frame,
      failed('client_document_unavailable', {
        ...{ wayBack: { url: '/oauth/authorize', to: null } },
        problem: 'The host of the document did not respond in time, or closed the connection.',
      }),
    ),
  'a refused request': (frame) =>
    errorPage(
      frame,
      failed('parameter_invalid', {
        ...{ returns: stranger, problem: 'code_challenge: Send a code_challenge of 43 letters.' },
      }),
    ),
} satisfies Record<string, (frame: PageFrame, variant: Variant) => Page>;

export type PageName = keyof typeof views;
export const pageNames = Object.keys(views) as PageName[];

export const pageIn = (name: PageName, variant: Variant): Page =>
  (views[name] as (frame: PageFrame, variant: Variant) => Page)(frameIn(variant.language), variant);
