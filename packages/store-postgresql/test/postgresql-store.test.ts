import { testStore } from '@latchkey/store-suite';
import { describeOnEachPostgresql } from '@latchkey/test-kit/postgresql/describe';
import { postgresqlHarness } from './postgresql-harness.ts';

describeOnEachPostgresql('the store', (server) =>
  testStore('PostgreSQL', postgresqlHarness(server)),
);
