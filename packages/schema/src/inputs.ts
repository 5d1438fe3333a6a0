import { z } from 'zod';
import { moment, scope, text, uuid } from './fields.ts';

// The inputs of the operations. Each is one flat object that includes the identifiers from the path.
// Unknown members are ignored.

export const emptyInput = z.object({});

export const codeInput = z.object({
  code: z
    .string()
    .min(1, 'Must be the code that was issued. It starts with lk_code_.')
    .meta({ examples: ['lk_code_…'] }),
});

export const grantIdInput = z.object({ grant_id: uuid });
export const applicationIdInput = z.object({ application_id: uuid });
export const accountIdInput = z.object({ account_id: uuid });

export const applicationInput = z.object({ name: text.meta({ examples: ['Acme'] }) });

export const secretInput = z.object({
  application_id: uuid,
  expires_at: moment
    .nullable()
    .default(null)
    .meta({ description: 'When the secret expires, in the future; null for never.' }),
});

export const secretIdInput = z.object({ application_id: uuid, secret_id: uuid });

export const accountInput = z.object({
  account_id: uuid,
  username: text.meta({ examples: ['ada'] }),
  display_name: text
    .optional()
    .meta({ description: 'Defaults to the username.', examples: ['Ada Lovelace'] }),
  twitter: text
    .nullable()
    .default(null)
    .meta({ examples: ['ada'] }),
  verified: z.boolean().default(false),
  supporter: z.boolean().default(false),
});

export const codeIssueInput = z.object({ application_id: uuid, account_id: uuid, scope });

const page = {
  limit: z
    .int('Must be a whole number.')
    .min(1, 'Must be at least 1.')
    .max(100, 'Must be at most 100.')
    .default(50)
    .meta({ description: 'The maximum number of entries on a page.' }),
  cursor: z
    .string()
    .regex(/^[0-9A-Za-z_-]{21}[AQgw]$/, 'Must be the next_cursor of the previous page.')
    .optional()
    .meta({ description: 'The next_cursor of the previous page.' }),
};

export const pageInput = z.object(page);

/** What the refinement below lets through; zod takes no type from it. */
type GrantFilter =
  | { account_id: string; application_id?: undefined }
  | { account_id?: undefined; application_id: string };
export const accountListInput = z.object({
  username: text
    .optional()
    .meta({ description: 'Only accounts with exactly this username.', examples: ['ada'] }),
  ...page,
});

export const grantListInput = z
  .object({ account_id: uuid.optional(), application_id: uuid.optional(), ...page })
  .refine(
    (input) => (input.account_id === undefined) !== (input.application_id === undefined),
    'Give exactly one of account_id and application_id.',
  ) as z.ZodType<GrantFilter & z.output<typeof pageInput>, GrantFilter & z.input<typeof pageInput>>;
