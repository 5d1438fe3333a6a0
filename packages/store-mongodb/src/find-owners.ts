import type { Binary, Document } from 'mongodb';
import type { Database } from './database.ts';
import { type EndpointsDocument, HOST } from './documents/endpoints.ts';

/** With its application if that is enabled. */
export interface OwnerDocument extends EndpointsDocument {
  enabled_application: { _id: Binary }[];
}

export const joinApplication = (as: string, which: Document): Document => ({
  $lookup: {
    from: 'applications',
    localField: '_id',
    foreignField: '_id',
    pipeline: [{ $match: which }, { $project: { _id: 1 } }],
    as,
  },
});

/** The stages that leave out the endpoints of deleted applications. */
export const existingOwners: Document[] = [
  joinApplication('application', { deleted_at: { $exists: false } }),
  { $match: { $or: [{ _id: HOST }, { application: { $ne: [] } }] } },
];

/** The documents that have these endpoints, those of deleted applications too. */
export const findOwners = (
  database: Database,
  endpoint_ids: readonly Binary[],
): Promise<OwnerDocument[]> =>
  database.decideByIndex('endpoints_by_id', ({ endpoints }, options) =>
    endpoints
      .aggregate<OwnerDocument>(
        [
          { $match: { 'endpoints.id': { $in: [...endpoint_ids] } } },
          joinApplication('enabled_application', {
            disabled: false,
            deleted_at: { $exists: false },
          }),
        ],
        options,
      )
      .toArray(),
  );
