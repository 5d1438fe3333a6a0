import { applications } from '@latchkey/store/kinds';
import type { ConnectedApplication } from '@latchkey/store/records';
import type { Binary, Document } from 'mongodb';
import type { Database } from './database.ts';
import { firstId, hasSecret } from './documents/grants.ts';
import { fromId, toId } from './documents/values.ts';
import { recordOf } from './encoding.ts';

const FIELDS = ['name', 'document', 'redirect_uris'];
const decode = recordOf(applications, FIELDS);

interface Found {
  _id: Binary;
  application: Document[];
}

/** One key of the index for each application, however many grants it has. */
export async function connectedApplications(
  database: Database,
  account_id: string,
): Promise<ConnectedApplication[]> {
  const found = await database.decideByIndex('active_by_account', ({ grants }, options) =>
    grants
      .aggregate<Found>(
        [
          // With bounds on each field of the index, MongoDB goes from one application to the next.
          {
            $match: {
              account_id: toId(account_id),
              application_id: { $gte: firstId },
              _id: { $gte: firstId },
              ...hasSecret,
            },
          },
          { $group: { _id: '$application_id' } },
          {
            $lookup: {
              from: 'applications',
              localField: '_id',
              foreignField: '_id',
              pipeline: [
                { $match: { deleted_at: { $exists: false } } },
                { $project: Object.fromEntries(FIELDS.map((name) => [name, 1])) },
              ],
              as: 'application',
            },
          },
        ],
        options,
      )
      .toArray(),
  );
  return found.map(({ _id, application: [application] }) => ({
    application_id: fromId(_id),
    application:
      application === undefined
        ? null
        : (decode(application) as unknown as ConnectedApplication['application']),
  }));
}
