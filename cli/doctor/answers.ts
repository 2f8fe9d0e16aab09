// Checks whether this node answers for its zones, over UDP and over TCP.
import { connect } from 'node:net'
import { parseName } from '#dns/name.ts'
import { Rcode } from '#dns/rcode.ts'
import { RrType } from '#dns/rrtype.ts'
import { askServer } from '#zones/delegation/exchange.ts'
import { bad, good, unknown } from './check.ts'
import type { Check, Finding, CheckedNode, StoredZone } from './check.ts'

/** The first zones show as much as all. */
const zonesMax = 3
const transports = ['udp-then-tcp', 'tcp'] as const

export const answers: Check = {
  name: 'answers',
  async look(node) {
    if (!node.settings.roles.includes('dns'))
      return [good('this node answers no DNS, as roles says')]
    const server = serverOf(node)
    const { address, port } = server
    const zones = node.zones.slice(0, zonesMax)
    if (port === 0) return [unknown('dns.port is 0: only the log says which one it is')]
    if (zones.length === 0)
      return [unknown('there is no bundle yet whose zones could be asked for')]
    if (!(await isListening(address, port, node.patienceMs))) {
      return [unknown(`nothing listens on ${address} port ${port}: the node does not run`)]
    }
    const asked = zones.flatMap((zone) =>
      transports.map((transport) => ask(server, zone, transport, node.patienceMs)),
    )
    return Promise.all(asked)
  },
}

interface Server {
  readonly address: string
  readonly port: number
}

function serverOf({ settings: { dns } }: CheckedNode): Server {
  const loopback: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }
  return { address: loopback[dns.listenAddr] ?? dns.listenAddr, port: dns.port }
}

function isListening(host: string, port: number, patienceMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: patienceMs })
    const end = (is: boolean) => () => {
      socket.destroy()
      resolve(is)
    }
    socket.on('connect', end(true)).on('error', end(false)).on('timeout', end(false))
  })
}

async function ask(
  server: Server,
  { name }: StoredZone,
  transport: (typeof transports)[number],
  patienceMs: number,
): Promise<Finding> {
  const what = `${name} SOA over ${transport === 'tcp' ? 'TCP' : 'UDP'}`
  const wire = parseName(name)
  if (!wire.ok) return unknown(`${what}: not asked`)
  const question = { name: wire.value, type: RrType.SOA }
  const answered = await askServer(server, question, patienceMs, transport)
  const todo = 'see the log of the node, a firewall, and "gslbd status"'
  if (!answered.ok) return bad(`${what}: ${server.address} ${answered.error.why}`, todo)
  const { isAuthoritative, rcode } = answered.value
  if (isAuthoritative && rcode === Rcode.NoError) return good(`${what} is answered`)
  return bad(`${what}: the answer is not authoritative: another server has the port`, todo)
}
