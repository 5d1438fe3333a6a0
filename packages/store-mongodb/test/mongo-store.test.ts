import { testStore } from '@latchkey/store-suite';
import { describeOnLargestMongodb } from '@latchkey/test-kit/mongodb/describe';
import { mongoHarness } from './mongo-harness.ts';

describeOnLargestMongodb('the store', (server) => testStore('MongoDB', mongoHarness(server)));
