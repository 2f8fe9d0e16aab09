// What must hold of the reply to any octets at all, and the hostile messages that were collected.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import dnsPacket from 'dns-packet'
import { decodeMessage } from '#test/support/dns/message.ts'
import type { Message } from '#test/support/dns/message.ts'

interface CorpusEntry {
  readonly name: string
  readonly bytes: Buffer
}

const folder = join(import.meta.dirname, '..', 'corpus', 'dns-message')

/** Files of hex; white space and what follows a `#` mean nothing. */
export function dnsMessageCorpus(): CorpusEntry[] {
  return readdirSync(folder)
    .sort()
    .map((name) => ({ name, bytes: hexOf(readFileSync(join(folder, name), 'utf8')) }))
}

function hexOf(text: string): Buffer {
  return Buffer.from(text.replace(/#.*/g, '').replace(/\s+/g, ''), 'hex')
}

const headerBytes = 12

/** A reply to a reply would go on for ever; less than a header has nothing to answer. */
export function mustBeDropped(query: Buffer): boolean {
  return query.length < headerBytes || (query.readUInt8(2) & 0x80) !== 0
}

/** @returns what is wrong with `reply` as the reply to `query`, or undefined */
export function complaintAbout(
  query: Buffer,
  reply: Buffer | undefined,
  isTcp: boolean,
): string | undefined {
  if (mustBeDropped(query)) return reply === undefined ? undefined : 'it is answered'
  if (reply === undefined) return 'it is not answered'
  if (!isTcp && reply.length > udpBytesMax(query)) return `the reply has ${reply.length} octets`
  try {
    dnsPacket.decode(reply)
    return complaintAboutMessage(query, decodeMessage(reply), isTcp)
  } catch (error) {
    return `the reply is malformed: ${String(error)}`
  }
}

/** What the client can take, where the query can be read as strictly as tests read. */
function udpBytesMax(query: Buffer): number {
  const message = readable(query)
  if (message === undefined) return 1_232
  return message.opt === undefined ? 512 : Math.min(Math.max(message.opt.udpSize, 512), 1_232)
}

function readable(query: Buffer): Message | undefined {
  try {
    return decodeMessage(query)
  } catch {
    return undefined
  }
}

const rcodes = [0, 1, 3, 4, 5, 16, 23]

function complaintAboutMessage(query: Buffer, reply: Message, isTcp: boolean): string | undefined {
  const flags = query.readUInt8(2)
  const asked = readable(query)
  const rules: readonly (readonly [isKept: boolean, complaint: string])[] = [
    [reply.id === query.readUInt16BE(0), 'another ID'],
    [reply.qr, 'QR is clear'],
    [reply.opcode === ((flags >> 3) & 15), 'another opcode'],
    [reply.rd === ((flags & 1) === 1), 'another RD'],
    [!reply.ra && !reply.z && !reply.ad && !reply.cd, 'RA, Z, AD or CD is set'],
    [rcodes.includes(reply.rcode), `response code ${reply.rcode}`],
    [!isTcp || !reply.tc, 'TC over TCP'],
    [!reply.tc || reply.answer.length + reply.authority.length === 0, 'records beside TC'],
    [reply.questions.length <= 1, 'several questions'],
    [reply.rcode === 0 || reply.answer.length === 0, 'an answer beside an error'],
    [!reply.aa || reply.rcode === 0 || reply.rcode === 3, 'AA beside an error'],
    [reply.opt === undefined || query.readUInt16BE(10) > 0, 'OPT unasked'],
    [
      asked?.questions.length !== 1 || asked.opcode !== 0 || !asked.opt === !reply.opt,
      'OPT not exactly when it is asked',
    ],
  ]
  return rules.find(([isKept]) => !isKept)?.[1]
}
