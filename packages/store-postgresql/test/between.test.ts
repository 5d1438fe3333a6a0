import '@latchkey/store-suite/plant-mistake';
import { describeBetween } from '@latchkey/store-suite/between';
import { describeOnPostgresql } from '@latchkey/test-kit/postgresql/describe';
import { postgresqlHarness } from './postgresql-harness.ts';

describeOnPostgresql('the store', (server) => describeBetween(postgresqlHarness(server)));
