// Runs a whole node, threads and sockets included, with a static configuration.
import { signChannelRecord } from '#bundle/signature/channel.ts'
import type { SigningKey } from '#bundle/signature/channel.ts'
import type { BundleModel } from '#bundle/format/model.ts'
import { encodeBundle } from '#bundle/encode/encode.ts'
import { signBundle } from '#bundle/signature/sign.ts'
import { systemClock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { plainCodeOf } from '#routing/choose/ways.ts'
import type { DnsNodeParts } from '#server/node/node-parts.ts'
import { DnsNode } from '#server/node/node.ts'
import { createThreadGroup } from '#server/threads/thread-group.ts'
import type { DynamicFeed } from '#server/node/dynamic-link.ts'
import type { Publication } from '#bundle/signature/publication.ts'
import { tcpLimits } from '#server/stream/tcp-limits.ts'
import type { TcpLimits } from '#server/stream/tcp-limits.ts'
import type { ThreadGroupParts } from '#server/threads/threads-port.ts'
import type { TransferSettings } from '#zones/transfer/transfers.ts'
import { modelOf } from './model.ts'
import type { Served } from './model.ts'
import type { RunningServer } from './reference.ts'
import { newSigningKey } from '../bundle-models.ts'

/** Settings of the operator that clients can observe. */
export interface NodeSettings {
  readonly nsid?: string
  readonly versionBind?: string
  readonly zoneVersion?: boolean
  readonly tellsCommit?: boolean
  /** See cookies.ts beside this file. Left out: cookies are ignored. */
  readonly cookies?: SharedArrayBuffer
  /** Default 127.0.0.1. */
  readonly listenAddr?: string
  /** Left out: a free one. */
  readonly port?: number
  /** 0: UDP through node:dgram. Default 1: batches, where the machine has them. */
  readonly threads?: number
  readonly tcpLimits?: Partial<TcpLimits>
  readonly transfers?: TransferSettings
  readonly proxies?: ThreadGroupParts['proxies']
  readonly tls?: ThreadGroupParts['tls']
  readonly onUpdate?: ThreadGroupParts['onUpdate']
  /** TXT records that are written at run time. */
  readonly dynamic?: DynamicFeed
  /** Keys of signed zones. */
  readonly signing?: DnsNodeParts['signing']
  /** Default 1,232. */
  readonly udpPayloadSize?: number
}

export interface RunningNode extends RunningServer {
  readonly node: DnsNode
  /** Serves another configuration, with the next serial. */
  readonly serve: (config: Served | BundleModel) => Promise<void>
}

export async function startNode(
  config: Served | BundleModel,
  settings: NodeSettings = {},
): Promise<RunningNode> {
  const listenAddr = settings.listenAddr ?? '127.0.0.1'
  const key = newSigningKey()
  const errors: string[] = []
  const node = new DnsNode({
    createThreads: createThreadGroup,
    threads: {
      listenAddr,
      port: settings.port ?? 0,
      threads: settings.threads ?? 1,
      settings: {
        udpPayloadSize: settings.udpPayloadSize ?? 1_232,
        nsid: settings.nsid ?? '',
        versionBind: settings.versionBind ?? '',
        zoneVersion: settings.zoneVersion ?? false,
        tellsCommit: settings.tellsCommit ?? false,
        cookies: settings.cookies,
        tcpIdleTimeoutMs: settings.tcpLimits?.idleTimeoutMs ?? tcpLimits.idleTimeoutMs,
        catalog: settings.transfers?.catalog,
      },
      tcpLimits: settings.tcpLimits ?? {},
      ...(settings.transfers === undefined ? {} : { transfers: settings.transfers }),
      ...(settings.tls === undefined ? {} : { tls: settings.tls }),
      ...(settings.proxies === undefined ? {} : { proxies: settings.proxies }),
      ...(settings.onUpdate === undefined ? {} : { onUpdate: settings.onUpdate }),
      seed: 1,
    },
    store: null,
    trusted: [key],
    health: null,
    geo: null,
    dynamic: settings.dynamic ?? null,
    signing: settings.signing ?? null,
    clock: systemClock,
    log: errorsInto(errors),
  })
  const started = await node.start()
  if (!started.ok) throw new Error(started.error)
  let seq = 0
  const serve = async (served: Served | BundleModel): Promise<void> => {
    const activated = await node.activate(publicationOf(served, key, ++seq))
    if (!activated.ok) throw new Error(activated.error.message)
  }
  await serve(config)
  return {
    node,
    serve,
    host: listenAddr,
    port: started.value.port,
    stop: async () => {
      await node.stop()
      // A restarted thread hides a fault from clients, but the log shows it.
      if (errors.length > 0) throw new Error(`the node logged errors: ${errors.join('; ')}`)
    },
  }
}

function publicationOf(config: Served | BundleModel, key: SigningKey, seq: number): Publication {
  const { bytes, digest } = encodeBundle(modelOf(config), (name) => {
    const code = plainCodeOf(name)
    if (code < 0) throw new Error(`${name} is no plain algorithm`)
    return code
  })
  signBundle(bytes, key)
  const issuedAtMs = systemClock.nowMs()
  const record = {
    channel: 'test',
    seq,
    digest,
    previous: '',
    commit: '',
    issuedAtMs,
    expiresAtMs: issuedAtMs + 3_600_000,
  }
  return { signedRecord: signChannelRecord(record, key), bundle: bytes }
}

function errorsInto(errors: string[]): Log {
  return {
    info: () => undefined,
    warn: () => undefined,
    error: (fields, message) => errors.push(`${message} ${JSON.stringify(fields)}`),
  }
}
