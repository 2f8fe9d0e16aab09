// The threads that answer, as the settings want them.
import type { ThreadGroupParts } from '#runtime/threads/thread-group.ts'
import type { Settings } from '#cli/settings/settings.ts'

type FromSettings = 'listenAddr' | 'port' | 'threads' | 'settings' | 'tcpLimits'

export function threadsOf({ dns }: Settings): Pick<ThreadGroupParts, FromSettings> {
  return {
    listenAddr: dns.listenAddr,
    port: dns.port,
    threads: dns.threads,
    settings: {
      udpPayloadSize: dns.udpPayloadSize,
      nsid: dns.nsid,
      versionBind: dns.versionBind,
      tcpIdleTimeoutMs: dns.tcp.idleTimeoutMs,
    },
    tcpLimits: {
      idleTimeoutMs: dns.tcp.idleTimeoutMs,
      connectionsMax: dns.tcp.maxConnections,
      connectionsPerClientMax: dns.tcp.maxPerClient,
      messagesPerTurnMax: dns.tcp.maxPipelined,
    },
  }
}
