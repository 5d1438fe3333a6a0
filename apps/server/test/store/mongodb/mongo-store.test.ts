import { describeOnEachMongodb } from '../../http/databases.ts';
import { mongoHarness } from './mongo-harness.ts';
import { describeStore } from '../store-suite.ts';

describeOnEachMongodb('the store', (server) => describeStore('MongoDB', mongoHarness(server)));
