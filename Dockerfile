# The image of gslbd: the program is made in the first stage, and the last has it, git, and not much else.
# `npm run package:image` makes the last stage without a registry, on a base of Debian's packages.
ARG BASE=docker.io/library/debian:12-slim

FROM docker.io/library/node:26-slim AS program
WORKDIR /source
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN bin/node/pin && node bin/program-tree.ts --output /program

FROM ${BASE}
# Libraries of Node; git and ssh for remotes and for backups; a user of its own.
RUN if ! command -v git >/dev/null; then \
    apt-get update && apt-get install --yes --no-install-recommends \
      ca-certificates git libatomic1 libstdc++6 openssh-client && rm -rf /var/lib/apt/lists/*; \
  fi \
  && groupadd --system --gid 5353 gslbd \
  && useradd --system --uid 5353 --gid gslbd --no-create-home --home-dir /var/lib/gslbd gslbd \
  && install -d -o gslbd -g gslbd -m 0750 /var/lib/gslbd
COPY --from=program /program /
COPY deploy/image/gslbd.yaml /etc/gslbd/gslbd.yaml

ENV NODE_ENV=production GSLB_DATA_DIR=/var/lib/gslbd
USER gslbd
WORKDIR /var/lib/gslbd
VOLUME /var/lib/gslbd
# gslbd listens on 5353 and needs no capability: publish 53 onto it (-p 53:5353/udp -p 53:5353/tcp). A mounted
# settings file may say 53 itself: Docker's own networks let every user bind low ports.
EXPOSE 53/udp 53/tcp 5353/udp 5353/tcp

HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["/usr/lib/gslbd/node_modules/.bin/node", "-e", "fetch('http://127.0.0.1:8080/api/v1/ready').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]

STOPSIGNAL SIGTERM
ENTRYPOINT ["gslbd"]
CMD ["serve", "--settings", "/etc/gslbd/gslbd.yaml"]
