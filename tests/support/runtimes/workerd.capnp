using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "application", worker = .application),
    # The service is on this machine.
    (name = "internet", network = (allow = ["local"])),
  ],
);

const application :Workerd.Worker = (
  # Of a time when it had no `process`. Today's has one, with the bindings as its environment.
  compatibilityDate = "2024-09-01",
  modules = [
    (name = "worker.mjs", esModule = embed "worker.mjs"),
    (name = "program.mjs", esModule = embed "program.mjs"),
    (name = "@latchkey/client/index.js",
      esModule = embed "node_modules/@latchkey/client/dist/index.js"),
    (name = "@latchkey/client/guards.js",
      esModule = embed "node_modules/@latchkey/client/dist/guards.js"),
    (name = "@latchkey/client/events.js",
      esModule = embed "node_modules/@latchkey/client/dist/events.js"),
    (name = "@latchkey/client/linking.js",
      esModule = embed "node_modules/@latchkey/client/dist/linking.js"),
    (name = "@latchkey/client/host.js",
      esModule = embed "node_modules/@latchkey/client/dist/host.js"),
    (name = "@latchkey/client/admin.js",
      esModule = embed "node_modules/@latchkey/client/dist/admin.js"),
  ],
  bindings = [
    (name = "LATCHKEY_URL", fromEnvironment = "LATCHKEY_URL"),
    (name = "LATCHKEY_APPLICATION_SECRET", fromEnvironment = "LATCHKEY_APPLICATION_SECRET"),
    (name = "LATCHKEY_PUBLIC_URL", fromEnvironment = "LATCHKEY_PUBLIC_URL"),
    (name = "LATCHKEY_ADMIN_SECRET", fromEnvironment = "LATCHKEY_ADMIN_SECRET"),
    (name = "LATCHKEY_CODE", fromEnvironment = "LATCHKEY_CODE"),
    (name = "NOBODY", fromEnvironment = "NOBODY"),
  ],
);
