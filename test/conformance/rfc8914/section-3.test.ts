// RFC 8914 section 3: which commit answers, as the text of an extended error, for who asks.
import { describe, expect, test } from 'vitest'
import { OptionCode } from '#test/support/dns/codes.ts'
import type { EdnsOption, Message } from '#test/support/dns/message.ts'
import { conformanceConfig } from '#test/support/dns/fixture.ts'
import { lineOf } from '#test/support/dns/record.ts'
import { bare, said } from '#test/support/dns/said.ts'
import { useSubject } from '#test/support/subject.ts'

const commit = 'c0ffee'.repeat(6) + 'c0de'
const config = { ...conformanceConfig, commit }
const empty: EdnsOption = { code: OptionCode.EDE, data: Buffer.alloc(0) }
const errorsOf = (reply: Message): [number, string][] => {
  const options = reply.opt?.options.filter(({ code }) => code === OptionCode.EDE) ?? []
  return options.map(({ data }) => [data.readUInt16BE(0), data.toString('utf8', 2)])
}

describe('a node that tells its commit', () => {
  const subject = useSubject({ tellsCommit: true }, config)

  test('says it with an answer, and beside the reason for which there is none', async () => {
    const opt = { options: [empty] }
    const answered = await subject.ask('www.example.org. A', { opt })
    expect(errorsOf(answered)).toEqual([[0, `commit ${commit}`]])
    expect(answered.answer).toHaveLength(1)
    const down = await subject.ask('down.example.org. A', { opt })
    expect(errorsOf(down)).toEqual([
      [0, 'no healthy member'],
      [0, `commit ${commit}`],
    ])
  })

  test('does not say it unasked', async () => {
    expect(errorsOf(await subject.ask('www.example.org. A', { opt: {} }))).toEqual([])
  })

  test('says it in class CHAOS', async () => {
    const reply = await subject.ask('commit.gslbd. TXT', { class: 3 })
    expect(reply.answer.map(lineOf)).toEqual([`commit.gslbd. 0 CH TXT "${commit}"`])
  })
})

describe('a node that keeps it to itself', () => {
  const subject = useSubject({}, config)

  test('answers as if it had not been asked', async () => {
    const reply = await subject.ask('www.example.org. A', { opt: { options: [empty] } })
    expect(errorsOf(reply)).toEqual([])
    expect(said(await subject.ask('commit.gslbd. TXT', { class: 3 }))).toEqual(bare('REFUSED'))
  })
})
