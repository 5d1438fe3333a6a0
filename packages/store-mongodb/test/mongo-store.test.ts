import { testStore } from '@latchkey/store-suite';
import { describeOnEachMongodb } from '@latchkey/test-kit/mongodb/describe';
import { mongoHarness } from './mongo-harness.ts';

describeOnEachMongodb('the store', (server) => testStore('MongoDB', mongoHarness(server)));
