// Asks webhooks by name, in a network of its own with a name server that lies in turns; prints what
// came of it as JSON. 192.31.196.7 stands for the Internet, 127.0.0.1 for what must not be reached.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import dnsPacket from 'dns-packet'
import type { ProbeResult } from '#health/probes/probe.ts'
import { startHttpBackend } from '#test/support/backend.ts'
import { probeTarget, unlessStalled } from './check.ts'
import { testProbes } from './probe-table.ts'

const outside = '192.31.196.7'
const inside = '127.0.0.1'
const port = 80

/** Addresses of each name, one list per lookup; the last one stays. Without a row: no such name. */
const zone: Record<string, readonly (readonly string[])[]> = {
  'outside.test': [[outside]],
  'inside.test': [[inside]],
  'both.test': [[inside, outside]],
  'rebinding.test': [[outside], [inside]],
  'mapped.test': [['::ffff:127.0.0.1']],
}
const asked: Record<string, number> = {}

const nameServer = createSocket('udp4', (octets, { port: clientPort, address }) => {
  const query = dnsPacket.decode(octets)
  const { name, type } = query.questions![0]!
  if (name === 'silent.test') return
  if (type === 'A') asked[name] = (asked[name] ?? 0) + 1
  const rows = zone[name]
  const addresses = rows?.[Math.min(asked[name] ?? 1, rows.length) - 1] ?? []
  const fitting = addresses.filter((data) => data.includes(':') === (type === 'AAAA'))
  const reply = dnsPacket.encode({
    id: query.id!,
    type: 'response',
    // NXDOMAIN has no name in this library.
    flags: dnsPacket.RECURSION_AVAILABLE | (rows === undefined ? 3 : 0),
    questions: query.questions!,
    answers: fitting.map((data) => ({ type: type as 'A', name, ttl: 0, data })),
  })
  nameServer.send(reply, clientPort, address)
})
nameServer.bind(53, inside)
await once(nameServer, 'listening')

const backends = {
  [outside]: await startHttpBackend({ address: outside, port }),
  [inside]: await startHttpBackend({ address: inside, port }),
}
backends[outside].answer((request, response) => {
  if (request.url === '/redirect') response.writeHead(302, { location: `http://${inside}/` })
  // As servers do that have no site of that name.
  if (request.headers.host?.endsWith('.') === true) response.writeHead(404)
  response.end()
})

function probe(host: string, allowed: readonly string[] = []): Promise<ProbeResult> {
  const { probes } = testProbes({ webhookAllowedHosts: allowed })
  const webhookURL = host.includes('/') ? host : `http://${host}/`
  const check = { type: 'webhook', webhookURL, timeoutMs: 1_000 } as const
  return unlessStalled(
    () => new Promise((resolve) => probes.webhook.run(probeTarget('m1', check), resolve)),
  )
}

async function reached(what: () => Promise<ProbeResult>) {
  const before = { ...counts() }
  const { outcome, reason } = await what()
  const after = counts()
  return {
    outcome,
    reason,
    outside: after.outside - before.outside,
    inside: after.inside - before.inside,
  }
}

function counts() {
  return {
    outside: backends[outside].connectionCount(),
    inside: backends[inside].connectionCount(),
  }
}

const results: Record<string, Awaited<ReturnType<typeof reached>>> = {}
for (const name of [...Object.keys(zone), 'absent.test', 'silent.test']) {
  results[name] = await reached(() => probe(name))
}
results['rebinding.test, again'] = await reached(() => probe('rebinding.test'))
results['outside.test.'] = await reached(() => probe('outside.test.'))
results['redirect'] = await reached(() => probe('http://outside.test/redirect'))
results['inside.test, allowed'] = await reached(() => probe('inside.test', ['127.0.0.0/8']))
process.stdout.write(JSON.stringify({ results, asked }), () => process.exit())
