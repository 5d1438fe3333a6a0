import type { Account, ApplicationProfile, Scope } from '@latchkey/schema';
import type { Html } from '../../html.ts';
import type { PageTexts } from '../page-texts.ts';
import type { PageTheme } from '../theme/theme.ts';

/** What every page is made with. */
export interface PageFrame {
  readonly theme: PageTheme;
  readonly texts: PageTexts;
  /** The path of PUBLIC_URL, in front of every path of ours. Empty if it has none. */
  readonly basePath: string;
  /** The paths of the stylesheet and the script, without `basePath`. */
  readonly assets: { readonly style: string; readonly script: string };
}

/** A page that is ready to be sent. */
export interface Page {
  readonly html: string;
  /** The origins of the logos on it: the page's policy has to name them. */
  readonly logoOrigins: readonly string[];
  /** Whether its form is answered with a redirect to another site. */
  readonly leadsAway: boolean;
}

/** The parts of a page that its layout takes. */
export interface PageParts {
  /** The title of the window. It has no text from outside: it can't isolate one. */
  readonly title: string;
  readonly body: Html;
  readonly logos: readonly (string | null)[];
  /** Default: false. */
  readonly leadsAway?: boolean;
}

/** An application, as people see it. */
export type ShownApplication = Omit<ApplicationProfile, 'object'>;

/** An account, as its owner sees it. */
export type ShownAccount = Pick<Account, 'display_name' | 'username'>;

/** A scope, and how it is described. */
export type ShownScope = Omit<Scope, 'object'>;
