import type { Account, Scope } from '@latchkey/schema';
import { describe, expect, test } from 'vitest';
import { signInPage } from '../../../demo/views/sign-in-page.ts';
import { html } from '../../html.ts';
import { pageHeaders } from '../page-sender.ts';
import { createTextCatalog } from '../text-catalog.ts';
import { connectionsPage } from './connections-page.ts';
import { consentPage } from './consent-page.ts';
import { disconnectPage } from './disconnect-page.ts';
import { endPage } from './end-page.ts';
import { errorPage, type ShownError } from './error-page.ts';
import { initials } from './logo.ts';
import { mainPartOf } from './outside.ts';
import type { Page, PageFrame, ShownApplication } from './page.ts';

const frame = (language: string | string[] = 'en', name = 'Example Shop'): PageFrame => ({
  theme: { name, logo: 'data:image/png;base64,AA==', home: null, color: '#0b62d6' },
  texts: createTextCatalog({}).choose([language].flat()),
  basePath: '/base',
  assets: { style: '/link/assets/page.css?v=1', script: '/link/assets/page.js?v=2' },
});

/** An error page, of what has nothing else to show. */
const shownError = (members: Partial<ShownError>): ShownError => ({
  ...{ error_code: 'link_expired', request_id: 'r', host: 'link.example' },
  ...{ wayBack: null, ownAddress: null, returns: null },
  ...{ refusedUri: null, refusedClient: null, problem: null },
  ...members,
});

const application = (name: string): ShownApplication & { id: string } => ({
  id: '0193aa00-0000-7000-8000-000000000001',
  host: null,
  name,
  logo_uri: 'https://logos.example:8443/acme.png',
  homepage_uri: 'https://acme.example/home?a="b"&c',
  policy_uri: 'https://acme.example/privacy?a="b"',
  tos_uri: 'https://acme.example/terms',
});

const account = (display_name: string, username: string): Account => ({
  object: 'service_account',
  id: '0193aa00-0000-7000-8000-000000000002',
  username,
  display_name,
  twitter: null,
  verified: false,
  supporter: false,
});

const scope = (title: string, description: string | null, texts: Scope['texts'] = {}): Scope => ({
  object: 'scope',
  scope: 'profile.read',
  title,
  description,
  texts,
  sensitive: false,
});

const link_id = '0193aa00-0000-7000-8000-000000000003';

/** Of an application that asks for nothing. */
const question = {
  link_id,
  application: application('Acme'),
  account: account('Ada', 'ada'),
  resource: null,
  scopes: [],
  optional_scopes: [],
  allowed_scopes: [],
  choice: null,
  redirect_host: 'acme.example',
  redirect_kind: 'web' as const,
  formToken: 'token',
};

function everyPage(text: string, frameOf = frame('en', text)): Page[] {
  const scopes = [scope(text, text)];
  const consent = {
    ...question,
    application: application(text),
    account: account(text, text),
    resource: { resource: 'https://mcp.example:8443/mcp', name: text },
    scopes,
    optional_scopes: scopes,
    allowed_scopes: scopes,
    choice: { title: text, options: [{ id: 'a', label: text }] },
    redirect_host: text,
    redirect_kind: 'loopback' as const,
  };
  const connection = {
    application: { ...application(text), disabled: true },
    scopes,
    resources: [{ resource: 'https://mcp.example:8443/mcp', name: 'Notes <1>' }],
    choices: [
      { id: 'a', label: text },
      { id: 'b', label: 'B & Co.' },
    ],
    connected_at: Date.UTC(2026, 10, 21, 2, 15, 30, 123),
    last_used_at: Date.UTC(2026, 10, 23, 23),
  };
  const list = {
    account: account(text, text),
    connections: [connection],
    return_url: 'https://shop.example/',
    next: 'AZ-_',
    ended: { name: text, host: null },
    now: Date.UTC(2026, 10, 24),
  };
  const wayBack = { url: 'https://acme.example/', to: { name: text, host: null } };
  return [
    consentPage(frameOf, consent),
    connectionsPage(frameOf, list),
    disconnectPage(frameOf, { application: application(text), formToken: 'token' }),
    errorPage(frameOf, shownError({ request_id: text, host: text, wayBack, refusedUri: text })),
  ];
}

