// Starts the query log as the settings want it, and stops it after the answers.
import type { Settings } from '#settings/settings.ts'
import type { Log } from '#lib/log.ts'
import { version } from '#lib/version.ts'
import type { DnsNode } from '#server/node/node.ts'
import type { QueryLogPlace } from '#answer/query-log/messages.ts'
import { QueryLog } from '#answer/query-log/query-log.ts'

const bytesPerMegabyte = 1_000_000

/** @returns null: it is off, or this node answers no DNS */
export function startQueryLog(settings: Settings, log: Log): QueryLog | null {
  const { dns, roles, state } = settings
  const to = placeOf(settings)
  if (to === null || !roles.includes('dns')) return null
  const { sampleEvery, truncateClients } = settings.queryLog
  const queryLog = new QueryLog({
    ...{ to, sampleEvery, truncateClients, log },
    node: state.nodeName,
    version: `gslbd ${version}`,
    // Threads that answer UDP, and one for TCP.
    threads: dns.threads + 1,
  })
  queryLog.start()
  return queryLog
}

/** Stops the answers, then writes the rest of the log. */
export async function stopAnswering(
  node: Pick<DnsNode, 'stop'>,
  queryLog: QueryLog | null,
): Promise<void> {
  await node.stop()
  await queryLog?.stop()
}

function placeOf({ queryLog }: Settings): QueryLogPlace | null {
  const { socket, file, fileMegabytes, keptFiles } = queryLog
  if (socket !== undefined) return { kind: 'socket', path: socket }
  if (file === undefined) return null
  return { kind: 'file', path: file, fileBytesMax: fileMegabytes * bytesPerMegabyte, keptFiles }
}
