import type { NextRequest } from 'next/server';
import { shared } from '../../linking';

export const GET = (request: NextRequest) => shared().linking.connect(request);
