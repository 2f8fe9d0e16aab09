// Tests the result of reading a question: every octet in lower case, and whole words for the
// lookup.
import { expect, test } from 'vitest'
import { foldTable, hashName } from '#dns/name.ts'
import { Counters } from '#answer/counters/counters.ts'
import { hashSuffixes, readQuestion } from '#answer/question.ts'
import { Transaction } from '#answer/transaction.ts'

const settings = { udpPayloadSize: 1_232, nsid: '', versionBind: '', tcpIdleTimeoutMs: 10_000 }
const newTransaction = (): Transaction =>
  new Transaction(settings, 1, new Counters(new SharedArrayBuffer(Counters.bytes)))
const typeAndClass = [0, 1, 0, 1]

const headerBytes = 12

/** Reads a question for a name of these labels. */
function read(tx: Transaction, labels: readonly (readonly number[])[]): void {
  const name = [...labels.flatMap((label) => [label.length, ...label]), 0]
  const query = Uint8Array.from([
    ...Array<number>(headerBytes).fill(0xff),
    ...name,
    ...typeAndClass,
  ])
  tx.bind(query, query)
  expect(readQuestion(tx, query, headerBytes, query.length)).toBe(query.length)
  expect(tx.qnameBytes).toBe(name.length)
}

test('each of the 256 octets of a label is folded as the table of names says', () => {
  const tx = newTransaction()
  for (let octet = 0; octet < 256; octet++) {
    read(tx, [[octet]])
    expect(tx.qname[tx.qnameStart + 1], `octet ${octet}`).toBe(foldTable[octet])
  }
})

test.each([1, 2, 3, 4, 5, 6, 7, 8, 63])(
  'before a label of %d octets nothing of a longer name or of the header is left in its word',
  (length) => {
    const tx = newTransaction()
    tx.qname.fill(0xff)
    read(tx, [Array<number>(length).fill(0x61)])
    const wordStart = Math.floor(tx.qnameStart / 4) * 4
    const before = [...tx.qname.subarray(wordStart, tx.qnameStart)]
    expect(before.every((octet) => octet === 0)).toBe(true)
    expect(tx.qname[wordStart - 1]).toBe(0xff)
  },
)

test('the longest name there is stands inside its memory', () => {
  const tx = newTransaction()
  const label = Array<number>(63).fill(0x41)
  read(tx, [label, label, label, Array<number>(61).fill(0x5a)])
  expect(tx.qnameStart).toBe(1)
  expect([tx.qname[0], tx.qname[1], tx.qname[255]]).toEqual([0, 63, 0])
})

test('suffixes that are deeper than every name of the bundle are left alone', () => {
  const tx = newTransaction()
  read(tx, Array<number[]>(127).fill([0x61]))
  tx.suffixHash.fill(7)
  hashSuffixes(tx, 3)
  expect(tx.firstSuffix).toBe(124)
  expect([...tx.labelOffset.subarray(124)]).toEqual([249, 251, 253, 255])
  expect([...tx.suffixHash.subarray(0, 124)].every((hash) => hash === 7)).toBe(true)
  const root = hashName(Uint8Array.of(0), tx.nameSeed)
  expect(tx.suffixHash[127]).toBe(root)
})
