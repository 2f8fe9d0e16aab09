// Checks the system's limits on a process: open files and receive buffers.
import { fileText } from '#lib/text/file-text.ts'
import { good, unknown, warning } from './check.ts'
import type { Check, Finding, CheckedNode } from './check.ts'

/** Receive buffer that a node requests for each UDP socket. */
const receiveBytes = 4 << 20
/** Descriptors beside connections: files, the database, probes. */
const filesBeside = 1_024

export const limits: Check = {
  name: 'limits',
  look: async (node) => [openFiles(node), receiveBuffer()],
}

function openFiles({ settings: { dns } }: CheckedNode): Finding {
  const needed = dns.tcp.maxConnections + filesBeside
  const line = (fileText('/proc/self/limits') ?? '')
    .split('\n')
    .find((each) => each.startsWith('Max open files'))
  const [, soft = ''] = /^Max open files +(\d+|unlimited)/.exec(line ?? '') ?? []
  if (soft === '') return unknown('the limit of open files is not known here')
  const found = `${soft} open files are allowed here`
  if (soft === 'unlimited' || Number(soft) >= needed) return good(found)
  const todo = `allow ${needed} (LimitNOFILE, ulimit -n), or lower dns.tcp.maxConnections`
  return warning(found, todo)
}

function receiveBuffer(): Finding {
  const bytes = Number(fileText('/proc/sys/net/core/rmem_max')?.trim())
  if (!(bytes > 0)) return unknown('net.core.rmem_max is not known here')
  const found = `net.core.rmem_max is ${bytes}`
  if (bytes >= receiveBytes) return good(found)
  return warning(found, `bursts are lost sooner: sysctl net.core.rmem_max=${receiveBytes}`)
}
