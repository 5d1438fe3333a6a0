// The indexes of Latchkey, for mongosh: load('deploy/mongodb/indexes.js')
// The service makes missing ones by itself. Run this to choose the time.

db.accounts.createIndex(
  { unfinished_since: 1 },
  { name: 'unfinished_accounts', partialFilterExpression: { unfinished_since: { $exists: true } } },
  'majority',
);
// the list of accounts
db.accounts.createIndex(
  { place: 1 },
  { name: 'accounts_by_place', partialFilterExpression: { place: { $exists: true } } },
  'majority',
);
db.accounts.createIndex(
  { username: 1, place: 1 },
  { name: 'accounts_by_username', partialFilterExpression: { place: { $exists: true } } },
  'majority',
);
db.accounts.createIndex(
  { external_id: 1, place: 1 },
  { name: 'accounts_by_external_id', partialFilterExpression: { external_id: { $exists: true } } },
  'majority',
);
// …_to_tell: changes that are no delivery yet. Empty without EVENTS_KEY
db.accounts.createIndex(
  { 'marks.at': 1 },
  { name: 'accounts_to_tell', partialFilterExpression: { 'marks.at': { $exists: true } } },
  'majority',
);
db.applications.createIndex(
  { deleted_at: 1, _id: 1 },
  { name: 'listed_applications', partialFilterExpression: { deleted_at: null } },
  'majority',
);
// those with a client document
db.applications.createIndex(
  { deleted_at: 1, _id: 1 },
  {
    name: 'documented_applications',
    partialFilterExpression: { document: { $exists: true }, deleted_at: null },
  },
  'majority',
);
db.applications.createIndex(
  { document: 1, _id: 1 },
  {
    name: 'registered_applications',
    partialFilterExpression: { document: null, deleted_at: null },
  },
  'majority',
);
db.applications.createIndex(
  { unfinished_since: 1 },
  {
    name: 'unfinished_applications',
    partialFilterExpression: { unfinished_since: { $exists: true } },
  },
  'majority',
);
db.applications.createIndex(
  { 'marks.at': 1 },
  { name: 'applications_to_tell', partialFilterExpression: { 'marks.at': { $exists: true } } },
  'majority',
);
// what is to be tried
db.deliveries.createIndex(
  { endpoint_id: 1, due_at: 1 },
  { name: 'deliveries_due', partialFilterExpression: { due_at: { $exists: true } } },
  'majority',
);
// delivery list, endpoint replay
db.deliveries.createIndex(
  { endpoint_id: 1, status: 1, _id: 1 },
  { name: 'deliveries_by_endpoint' },
  'majority',
);
db.deliveries.createIndex(
  { grant_id: 1, _id: 1 },
  { name: 'deliveries_by_grant', partialFilterExpression: { grant_id: { $exists: true } } },
  'majority',
);
// erasure, end of a last grant
db.deliveries.createIndex(
  { names_of: 1, names_for: 1 },
  { name: 'deliveries_with_names', partialFilterExpression: { names_of: { $exists: true } } },
  'majority',
);
// TTL: 30 days after their end
db.deliveries.createIndex(
  { ended_at: 1 },
  {
    name: 'deliveries_by_expiry',
    partialFilterExpression: { ended_at: { $exists: true } },
    expireAfterSeconds: 2592000,
  },
  'majority',
);
// metrics
db.deliveries.createIndex(
  { created_at: 1 },
  { name: 'deliveries_pending', partialFilterExpression: { due_at: { $exists: true } } },
  'majority',
);
// metrics
db.endpoints.createIndex(
  { failing_since: 1 },
  { name: 'failing_endpoints', partialFilterExpression: { failing_since: { $exists: true } } },
  'majority',
);
db.grants.createIndex({ account_id: 1, _id: 1 }, { name: 'grants_by_account' }, 'majority');
db.grants.createIndex(
  { application_id: 1, _id: 1 },
  { name: 'grants_by_application', partialFilterExpression: { account_id: { $exists: true } } },
  'majority',
);
// connections, disconnects, erasure
db.grants.createIndex(
  { account_id: 1, application_id: 1, _id: 1 },
  { name: 'unrevoked_by_account', partialFilterExpression: { revoked_at: null } },
  'majority',
);
// grant revoke --app
db.grants.createIndex(
  { application_id: 1, _id: 1 },
  { name: 'unrevoked_by_application', partialFilterExpression: { revoked_at: null } },
  'majority',
);
// what an account is connected with, and the summary
db.grants.createIndex(
  { account_id: 1, application_id: 1, _id: 1, secret_hash: 1 },
  { name: 'active_by_account', partialFilterExpression: { secret_hash: { $exists: true } } },
  'majority',
);
db.grants.createIndex(
  { account_id: 1, _id: 1 },
  { name: 'codes_by_account', partialFilterExpression: { code_expires_at: { $exists: true } } },
  'majority',
);
// TTL: codes, 10 minutes after they expire
db.grants.createIndex(
  { code_expires_at: 1 },
  {
    name: 'grants_by_expiry',
    partialFilterExpression: { code_expires_at: { $exists: true } },
    expireAfterSeconds: 600,
  },
  'majority',
);
db.grants.createIndex(
  { 'marks.at': 1 },
  { name: 'grants_to_tell', partialFilterExpression: { 'marks.at': { $exists: true } } },
  'majority',
);
// TTL: the summary, 31 days
db.hour_counts.createIndex(
  { hour: 1 },
  { name: 'count_expiry', expireAfterSeconds: 2678400 },
  'majority',
);
// TTL
db.kept_documents.createIndex(
  { kept_until: 1 },
  {
    name: 'kept_documents_by_expiry',
    partialFilterExpression: { kept_until: { $exists: true } },
    expireAfterSeconds: 0,
  },
  'majority',
);
db.kept_documents.createIndex(
  { kept_until: 1, _id: 1 },
  { name: 'pinned_documents', partialFilterExpression: { kept_until: null } },
  'majority',
);
// TTL
db.leases.createIndex(
  { until: 1 },
  { name: 'leases_by_expiry', expireAfterSeconds: 0 },
  'majority',
);
// erasure
db.links.createIndex(
  { account_id: 1 },
  { name: 'links_by_account', partialFilterExpression: { account_id: { $exists: true } } },
  'majority',
);
// TTL: 3 hours after they expire
db.links.createIndex(
  { expires_at: 1 },
  { name: 'links_by_expiry', expireAfterSeconds: 10800 },
  'majority',
);
db.pages.createIndex({ account_id: 1 }, { name: 'pages_by_account' }, 'majority');
// TTL: 3 hours after they expire
db.pages.createIndex(
  { expires_at: 1 },
  { name: 'pages_by_expiry', expireAfterSeconds: 10800 },
  'majority',
);
// TTL: limits
db.rate_limit_counts.createIndex(
  { ends_at: 1 },
  { name: 'window_end', expireAfterSeconds: 0 },
  'majority',
);
// explain
db.refusals.createIndex({ request_id: 1, _id: 1 }, { name: 'refusals_by_request' }, 'majority');
db.refusals.createIndex(
  { application_id: 1, _id: 1 },
  {
    name: 'refusals_by_application',
    partialFilterExpression: { application_id: { $exists: true } },
  },
  'majority',
);
db.refusals.createIndex(
  { account_id: 1, _id: 1 },
  { name: 'refusals_by_account', partialFilterExpression: { account_id: { $exists: true } } },
  'majority',
);
db.refusals.createIndex(
  { grant_id: 1, _id: 1 },
  { name: 'refusals_by_grant', partialFilterExpression: { grant_id: { $exists: true } } },
  'majority',
);
// TTL: AUDIT_DAYS
db.refusals.createIndex(
  { expires_at: 1 },
  { name: 'refusals_by_expiry', expireAfterSeconds: 0 },
  'majority',
);
