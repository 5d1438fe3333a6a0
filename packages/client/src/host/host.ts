import type { AccountInput, LatchkeyAdmin, LinkIdentifyInput } from '../admin/index.ts';
import { hasBrand } from '../brand.ts';
import { browserUrl } from '../browser-url.ts';
import type { LatchkeyError } from '../errors.ts';
import {
  type HttpRequest,
  type HttpResponse,
  headerOf,
  queryOf,
  type Route,
  redirect,
} from '../frameworks/http.ts';
import { refuseUnknownOptions } from '../unknown-options.ts';
import { type DeadEnd, deadEndPage } from './dead-end-page.ts';

/** What the application that asks would like the sign-in page to show. All of it is untrusted text. */
export interface SignInHints {
  /** Whom the application expects, such as an email address. Escape it where you show it. */
  readonly loginHint: string | undefined;
  /** The languages that the application prefers: space-separated tags (BCP 47). */
  readonly uiLocales: string | undefined;
  /** Whether the user wants another account: ask again, even if somebody is signed in. */
  readonly selectAccount: boolean;
}

/**
 * Options of the host routes of every framework. An option that does not exist is refused.
 *
 * @typeParam Incoming - the request, as the framework has it
 */
export interface HostOptions<Incoming> {
  /** The operator's client. It belongs on the servers of the host alone. */
  admin: Pick<LatchkeyAdmin, 'accounts' | 'links' | 'pages'>;
  /**
   * The URL of the `handOff` route, exactly as it is the `SIGN_IN_URL` of the service: `https:`, or
   * `http:` on a loopback host. The forms of the other routes have to come from the same origin.
   */
  signInUrl: string;
  /**
   * Returns the account of the user who is signed in. If the service does not know the account yet, it
   * is put there with these members. Later changes of a name are yours to put.
   *
   * @param request - the request of a route
   * @returns the account; nothing if nobody is signed in
   */
  accountOf(
    request: Incoming,
  ): AccountInput | null | undefined | Promise<AccountInput | null | undefined>;
  /**
   * Returns the address of your sign-in page.
   *
   * @param next - the path that your page sends the browser to once the user is signed in
   * @param hints - what to show, and whether to ask although somebody is signed in
   * @returns a path, or an absolute URL if the page has an origin of its own
   */
  signInPage(next: string, hints: SignInHints): string;
  /**
   * Returns the address of your own consent page, for the link. The page reads what is asked for with
   * `admin.links.read`, and its form goes to the `decide` route. Default: the service asks, with its page.
   *
   * @param link - the link
   * @returns a path, or an absolute URL
   */
  consentPage?: ((link: string) => string) | undefined;
  /**
   * Returns what the service's consent page asks besides, such as which workspace. What the user chooses
   * is on the grant, and `grantOf(request).choice` has it. Not with `consentPage`: your own page asks
   * itself. Default: nothing.
   *
   * @param account - the account that `accountOf` has returned
   * @param request - the request of the `handOff` route
   * @returns the question with its options; null for nothing
   */
  choice?:
    | ((
        account: AccountInput,
        request: Incoming,
      ) => LinkIdentifyInput['choice'] | Promise<LinkIdentifyInput['choice']>)
    | undefined;
  /** The path of your start page, where users go on. Default: `/`. */
  home?: string | undefined;
  /**
   * Returns the address of the page that says why the user can't go on. Default: a short page in English
   * that leads to `home`.
   *
   * @param reason - what happened
   * @returns a path, or an absolute URL
   */
  onDeadEnd?: ((reason: DeadEnd) => string) | undefined;
}

// Because of `Record`, an option that is missing here does not compile.
const optionNames: Record<keyof HostOptions<never>, true> = {
  admin: true,
  signInUrl: true,
  accountOf: true,
  signInPage: true,
  consentPage: true,
  choice: true,
  home: true,
  onDeadEnd: true,
};

/** The routes of a host. */
export interface Host<Incoming> {
  handOff: Route<Incoming>;
  decide: Route<Incoming>;
  connections: Route<Incoming>;
  /** Resolves to a response only if it refuses the request. */
  signOut: Route<Incoming, HttpResponse | undefined>;
}

/** Reads the members of a form. */
type FormOf<Incoming> = (request: Incoming) => unknown;

const hintsIn = (query = new URLSearchParams()): SignInHints => ({
  loginHint: query.get('login_hint') ?? undefined,
  uiLocales: query.get('ui_locales') ?? undefined,
  selectAccount: query.get('prompt') === 'select_account',
});

// A user who signs out does not wait longer than this for a service that is not reachable.
const SIGN_OUT_TIMEOUT_MS = 3_000;

