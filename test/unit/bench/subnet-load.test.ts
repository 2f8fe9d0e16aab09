// The load of queries with client subnets: from how many addresses it comes, and what it counts.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { subnetLoad } from '#bench/load/subnet-load.ts'
import { waitUntil } from '#test/support/wait-until.ts'

/** OPT record with a subnet of 3 octets: the end of each query. */
const optBytes = 22

/** An answer of 16 octets, 192.0.2.7 at its end, with a scope of 20. */
function replyTo(query: Buffer): Buffer {
  const record = Buffer.from('c00c00010001000000050004c0000207', 'hex')
  const at = query.length - optBytes
  const reply = Buffer.concat([query.subarray(0, at), record, query.subarray(at)])
  reply.writeUInt8(0x84, 2)
  reply.writeUInt16BE(1, 6)
  reply.writeUInt8(20, reply.length - 4)
  return reply
}

test.each([1, 100])(
  'from %i senders come as many addresses, and all answers are counted',
  async (senders) => {
    const server = createSocket('udp4').bind(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const subnets = new Set<string>()
    const addresses = new Set<string>()
    server.on('message', (query, { address, port }) => {
      addresses.add(address)
      subnets.add(query.subarray(-3).toString('hex'))
      server.send(replyTo(query), port, address)
    })
    // More than one argument of a program can hold.
    const qnames = Array.from({ length: 10_000 }, (_, i) => `svc${i}.gslb.example`)
    const run = { port: server.address().port, qnames, seconds: 0.2, senders }
    // This process may be the slow one: replies that it has not read yet belong to no sender.
    const { sent, answered, byMember, scopes } = await waitUntil('answers to all', async () => {
      const result = await subnetLoad(run, 0)
      return result.answered > 0 && addresses.size >= senders ? result : undefined
    })
    expect(addresses.size).toBe(senders)
    expect(subnets.size).toBeGreaterThan(1)
    expect(sent).toBeGreaterThanOrEqual(answered)
    expect([byMember, scopes]).toEqual([{ 7: answered }, answered * 20])
  },
)