const [consent, connections, disconnect, error] = everyPage('Acme') as [Page, Page, Page, Page];

describe('every page', () => {
  test.each([
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    "'--></title></bdi><b>",
    '&lt;b&gt; &#x3c;',
    '<{application} $& $1',
  ])('shows %j as a text of its own', (text) => {
    const named = String(html`${text}`);
    for (const page of everyPage(text)) {
      expect(page.html).toContain(`>${named}</bdi>`);
      // The name of the host service, which is the operator's, is in the title as well.
      const isolated = page.html
        .replace(/<title>.*<\/title>/, '')
        .replaceAll(/<bdi[^>]*>.*?<\/bdi>/gs, '');
      expect(isolated).not.toContain(named);
      expect(page.html).not.toContain(text);
    }
  });

  test('has nothing inline, and one form at most', () => {
    for (const { html } of everyPage('Acme')) {
      expect(html).not.toMatch(/<style|\sstyle=|\son\w+=|javascript:/);
      expect(html.match(/<script[^>]*>/g)).toEqual([
        '<script src="/base/link/assets/page.js?v=2">',
      ]);
      expect((html.match(/<form/g) ?? []).length).toBeLessThan(2);
      expect(html).toMatch(/^<!doctype html>\n<html lang="en" dir="ltr">/);
      for (const [link] of html.matchAll(/<a [^>]*href="https?:[^>]*>/g))
        expect(link).toContain('rel="noreferrer"');
    }
  });

  test('names the origins of its logos in its policy, and only what can be one', () => {
    const policy = (page: Page) => pageHeaders(page)['Content-Security-Policy'];
    expect(policy(consent)).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: https://logos.example:8443; base-uri 'none'; frame-ancestors 'none'",
    );
    expect(policy(error)).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'; form-action 'self'",
    );
    const hostile = { ...frame().theme, logo: "https://a.example;script-src'/x.png" };
    const page = errorPage({ ...frame(), theme: hostile }, shownError({}));
    expect(page.logoOrigins).toEqual([]);
    expect(page.html).not.toContain('<img');
  });
});

