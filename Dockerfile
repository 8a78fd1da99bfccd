# One image for every process; the command chooses which: api (default), video-worker, image-worker, maintenance-worker,
# gateway (all in one, on a Postgres of yours), migrate, backup FOLDER, restore FOLDER or healthcheck.
#
# The base is Node 24.21.0 on Debian 12. `node scripts/pin-base-image.mjs` renews its digest (docs/operations/deployment.md).
ARG NODE_IMAGE=docker.io/library/node:24-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY . .
# The embedded Postgres is left out with the optional packages: a container has its database beside it.
RUN node scripts/build.mjs --for-image \
  && npm prune --omit=dev --omit=optional --no-audit --no-fund \
  # The pages of the console are built: what they are made of is in dist/console.
  && rm -rf node_modules/react node_modules/react-dom node_modules/scheduler node_modules/uplot node_modules/@tanstack \
  # Types, source maps, sources, and the query compilers of other databases are never read by a running process.
  && find node_modules -type f \( -name '*.map' -o -name '*.ts' -o -name '*.mts' -o -name '*.cts' \) -delete \
  && find node_modules/@prisma/client/runtime -name 'query_compiler*' ! -name '*.postgresql.*' -delete

FROM ${NODE_IMAGE}
ENV NODE_ENV=production HOST=0.0.0.0 OPS_HOST=0.0.0.0 OPS_PORT=9464 DATA_DIR=/data \
    NPM_CONFIG_CACHE=/tmp/.npm NPM_CONFIG_UPDATE_NOTIFIER=false
WORKDIR /app
COPY --from=build --chown=root:root /app/package.json ./package.json
COPY --from=build --chown=root:root /app/node_modules ./node_modules
COPY --from=build --chown=root:root /app/dist ./dist
COPY --from=build --chown=root:root /app/prisma/migrations ./prisma/migrations
COPY --from=build --chown=root:root /app/scripts/migrate.mjs ./scripts/migrate.mjs
COPY --from=build --chown=root:root /app/scripts/backup.mjs ./scripts/backup.mjs
COPY --from=build --chown=root:root /app/scripts/restore.mjs ./scripts/restore.mjs
COPY --from=build --chown=root:root /app/scripts/prices.mjs ./scripts/prices.mjs
COPY --from=build --chown=root:root /app/scripts/new-key.mjs ./scripts/new-key.mjs
COPY --from=build --chown=root:root /app/scripts/console-link.mjs ./scripts/console-link.mjs
COPY --from=build --chown=root:root /app/scripts/smoke.mjs ./scripts/smoke.mjs
COPY --chown=root:root deploy/entrypoint.mjs ./deploy/entrypoint.mjs
# The only place that is written to, and only while files are kept locally; the root file system may be read-only.
RUN install -d -o 1000 -g 1000 /data
VOLUME /data
# By number, so that an orchestrator sees that it is not root. In the base it is the user `node`.
USER 1000:1000
EXPOSE 3000 9464
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "deploy/entrypoint.mjs", "healthcheck"]
ENTRYPOINT ["node", "deploy/entrypoint.mjs"]
CMD ["api"]
