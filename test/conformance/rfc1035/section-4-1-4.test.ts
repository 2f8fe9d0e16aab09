// RFC 1035 section 4.1.4: compression in our replies.
import { expect, test } from 'vitest'
import { longestName } from '#test/support/dns/fixture.ts'
import { decodeName } from '#test/support/dns/name.ts'
import { useSubject } from '#test/support/subject.ts'

const subject = useSubject()
const questionBytes = (name: string): number => name.length + 1 + 4

test('the owner of an answer is a pointer to the question', async () => {
  for (const name of ['www.example.org.', 'any.apps.example.org.', longestName]) {
    const { bytes } = await subject.ask(`${name} A`)
    expect(decodeName(bytes, 12 + questionBytes(name)).pointsTo).toBe(12)
    expect(bytes.length).toBe(12 + questionBytes(name) + 12 + 4)
  }
})

test('the SOA of a negative answer is owned by a pointer into the question', async () => {
  const name = 'www.deep.example.org.'
  const { bytes } = await subject.ask(`${name} MX`)
  expect(decodeName(bytes, 12 + questionBytes(name))).toMatchObject({
    text: 'example.org.',
    pointsTo: 12 + 'www.deep.'.length,
  })
})

test('a name of 255 octets is found', async () => {
  const reply = await subject.ask(`${longestName} A`)
  expect(reply.answer.map(({ rdataText }) => rdataText)).toEqual(['192.0.2.6'])
})

test('names of name servers are compressed against the question', async () => {
  const { bytes, answer } = await subject.ask('example.org. NS')
  expect(answer.length).toBe(2)
  // Uncompressed, the second ns name alone would repeat "example" a third time.
  expect(bytes.toString('latin1').split('\x07example\x03org').length - 1).toBe(1)
})
