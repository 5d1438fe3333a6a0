import '@latchkey/store-suite/plant-mistake';
import { describeBetween } from '@latchkey/store-suite/between';
import { describeOnMongodb } from '@latchkey/test-kit/mongodb/describe';
import { mongoHarness } from './mongo-harness.ts';

describeOnMongodb('the store', (server) => describeBetween(mongoHarness(server)));
