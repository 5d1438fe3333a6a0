import type { Shown } from '@latchkey/rules/vouchers';
import type { Account, ApplicationProfile, Scope } from '@latchkey/schema';
import type { Html } from '../../html.ts';
import type { PageTexts } from '../text-catalog.ts';
import type { PageTheme } from '../theme/theme.ts';

export interface PageFrame {
  readonly theme: PageTheme;
  readonly texts: PageTexts;
  readonly basePath: string;
  readonly assets: { readonly style: string; readonly script: string };
}

export interface Page {
  readonly html: string;
  readonly logoOrigins: readonly string[];
  readonly leadsAway: boolean;
}

export interface PageParts {
  readonly title: string;
  readonly body: Html;
  readonly logos: readonly (string | null)[];
  readonly leadsAway?: boolean;
}

/** What vouchers say of an application: its record has a name that nobody has asked about. */
export type ShownName = Readonly<Pick<Shown, 'name' | 'host'> & Partial<Omit<Shown, 'vouched'>>>;

export interface ShownApplication
  extends ShownName,
    Omit<ApplicationProfile, 'object' | 'id' | 'document_uri' | 'vouched' | 'name'> {}

export type ShownAccount = Pick<Account, 'display_name' | 'username'>;

export type ShownScope = Omit<Scope, 'object'>;
