/** The parts of an application that the programs in the documentation of the SDK do not show. */
export const APPLICATION = `
declare const latchkey: import('@latchkey/client').Latchkey;
declare const admin: import('@latchkey/client/admin').LatchkeyAdmin;
declare const server: import('@latchkey/testing').TestServer;
declare const code: string, grantId: string, grantSecret: string, user: string;
declare const link: string, accountId: string, url: string, redirectUri: string;
declare const resource: string;
declare const mcp: import('express').RequestHandler;
declare const kept: { state: string; codeVerifier: string };
declare const baseUrl: string, applicationSecret: string, adminSecret: string;
declare const secret: string;
declare const forget: (grantId: string, reason?: string | null) => Promise<void>;
declare const links: { save(user: string, link: { id: string; secret: string }): Promise<void> };
declare const encrypt: (text: string) => string;
declare const endSession: import('express').RequestHandler;
declare const signedIn: (request: Request) => import('@latchkey/client/admin').AccountInput | null;
declare const greet: (name: string) => void;
declare const startAgain: () => void;
declare const request: Request;
declare const photosOf: (accountId: string) => Promise<object>;
declare const app: import('express').Express;
declare const express: typeof import('express');
declare const log: Record<
  'debug' | 'warn',
  { (details: object, message: string): void; (message: string, details: object): void }
>;
`;

/** Guides whose programs are parts of an application, which `sdk-readme.test.ts` compiles. */
export const PAGES_OF_PARTS = ['docs/guides/guard-a-server.md', 'docs/guides/retries-and-logs.md'];