/** Creates the routes, and checks the options before the first request arrives. */
export function createHost<Incoming>(
  options: HostOptions<Incoming>,
  formOf: FormOf<Incoming>,
): Host<Incoming> {
  refuseUnknownOptions('the host', options, Object.keys(optionNames));
  const { admin, accountOf, signInPage, consentPage, choice, home = '/', onDeadEnd } = options;
  const signInUrl = browserUrl(
    options.signInUrl,
    TypeError,
    'signInUrl must be the https:// URL of the handOff route, as in the SIGN_IN_URL of the service.',
  );
  for (const [name, value] of Object.entries({ accountOf, signInPage })) {
    if (typeof value !== 'function') throw new TypeError(`${name} must be a function.`);
  }
  if (consentPage && choice) {
    throw new TypeError('Leave choice out with consentPage: your page asks.');
  }
  const homeUrl = new URL(home, signInUrl).href;

  const goTo = (address: string): HttpResponse => redirect(new URL(address, signInUrl).href);

  /** The path of the hand-off for a link, which can be opened again. */
  function handOffPath(link: string): string {
    const url = new URL(signInUrl);
    url.searchParams.set('link', link);
    return url.pathname + url.search;
  }

  const goToSignIn = (next: string, hints = hintsIn()) => goTo(signInPage(next, hints));

  const deadEnd = (reason: DeadEnd) =>
    onDeadEnd ? goTo(onDeadEnd(reason)) : deadEndPage(reason, homeUrl);

  /** Whether a form comes from a page of this host. A browser tells by one header or the other. */
  function isOwnForm(http: HttpRequest): boolean {
    const site = headerOf(http, 'sec-fetch-site');
    return site ? site === 'same-origin' : headerOf(http, 'origin') === signInUrl.origin;
  }

  /** The members of the form; none if the body is no form. */
  async function membersOf(request: Incoming) {
    try {
      return Object(await formOf(request));
    } catch {
      return {};
    }
  }

  /** Makes a call that names the account, and puts the account first if the service has none. */
  async function withAccount<Result>(account: AccountInput, call: () => Promise<Result>) {
    try {
      return await call();
    } catch (error) {
      if (refusalOf(error)?.error_code !== 'account_not_found') throw error;
      await admin.accounts.put(account);
      return call();
    }
  }

  /** Responds to the errors of a link after which the user can't go on. */
  async function leavingDeadEnds(respond: () => Promise<HttpResponse>): Promise<HttpResponse> {
    try {
      return await respond();
    } catch (error) {
      const { error_code, redirect_to } = refusalOf(error) ?? {};
      // The application learns that the user took too long, and can start again.
      if (error_code === 'link_expired' && redirect_to) return redirect(redirect_to);
      if (error_code === 'link_decided') return deadEnd('link_decided');
      if (error_code === 'link_not_found') return deadEnd('link_not_found');
      throw error;
    }
  }

  return {
    async handOff(request, http) {
      const query = queryOf(http);
      const link = query.get('link');
      const account = await accountOf(request);
      // Somebody has opened the address by hand, or from a bookmark.
      if (!link) return account ? goTo(home) : goToSignIn(home);
      const hints = hintsIn(query);
      if (!account || hints.selectAccount) return goToSignIn(handOffPath(link), hints);
      return leavingDeadEnds(async () => {
        const { account_id } = account;
        const own_page = consentPage && true;
        const asked = { link, account_id, own_page, choice: await choice?.(account, request) };
        const { redirect_to } = await withAccount(account, () => admin.links.identify(asked));
        return redirect_to === null ? goTo(consentPage?.(link) ?? home) : redirect(redirect_to);
      });
    },

    async decide(request, http) {
      if (!isOwnForm(http)) return deadEnd('form_rejected');
      const { link, decision, account_id } = await membersOf(request);
      if (typeof link !== 'string' || link === '') return deadEnd('form_rejected');
      if (decision === 'deny') {
        return leavingDeadEnds(async () =>
          redirect((await admin.links.deny({ link })).redirect_to),
        );
      }
      // Without a page of its own, this host has asked nobody.
      if (decision !== 'allow' || !consentPage) return deadEnd('form_rejected');

      const account = await accountOf(request);
      // Whoever is signed in now is asked anew.
      const askAgain = () => goTo(handOffPath(link));
      if (!account || !isSameId(account.account_id, account_id)) return askAgain();
      return leavingDeadEnds(async () => {
        try {
          const { account_id } = account;
          return redirect((await admin.links.approve({ link, account_id })).redirect_to);
        } catch (error) {
          if (refusalOf(error)?.error_code === 'account_changed') return askAgain();
          throw error;
        }
      });
    },

    async connections(request, http) {
      if (!isOwnForm(http)) return deadEnd('form_rejected');
      const account = await accountOf(request);
      if (!account) return goToSignIn(home);
      const { account_id } = account;
      const { url } = await withAccount(account, () =>
        admin.pages.create({ page: 'connections', account_id, return_url: homeUrl }),
      );
      return redirect(url);
    },

    async signOut(request, http) {
      if (!isOwnForm(http)) return deadEnd('form_rejected');
      const account = await accountOf(request);
      if (!account) return undefined;
      const { account_id } = account;
      try {
        await admin.pages.end({ account_id }, { timeoutMs: SIGN_OUT_TIMEOUT_MS });
      } catch (error) {
        // The user is signed out of the host all the same. The client's logger has the error.
        if (!hasBrand(error)) throw error;
      }
      return undefined;
    },
  };
}

/** An error of the client, from any copy of this package. */
const refusalOf = (error: unknown): Partial<LatchkeyError & { redirect_to: string }> | undefined =>
  hasBrand(error) ? (error as LatchkeyError) : undefined;

const isSameId = (one: string, other: unknown): boolean =>
  typeof other === 'string' && one.toLowerCase() === other.toLowerCase();
