import type { Headers } from '../request-context.ts';
import type { Page } from './views/page.ts';

/** `docs/protocol/linking.md#headers-of-a-page` */
export function pageHeaders({ logoOrigins, leadsAway }: Page): Headers {
  return {
    'X-Frame-Options': 'DENY',
    'X-Content-Type-Options': 'nosniff',
    // With `no-referrer`, browsers would send `Origin: null` with our own forms.
    'Referrer-Policy': 'same-origin',
    'X-Robots-Tag': 'noindex',
    'Content-Security-Policy': [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      ["img-src 'self' data:", ...logoOrigins].join(' '),
      "base-uri 'none'",
      "frame-ancestors 'none'",
      // Chrome and Safari apply it to every redirect after the form, also to those of the
      // application: https://github.com/w3c/webappsec-csp/issues/8.
      ...(leadsAway ? [] : ["form-action 'self'"]),
    ].join('; '),
  };
}
