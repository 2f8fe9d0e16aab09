# syntax=docker/dockerfile:1
# The image of gslbd: JavaScript built in the first stage, and only what it needs to run in the last.

FROM node:26-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN node bin/build.ts

FROM node:26-slim AS packages
WORKDIR /packages
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --no-audit --no-fund

FROM node:26-slim
# No git and no ssh: gslbd reads repositories and signatures by itself, and certificates are Node's own.
# For a remote over SSH build on this image: apt-get install git openssh-client.
RUN groupadd --system --gid 5353 gslbd \
  && useradd --system --uid 5353 --gid gslbd --no-create-home --home-dir /var/lib/gslbd gslbd \
  && install -d -o gslbd -g gslbd -m 0750 /var/lib/gslbd
WORKDIR /opt/gslbd
COPY package.json LICENSE ./
COPY bin/gslbd bin/gslbd
COPY --from=packages /packages/node_modules node_modules
COPY --from=build /build/dist dist
RUN ln -s /opt/gslbd/bin/gslbd /usr/local/bin/gslbd

# What differs from the defaults in a container. Without GSLB_API_KEY the API asks nobody who they are,
# so it stays on the container's loopback, where the health check asks it; mount your own file to change that.
COPY <<EOF /etc/gslbd/gslbd.yaml
dns: { listenAddr: "::", port: 5353 }
api: { enabled: true, listenAddr: 127.0.0.1, port: 8080 }
health: { enabled: true }
EOF

ENV NODE_ENV=production GSLB_DATA_DIR=/var/lib/gslbd
USER gslbd
VOLUME /var/lib/gslbd
# gslbd listens on 5353: publish 53 onto it (-p 53:5353/udp -p 53:5353/tcp). A mounted settings file may
# say 53 itself: Docker's own networks let every user bind low ports.
EXPOSE 53/udp 53/tcp 5353/udp 5353/tcp

HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8080/api/v1/ready').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]

STOPSIGNAL SIGTERM
ENTRYPOINT ["gslbd"]
CMD ["serve", "--settings", "/etc/gslbd/gslbd.yaml"]
