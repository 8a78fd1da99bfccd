# One image for every process; the command chooses which: api (default), video-worker, image-worker, maintenance-worker,
# gateway (all in one) or migrate.
FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run --silent build \
  && find dist -name '*.spec.js*' -delete \
  && rm -rf dist/libs/testing dist/apps/*/src/testing \
  && npm prune --omit=dev --omit=optional --no-audit --no-fund

FROM node:24-slim
ENV NODE_ENV=production HOST=0.0.0.0 OPS_HOST=0.0.0.0 OPS_PORT=9464 DATA_DIR=/data
WORKDIR /app
COPY --from=build --chown=root:root /app/package.json ./package.json
COPY --from=build --chown=root:root /app/node_modules ./node_modules
COPY --from=build --chown=root:root /app/dist ./dist
COPY --from=build --chown=root:root /app/prisma/migrations ./prisma/migrations
COPY --from=build --chown=root:root /app/scripts/migrate.mjs ./scripts/migrate.mjs
COPY --chown=root:root deploy/entrypoint.mjs ./deploy/entrypoint.mjs
# The only place that is written to, and only while files are kept locally; the root file system may be read-only.
RUN install -d -o node -g node /data
VOLUME /data
USER node
EXPOSE 3000 9464
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "deploy/entrypoint.mjs", "healthcheck"]
ENTRYPOINT ["node", "deploy/entrypoint.mjs"]
CMD ["api"]
