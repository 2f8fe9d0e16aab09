// RFC 7828: how long a TCP client may keep its connection idle.
import { expect, onTestFinished, test } from 'vitest'
import { TcpClient } from '#test/support/dns/client.ts'
import { OptionCode } from '#test/support/dns/codes.ts'
import { query } from '#test/support/dns/message.ts'
import type { EdnsOption, Message } from '#test/support/dns/message.ts'
import { useSubject } from '#test/support/subject.ts'

const idleTimeoutMs = 300
const subject = useSubject({ tcpLimits: { idleTimeoutMs } })
const keepalive: EdnsOption = { code: OptionCode.KEEPALIVE, data: Buffer.alloc(0) }
const timeoutsOf = (reply: Message): number[] => {
  const options = reply.opt?.options.filter(({ code }) => code === OptionCode.KEEPALIVE) ?? []
  return options.map(({ data }) => data.readUInt16BE(0) * 100)
}

test('a client that asks over TCP is told our idle timeout', async () => {
  const reply = await subject.ask('www.example.org. A', {
    tcp: true,
    opt: { options: [keepalive] },
  })
  expect(timeoutsOf(reply)).toEqual([idleTimeoutMs])
})

test('a client that does not ask is not told', async () => {
  const reply = await subject.ask('www.example.org. A', { tcp: true, opt: {} })
  expect(timeoutsOf(reply)).toEqual([])
})

test('over UDP the option means nothing', async () => {
  const reply = await subject.ask('www.example.org. A', { opt: { options: [keepalive] } })
  expect(reply.rcode).toBe(0)
  expect(timeoutsOf(reply)).toEqual([])
})

test('a client that names a timeout itself is wrong: FORMERR', async () => {
  const options = [{ ...keepalive, data: Buffer.from([0, 100]) }]
  const reply = await subject.ask('www.example.org. A', { tcp: true, opt: { options } })
  expect(reply.rcode).toBe(1)
})

test('the connection is closed once it was idle for as long as we said', async () => {
  const client = await TcpClient.connect(subject.endpoint())
  onTestFinished(() => client.destroy())
  client.send(query('www.example.org. A', { opt: { options: [keepalive] } }))
  await client.receive()
  const sinceMs = performance.now()
  await client.closed()
  expect(performance.now() - sinceMs).toBeGreaterThanOrEqual(idleTimeoutMs - 20)
})
