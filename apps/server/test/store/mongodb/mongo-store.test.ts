import { describeOnEachMongodb } from '@latchkey/test-kit/mongodb/describe';
import { describeStore } from '../store-suite.ts';
import { mongoHarness } from './mongo-harness.ts';

describeOnEachMongodb('the store', (server) => describeStore('MongoDB', mongoHarness(server)));