describe('the consent page', () => {
  test('has one form with its token and three decisions', () => {
    const { html } = consent;
    expect(html).toContain(
      `<form method="post" action="/base/link/${link_id}" autocomplete="off" data-busy="One moment…">`,
    );
    expect(html).toContain('<input type="hidden" name="form_token" value="token">');
    const decisions = [
      ...html.matchAll(
        /<button type="submit" class="([^"]*)" name="decision" value="(\w+)"(.*?)>/g,
      ),
    ];
    expect(decisions.map(([, style, value, more]) => [value, style, more])).toEqual([
      ['switch', 'text-button', ' formnovalidate'],
      ['deny', 'button calm', ' formnovalidate'],
      ['allow', 'button', ''],
    ]);
    expect(html).toContain('href="https://acme.example/home?a=&quot;b&quot;&amp;c"');
  });

  const german = { de: { title: 'Profil sehen' }, 'fr-CA': { title: 'Voir' } };
  const austrian = { ...german, 'de-at': { title: 'Profil anschauen' } };

  test.each([
    [['de-AT'], austrian, '<li lang="de-at"><p class="name"><bdi>Profil anschauen</bdi>'],
    [['de-AT'], german, '<li lang="de"><p class="name"><bdi>Profil sehen</bdi>'],
    // The page is in English. Nobody should have to read a third language.
    [['fr-CA', 'en'], german, '<li><p class="name"><bdi>See your profile</bdi>'],
    [['fr-CA', 'de-AT'], german, '<li lang="de"><p class="name"><bdi>Profil sehen</bdi>'],
    [['de-CH'], { 'de-AT': german.de }, '<li><p class="name"><bdi>See your profile</bdi>'],
    [['en-GB'], { en: { title: 'See it' } }, '<li lang="en"><p class="name"><bdi>See it</bdi>'],
  ])('describes a scope in the language of the page or in the plain one: %j', (...one) => {
    const [preferred, texts, expected] = one;
    const page = consentPage(frame(preferred), {
      ...question,
      scopes: [scope('See your profile', 'Your name.', texts)],
    });
    expect(page.html).toContain(expected);
  });

  test('says where its answer leads, the same for every answer', () => {
    expect(consent.html).toContain('<p>You return to <bdi><strong>Acme</strong></bdi>.</p>');
  });

  test('sets sensitive scopes apart, first and under a heading of their own', () => {
    const scopes = [
      scope('Read 1', null),
      { ...scope('Pay 1', null), sensitive: true },
      scope('Read 2', null),
      { ...scope('Pay 2', null), sensitive: true },
    ];
    const headingsAndScopes = (shown: typeof scopes) => {
      const { html } = consentPage(frame(), { ...question, scopes: shown });
      const found = html.matchAll(
        /<h2>.*<\/bdi> (could act or spend|will be able to)|<li[^>]*><p class="name"><bdi>(.*?)</g,
      );
      return [...found].map(([, heading, title]) => heading ?? title);
    };
    const [sensitive, others] = ['could act or spend', 'will be able to'];
    expect(headingsAndScopes(scopes)).toEqual([
      ...[sensitive, 'Pay 1', 'Pay 2'],
      ...[others, 'Read 1', 'Read 2'],
    ]);
    expect(headingsAndScopes(scopes.slice(1, 2))).toEqual([sensitive, 'Pay 1']);
    expect(headingsAndScopes(scopes.slice(0, 1))).toEqual([others, 'Read 1']);
  });

  test('lets the user check what is optional, below what is asked for', () => {
    const optional_scopes = [
      { ...scope('See', null, german), scope: 'posts:<write>' },
      { ...scope('Pay', 'With your card.'), scope: 'pay', sensitive: true },
    ];
    const shown = { ...question, scopes: [scope('Read', null)], optional_scopes };
    const { html } = consentPage(frame('de'), shown);
    const [above = '', below = ''] = html.split('kann außerdem, was Sie ankreuzen:</h2>');
    expect(above).toContain('<bdi>Read</bdi>');
    // In a form, a screen reader reads the heading with the boxes.
    expect(above).toMatch(
      /<section role="group" aria-labelledby="(\w+)">\n<h2 id="\1"><bdi>Acme<\/bdi> $/,
    );
    const boxes = below.match(/<input [^>]*>/g);
    expect(boxes).toEqual([
      '<input type="checkbox" name="optional_scope" value="posts:&lt;write&gt;">',
      '<input type="checkbox" name="optional_scope" value="pay">',
    ]);
    const [, see = '', pay = ''] = below.split('<input ');
    expect(see).toContain('<span class="name" lang="de"><bdi>Profil sehen</bdi>');
    expect(see).not.toContain('notice caution');
    expect(pay).toContain('<span class="quiet"><bdi>With your card.</bdi>');
    expect(pay).toMatch(/<span class="notice caution">[^<]+ in Ihrem Namen/);
    expect(consentPage(frame('de'), question).html).not.toContain('was Sie ankreuzen');
  });

  test.each([
    ['en', 'You already allow'],
    ['de', 'Sie erlauben bereits'],
  ])('lists what is allowed by now below all that can be: %s', (language, heading) => {
    const shown = {
      ...question,
      optional_scopes: [scope('Write', null)],
      allowed_scopes: [scope('Read', 'All of them.'), { ...scope('Pay', null), sensitive: true }],
    };
    const { html } = consentPage(frame(language), shown);
    const [above = '', below = ''] = html.split(`<h2>${heading}</h2>`);
    expect(above).toContain('<bdi>Write</bdi>');
    const listed = [...below.matchAll(/<li[^>]*><p class="name"><bdi>(.*?)</g)];
    expect(listed.map(([, title]) => title)).toEqual(['Read', 'Pay']);
    expect(consentPage(frame(language), question).html).not.toContain(heading);
  });

  const controlOf = (count: number) => {
    const options = Array.from({ length: count }, (_, i) => ({ id: `"<${i}`, label: `A & ${i}` }));
    const choice = { title: 'Which <one>?', options };
    const { html } = consentPage(frame(), { ...question, choice });
    return /<(fieldset|section)>\n<l(?:egend|abel).*<\/\1>/s.exec(html)?.[0];
  };

  test.each([
    [1, ' checked'],
    [2, ''],
    [7, ''],
  ])('asks what to choose, of %i at a glance', (count, checked) => {
    const radios = Array.from(
      { length: count },
      (_, i) =>
        `\n<label><input type="radio" name="choice" value="&quot;&lt;${i}" required${checked}><span class="name"><bdi>A &amp; ${i}</bdi></span></label>`,
    );
    expect(controlOf(count)).toBe(
      `<fieldset>\n<legend class="question"><bdi>Which &lt;one&gt;?</bdi></legend>\n<div class="optional">${radios.join('')}</div>\n</fieldset>`,
    );
  });

  test('asks what to choose of more in a list, whose first entry is empty', () => {
    const options = Array.from(
      { length: 8 },
      (_, i) => `\n<option value="&quot;&lt;${i}" dir="auto">A &amp; ${i}</option>`,
    );
    expect(controlOf(8)).toBe(
      `<section>\n<label class="question" for="choice"><bdi>Which &lt;one&gt;?</bdi></label>\n<select id="choice" name="choice" required>\n<option value=""></option>${options.join('')}\n</select>\n</section>`,
    );
  });

  test('links to the privacy and the terms of the application, where it has them', () => {
    expect(consent.html).toContain(
      '<a href="https://acme.example/privacy?a=&quot;b&quot;" rel="noreferrer">Privacy</a>',
    );
    expect(consent.html).toContain('<a href="https://acme.example/terms" rel="noreferrer">Terms<');
    const plain = { ...application('Acme'), policy_uri: null, tos_uri: null };
    expect(consentPage(frame(), { ...question, application: plain }).html).not.toMatch(
      /Privacy|Terms/,
    );
  });

  test.each([
    ['web', false],
    ['loopback', true],
    ['app', true],
  ] as const)('warns of an application on this device: %s', (redirect_kind, isThere) => {
    const { html } = consentPage(frame(), { ...question, redirect_kind });
    expect(html.includes('<bdi>Acme</bdi> runs on this device. Continue only if')).toBe(isThere);
    expect(html.includes('never share the address of the next page')).toBe(isThere);
  });
});

