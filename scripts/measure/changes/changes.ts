import { addMember } from './add-member.ts';
import { addOperation } from './add-operation.ts';
import { addRecord } from './add-record.ts';

export const changes = [addOperation, addMember, addRecord] as const;
