import { registerHooks } from 'node:module';

// Reports on stdout when a module of the service imports the OpenTelemetry API.
registerHooks({
  resolve(specifier, context, next) {
    if (specifier === '@opentelemetry/api' && context.parentURL?.includes('/src/')) {
      process.stdout.write('the service loads the OpenTelemetry API\n');
    }
    return next(specifier, context);
  },
});
