// RFC 9715: UDP replies stay below the size at which paths fragment.
import { describe, expect, test } from 'vitest'
import { useSubject } from '#test/support/subject.ts'

describe.each([
  ['in batches', 1],
  ['through node:dgram', 0],
])('UDP %s', (_title, threads) => {
  const subject = useSubject({ threads })

  test('a client that takes 65,535 octets still gets at most 1,232 over UDP', async () => {
    const reply = await subject.ask('huge.example. NS', { opt: { udpSize: 65_535 } })
    expect(reply.tc).toBe(true)
    expect(reply.bytes.length).toBeLessThanOrEqual(1_232)
  })

  test('between 512 and 1,232 octets the reply comes whole', async () => {
    const reply = await subject.ask('big.example. NS', { opt: { udpSize: 1_232 } })
    expect(reply).toMatchObject({ tc: false })
    expect(reply.answer.length).toBe(12)
    expect(reply.bytes.length).toBeGreaterThan(512)
  })

  test('we announce 1,232 octets ourselves', async () => {
    const reply = await subject.ask('www.example.org. A', { opt: { udpSize: 4_096 } })
    expect(reply.opt?.udpSize).toBe(1_232)
  })
})
