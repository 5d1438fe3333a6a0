# The image of the service. docs/operations/install.md says how to run it, and what of it was not tried.
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /build
COPY . .
RUN npm run assemble -- /app

FROM node:24.21.0-bookworm-slim
# The only folder that the service writes to: the root file system can be read-only.
RUN install --directory --owner=node --group=node --mode=0700 /data
COPY --from=build /app /app
WORKDIR /data
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=3000 \
    DATABASE_URL=file:/data/latchkey.db
VOLUME /data
EXPOSE 3000
# The user `node`, by number, so that an orchestrator sees that it is not root.
USER 1000:1000
# The image has no curl. Whether the process works, and not its database: a restart brings none back.
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/dist/latchkey.js"]
CMD ["serve"]
