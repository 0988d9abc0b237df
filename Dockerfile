# The CPU image of API and worker: one image, two commands. deploy/Dockerfile.cuda is the GPU variant.
#   docker build -t scenedelta .
#   docker run scenedelta            (API)
#   docker run scenedelta worker     (worker)
FROM node:22-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY clients/package.json ./clients/
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
COPY scripts ./scripts
# Console and clients: their sources, the description of the API for their types, the example pair.
COPY console ./console
COPY openapi ./openapi
COPY clients ./clients
COPY examples ./examples
# onnxruntime-node carries its library for every platform; the image needs its own only.
RUN npm run build \
 && npm prune --omit=dev \
 && node scripts/write-notices.mjs THIRD_PARTY_NOTICES.txt \
 && find node_modules/onnxruntime-node/bin -mindepth 2 -maxdepth 2 -type d ! -name linux -exec rm -r {} + \
 && arch="$(node -p process.arch)" \
 && find node_modules/onnxruntime-node/bin -mindepth 3 -maxdepth 3 -type d ! -name "$arch" -exec rm -r {} +

FROM node:22-bookworm-slim
# For rtsp:// cameras; `docker build --build-arg FFMPEG_PACKAGE=` leaves it out (deploy/README.md).
ARG FFMPEG_PACKAGE=ffmpeg
RUN if [ -n "$FFMPEG_PACKAGE" ]; then \
      apt-get update && apt-get install -y --no-install-recommends "$FFMPEG_PACKAGE" && rm -rf /var/lib/apt/lists/*; \
    fi
# Two malloc arenas: glibc's default (eight a core) never gives back what decoding many images takes.
ENV NODE_ENV=production \
    MALLOC_ARENA_MAX=2 \
    HOST=0.0.0.0 \
    PORT=8080 \
    DATA_DIR=/data \
    MODELS_DIR=/app/models
WORKDIR /app
COPY --from=build /app/package.json /app/THIRD_PARTY_NOTICES.txt ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY models ./models
# The entry point says in one line what the processor lacks.
COPY bin ./bin
COPY scripts/lib ./scripts/lib
# The API shows the examples, and agents read the description.
COPY --from=build /app/openapi ./openapi
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8080
# The check of the API; compose.yaml has the worker's.
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/livez`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "/app/bin/scenedelta.js"]
CMD ["serve"]
