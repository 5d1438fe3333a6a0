import type { AccountRecord, ChoiceQuestion, ScopeRecord } from '@latchkey/store/records';

/** Fixed ids, so that every demo has the same accounts. */
export const demoAccounts = {
  ada: {
    id: '0193aa00-0000-7000-8000-00000000acc0',
    username: 'ada',
    display_name: 'Ada Lovelace',
    twitter: null,
    verified: true,
    supporter: false,
  },
  grace: {
    id: '0193aa00-0000-7000-8000-00000000acc1',
    username: 'grace',
    display_name: 'Grace Hopper',
    twitter: null,
    verified: true,
    supporter: true,
  },
} as const satisfies Record<string, AccountRecord>;

export type DemoUser = keyof typeof demoAccounts;

/** Whoever has workspaces at the demo host chooses one of them at the consent. */
export const demoChoices: { readonly [User in DemoUser]: ChoiceQuestion | null } = {
  ada: null,
  grace: {
    title: 'Which workspace?',
    options: [
      { id: 'compilers', label: 'Compilers' },
      { id: 'navy', label: 'Navy' },
    ],
  },
};

export function isDemoUser(name: string): name is DemoUser {
  return Object.hasOwn(demoAccounts, name);
}

export const demoScope: ScopeRecord = {
  scope: 'profile.read',
  title: 'Read your profile',
  description: 'Your name, your username, and whether your account is verified.',
  texts: {
    de: {
      title: 'Ihr Profil lesen',
      description: 'Ihren Namen, Ihren Benutzernamen und ob Ihr Konto bestätigt ist.',
    },
  },
  sensitive: false,
};