describe('an application with a document', () => {
  const HOST = 'login.accounts.example.co.uk';
  const named = (name: string, host = HOST) => ({
    ...{ ...application(name), logo_uri: null, host },
    claim: name === host ? null : name,
  });
  const shownHost = '<bdi>login.accounts.<strong>example.co.uk</strong></bdi>';
  const pagesOf = (language: string, one: ReturnType<typeof named>) => [
    consentPage(frame(language), {
      ...question,
      application: one,
      scopes: [{ ...scope('Pay', null), sensitive: true }, scope('Read', null)],
      redirect_host: HOST,
      redirect_kind: 'loopback',
    }),
    connectionsPage(frame(language), {
      account: account('Ada', 'ada'),
      connections: [
        {
          ...{ application: { ...one, disabled: true }, scopes: [], resources: [], choices: [] },
          ...{ connected_at: 0, last_used_at: null },
        },
      ],
      return_url: null,
      next: null,
      ended: one,
      now: 0,
    }),
    disconnectPage(frame(language), { application: one, formToken: 'token' }),
    errorPage(
      frame(language),
      shownError({ error_code: 'link_decided', wayBack: { url: 'https://a.example/', to: one } }),
    ),
    errorPage(
      frame(language),
      shownError({
        error_code: 'parameter_invalid',
        returns: { voucher: 'stranger', href: 'https://a.example/', target: HOST },
      }),
    ),
    endPage(frame(language), {
      ...{ account: null, application: null, link: { decision: null } },
      answer: { voucher: 'stranger', href: 'https://a.example/', target: HOST },
    }),
    endPage(frame(language), {
      ...{ account: null, application: one, link: { decision: { status: 'approved' } } },
      answer: { voucher: 'stranger', href: 'https://other.example/', target: 'other.example' },
    }),
  ];

  test.each([
    ['en', '“', '”'],
    ['de', '„', '“'],
  ])('is its host, and its name in the quotation marks of %s', (language, before, after) => {
    const pages = pagesOf(language, named('Notes Reader'));
    const bodies = pages.map(({ html }) => html);
    for (const body of bodies) expect(body).toContain(shownHost);
    const quoted = `${before}<bdi>Notes Reader</bdi>${after}`;
    // The consent page and the list of connections, once each.
    const claims = bodies.map((body) => body.split('Notes Reader').length - 1);
    expect(claims).toEqual([1, 1, 0, 0, 0, 0, 0]);
    for (const body of bodies.slice(0, 2)) expect(body).toContain(quoted);
  });

  test('has the letter of the main part of its host in place of a logo', () => {
    for (const { html } of pagesOf('en', named('Notes Reader')).slice(0, 3)) {
      expect(html).toMatch(/<span class="logo[^>]*><bdi>E<\/bdi><\/span>/);
      expect(html).not.toContain('<bdi>NR</bdi>');
    }
  });

  test('is its host also where the demo asks who signs in', () => {
    const asked = { action: '/sign-in', link: 'l', application: named('Notes Reader') };
    const { html } = signInPage(frame(), asked);
    expect(html).toContain(`<p>${shownHost} wants to connect`);
    expect(html).not.toContain('Notes Reader');
  });

  test('claims no name if it has none but its host', () => {
    const [consent, connections] = pagesOf('en', named(HOST)) as [Page, Page];
    expect(consent.html).toContain('</bdi> wants to connect to your');
    for (const { html } of [consent, connections]) expect(html).not.toMatch(/calls itself|“/);
  });
});

test.each([
  ['a'.repeat(40), 'a'.repeat(40)],
  ['a'.repeat(41), `${'a'.repeat(39)}…`],
  // One letter, in the eyes of whoever reads it.
  ['e\u0301'.repeat(40), 'e\u0301'.repeat(40)],
])('a title has 40 letters of a name, and a sentence all: %#', (name, titled) => {
  const { html } = disconnectPage(frame(), { application: application(name), formToken: 'token' });
  const [, title] = /<h1>Disconnect .*<bdi>(.*)<\/bdi>.*\?<\/h1>/.exec(html) ?? [];
  expect(title).toBe(titled);
  expect(html).toMatch(new RegExp(`<p>.*<bdi>${name}</bdi>.* is signed out of your account`));
});

test.each([
  ['claude.ai', 'claude.ai'],
  ['a.b.claude.ai', 'claude.ai'],
  ['app.example.co.uk', 'example.co.uk'],
  ['app.example.com.au', 'example.com.au'],
  ['app.example.co.uk.', 'example.co.uk.'],
  ['x.sign.in', 'sign.in'],
  ['x.abc.in', 'x.abc.in'],
  ['t.co', 't.co'],
  ['localhost', 'localhost'],
  ['a.xn--p1ai', 'a.xn--p1ai'],
  ['127.0.0.1', '127.0.0.1'],
  ['[2001:db8::1]', '[2001:db8::1]'],
])('the main part of %s is %s', (host, main) => {
  expect(mainPartOf(host)).toBe(main);
});

describe('the list of connections', () => {
  const nothing = {
    account: account('Ada Lovelace', 'ada'),
    connections: [],
    return_url: null,
    next: null,
    ended: null,
    now: 0,
  };

  test('says whose it is, and which application is disconnected, in the title too', () => {
    expect(connectionsPage(frame(), nothing).html).toMatch(/<bdi>Ada Lovelace<.*<bdi>ada</s);
    const { html } = connectionsPage(frame(), {
      ...nothing,
      ended: { name: 'A <b> & B', host: null },
    });
    expect(html).toContain('<title>\u2068A &lt;b&gt; &amp; B\u2069 is disconnected · ');
    expect(html).toContain(
      'role="status" tabindex="-1" autofocus><bdi>A &lt;b&gt; &amp; B</bdi> is disconnected.',
    );
  });

  test.each([3, 4])('folds scopes from four on: %i', (count) => {
    const connection = {
      application: { ...application('Acme'), disabled: false },
      scopes: Array.from({ length: count }, (_, i) => scope(`Scope ${i}`, null)),
      resources: [],
      choices: [],
      connected_at: 0,
      last_used_at: null,
    };
    const { html } = connectionsPage(frame(), { ...nothing, connections: [connection] });
    expect(html.includes('<details><summary class="quiet">It can do 4 things<')).toBe(count === 4);
    expect(html).toContain(`Scope ${count - 1}`);
    expect(html).not.toContain('paused');
    expect(html).toContain('<bdi><strong>acme.example</strong></bdi></a>');
  });

  test('leads to the start page of the host where no page called it', () => {
    const theme = { ...frame().theme, home: 'https://shop.example/home' };
    const backOf = (return_url: string | null) => {
      const { html } = connectionsPage({ ...frame(), theme }, { ...nothing, return_url });
      return /href="([^"]*)" rel/.exec(html)?.[1];
    };
    expect(backOf(null)).toBe('https://shop.example/home');
    expect(backOf('https://a.example/')).toBe('https://a.example/');
  });

  test('names each application, since when, and how to end it', () => {
    expect(connections.html).toContain('<time datetime="2026-11-21T02:15:30.123+00:00">');
    expect(connections.html).toContain(
      'href="/base/connections/0193aa00-0000-7000-8000-000000000001"',
    );
    expect(connections.html).toContain('role="status"');
    expect(connections.html).toContain(
      'Has access to <bdi>Notes &lt;1&gt;</bdi> at <bdi>mcp.example:8443</bdi>',
    );
    expect(connections.html).toContain('<bdi>Acme</bdi> has paused it. It cannot use');
    expect(connections.html).toContain('You chose: <bdi>Acme</bdi>, <bdi>B &amp; Co.</bdi>');
  });

  test.each([
    ['en', Date.UTC(2026, 10, 24), 'last used today'],
    ['en', Date.UTC(2026, 10, 23, 23, 59), 'last used yesterday'],
    // By a clock that is ahead of this one.
    ['en', Date.UTC(2026, 10, 26), 'last used today'],
    ['de', Date.UTC(2026, 9, 24), 'zuletzt benutzt: vor 31 Tagen'],
    ['de', null, 'Verbunden seit <time'],
  ])(
    'says in %s by the day when a connection was last used: %s',
    (language, last_used_at, text) => {
      const connection = {
        application: { ...application('Acme'), disabled: false },
        scopes: [],
        resources: [],
        choices: [],
        connected_at: 0,
        last_used_at,
      };
      const list = { ...nothing, connections: [connection] };
      const now = Date.UTC(2026, 10, 24, 12);
      const { html } = connectionsPage(frame(language), { ...list, now });
      expect(html).toContain(text);
      expect(html.includes('benutzt') || html.includes('last used')).toBe(last_used_at !== null);
    },
  );

  test('says that it is empty', () => {
    const { html } = connectionsPage(frame('de'), nothing);
    expect(html).toContain('ist keine Anwendung verbunden');
    expect(html).toContain('<html lang="de" dir="ltr">');
    expect(html).not.toMatch(/<ul|role="status"/);
  });
});

