// Tests how the answer path uses the tokens of its batch.
import { beforeEach, describe, expect, test } from 'vitest'
import { answer } from '#answer/answer.ts'
import { Counters } from '#answer/counters/counters.ts'
import { noLimit } from '#answer/counters/query-bucket.ts'
import { Transaction } from '#answer/transaction.ts'
import { decodeMessage, query } from '#test/support/dns/message.ts'

const settings = { udpPayloadSize: 1_232, nsid: '', versionBind: '', tcpIdleTimeoutMs: 10_000 }
const plain = query('www.example.org. A')
/** A question without its end. */
const malformed = plain.subarray(0, plain.length - 1)
const response = Buffer.from(plain)
response[2]! |= 0x80

let counters: Counters
let tx: Transaction
beforeEach(() => {
  counters = new Counters(new SharedArrayBuffer(Counters.bytes))
  tx = new Transaction(settings, 1, counters)
})

function ask(bytes: Buffer) {
  const reply = new Uint8Array(4_096)
  const length = answer(tx, bytes, 0, bytes.length, reply, 0, reply.length)
  return length === 0 ? undefined : decodeMessage(Buffer.from(reply.subarray(0, length)))
}

describe('tokens of a batch', () => {
  test('without a limit are never looked for', () => {
    for (let i = 0; i < 5; i++) expect(ask(plain)?.rcode).toBe(5)
    expect(tx.tokens).toBe(noLimit)
    expect(counters.snapshot().overLimit).toBe(0)
  })

  test('are one for each query; without one, the answer is SERVFAIL and says why', () => {
    tx.tokens = 2
    // No bundle: REFUSED is what these would be answered.
    expect([ask(plain), ask(plain), ask(plain)].map((reply) => reply?.rcode)).toEqual([5, 5, 2])
    const told = ask(query('www.example.org. A', { opt: {} }))
    expect(told).toMatchObject({ rcode: 2, answer: [], authority: [] })
    expect(told?.opt?.options).toEqual([{ code: 15, data: Buffer.from('\0\0query limit') }])
    expect(counters.snapshot()).toMatchObject({ overLimit: 2, byRcode: { 2: 2, 5: 2 } })
  })

  test('are not spent on what asks nothing: responses and messages that are malformed', () => {
    tx.tokens = 1
    expect(ask(response)).toBeUndefined()
    expect(ask(malformed)?.rcode).toBe(1)
    expect(tx.tokens).toBe(1)
    tx.tokens = 0
    expect(ask(malformed)?.rcode).toBe(1)
  })
})
