import { describe, expect, it } from 'vitest';
import { navigationOf } from './index.ts';

const sent = {
  navigation: [
    [
      'a browser that follows a link',
      { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
    ],
    // respondWith(fetch(event.request)), as Workbox, next-pwa and Angular do.
    ['a service worker', { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'empty' }],
    [
      'a browser that preloads a navigation, while its service worker starts',
      {
        'sec-fetch-mode': 'navigate',
        'sec-fetch-dest': 'document',
        'service-worker-navigation-preload': 'true',
      },
    ],
    ['a browser from before Fetch Metadata, curl', {}],
    ['a proxy that drops the mode', { 'sec-fetch-dest': 'document' }],
    ["Node's fetch", { 'sec-fetch-mode': 'cors' }],
    ['another purpose', { 'sec-purpose': 'prefetched', 'x-moz': 'livebookmarks' }],
  ],
  prefetch: [
    [
      'a link element',
      { 'sec-purpose': 'prefetch', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'empty' },
    ],
    [
      'a speculation rule',
      {
        'sec-purpose': 'prefetch;prerender',
        'sec-fetch-mode': 'navigate',
        'sec-fetch-dest': 'document',
      },
    ],
    ['an anonymous proxy', { 'sec-purpose': 'prefetch;anonymous-client-ip' }],
    ['Chromium before 2022', { purpose: 'prefetch' }],
    ["Safari's preview of a page", { 'x-purpose': 'preview' }],
    ['Firefox before 2023', { 'x-moz': 'prefetch' }],
    ['a scanner of links in capitals', { purpose: 'Prefetch' }],
    ['a header that came twice', { purpose: ['a', 'prerender'] }],
  ],
  part: [
    ['an image', { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }],
    ['a preload of a script', { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'script' }],
    ['a frame', { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }],
    ['a fenced frame', { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'fencedframe' }],
    ['an object', { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'object' }],
    ["a page's fetch", { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }],
    [
      "a page's fetch within its origin",
      { 'sec-fetch-mode': 'same-origin', 'sec-fetch-dest': 'empty' },
    ],
    [
      'an extension that asks without an origin',
      { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'empty' },
    ],
    ['a mode without a destination', { 'sec-fetch-mode': 'navigate' }],
    ['a web socket', { 'sec-fetch-mode': 'websocket', 'sec-fetch-dest': 'websocket' }],
  ],
} satisfies Record<string, [string, Record<string, string | string[]>][]>;

describe.each(Object.entries(sent))('%s', (kind, requests) => {
  it.each(requests)('%s', (_, headers) => {
    const header = (name: string) => (headers as Record<string, string | string[]>)[name];
    expect(navigationOf(header)).toBe(kind);
  });
});