test('the disconnect page answers to its own address, and says what stays', () => {
  expect(disconnect.html).toContain(
    'action="/base/connections/0193aa00-0000-7000-8000-000000000001"',
  );
  expect(disconnect.html).toContain('name="decision" value="disconnect"');
  expect(disconnect.html).toContain('<title>Disconnect \u2068Acme\u2069? · ');
  expect(disconnect.html).toContain(
    '<bdi>Acme</bdi> is signed out of your account at once. It keeps what it has already copied.',
  );
});

test.each([
  ['client_unknown', 'not known here'],
  ['page_expired', 'This page has expired'],
  ['page_expired', 'Nothing was connected. Start again in the application.'],
  ['outcome_unknown', 'Not available right now'],
  ['media_type_unsupported', 'was not understood'],
  ['grant_not_found', 'Something went wrong'],
] as const)('an error page tells people of %s', (error_code, title) => {
  const { html } = errorPage(frame(), shownError({ error_code }));
  expect(html).toContain(title);
  expect(html.replaceAll(/<\/?a\b[^>]*>/g, '')).toContain(`<dd>${error_code}</dd>`);
});

test.each([
  ['Acme Notes for Teams', 'AN'],
  ['ada', 'A'],
  ['«Über» 2', 'Ü2'],
  ['株式会社 例', '株例'],
  ['e\u0301\u0301\u0301', 'E'],
  ['🍰', '•'],
])('the initials of %s are %s', (name, expected) => {
  expect(initials(name)).toBe(expected);
});
