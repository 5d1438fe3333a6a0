import { type CredentialKind, credentialPrefixes, isUuid } from '@latchkey/schema';

const words: Record<CredentialKind, string> = {
  applicationSecret: 'an application secret',
  code: 'a code',
  grantSecret: 'a grant secret',
};

/** What a text looks like, in words for a message that must not repeat the text itself. */
export function kindOf(text: string): string {
  if (isUuid(text)) return 'an id';
  for (const kind of Object.keys(words) as CredentialKind[]) {
    if (text.startsWith(`${credentialPrefixes[kind]}_`)) return words[kind];
  }
  return 'of no kind that Latchkey knows';
}
